import { useQuery } from '@tanstack/react-query'
import { ArrowLeftRight } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { diffRuns, readRun, type Change } from '@/api/runs'
import { ago, duration, text, useT } from '@/i18n/t'
import { Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Card, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

interface Pair {
  before: unknown
  after: unknown
}

/** What differs between two runs, node by node. */
export default function Compare({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const [, go] = useLocation()
  const [a, b] = [params.a!, params.b!]
  const diff = useQuery({ queryKey: ['runs', a, 'diff', b], queryFn: () => diffRuns(a, b), retry: false })
  const runs = useQuery({ queryKey: ['runs', 'pair', a, b], queryFn: () => Promise.all([readRun(a), readRun(b)]), retry: false })
  const error = diff.error ?? runs.error
  const found = diff.data
  return (
    <Page
      title={t('runs.compare_title')}
      lead={t('runs.compare_lead')}
      actions={
        <Button icon={<ArrowLeftRight size={16} />} onClick={() => go(`/compare/${b}/${a}`)}>
          {t('runs.swap')}
        </Button>
      }
    >
      {error ? (
        <Trouble error={error} />
      ) : !found || !runs.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <div className="flex flex-col gap-4">
          <div className="grid gap-3 sm:grid-cols-2">
            {runs.data.map((run, index) => (
              <Card key={run.run_id} className={cx('border-t-3 p-4', index ? 'border-t-ok' : 'border-t-danger')}>
                <p className="text-xs text-mute">{t(index ? 'runs.after' : 'runs.before')}</p>
                <Link href={`/runs/${run.run_id}`} className="font-medium hover:text-accent-text hover:underline">
                  {run.workflow} <span className="font-mono text-xs font-normal text-mute">{run.run_id.slice(-12)}</span>
                </Link>
                <p className="mt-1 flex flex-wrap items-center gap-2 text-[13px] text-mute">
                  <Status status={run.status} /> {ago(run.created_at)}
                  <span className="tabular-nums">{found.elapsed_ms[index ? 'b' : 'a'] === null ? '' : duration(found.elapsed_ms[index ? 'b' : 'a']!)}</span>
                  {run.version !== null && <span>v{run.version}</span>}
                </p>
              </Card>
            ))}
          </div>
          {found.equal && <p className="rounded-lg bg-ok-soft px-4 py-3 text-ok">{t('runs.equal')}</p>}
          <Changes title={t('runs.inputs')} changes={found.inputs} />
          <Changes title={t('runs.outputs')} changes={found.outputs} />
          <Changes title={t('runs.error')} changes={found.error} />
          {Object.entries(found.nodes).map(([path, node]) => (
            <NodeChanges key={path} path={path} node={node} />
          ))}
        </div>
      )}
    </Page>
  )
}

const isPair = (value: unknown): value is Pair => typeof value === 'object' && value !== null && !Array.isArray(value) && 'before' in value

function NodeChanges({ path, node }: { path: string; node: Record<string, unknown> }) {
  const all: Change[] = Object.entries(node).flatMap(([name, value]) => {
    const label = text(`runs.diff_${name}`) ?? name
    if (isPair(value)) return [{ path: label, before: value.before, after: value.after }]
    return Array.isArray(value) ? (value as Change[]).map((change) => ({ ...change, path: change.path ? `${label}.${change.path}` : label })) : []
  })
  return <Changes title={path} code changes={all} />
}

/** Differences line by line, or side by side where the window is wide enough. */
function Changes({ title, changes, code }: { title: string; changes: Change[]; code?: boolean }) {
  const t = useT()
  if (!changes.length) return null
  return (
    <Card className="min-w-0 overflow-hidden">
      <h2 className={cx('border-b border-line px-4 py-2 font-semibold', code && 'font-mono text-[13px]')}>{title}</h2>
      <ul className="divide-y divide-line">
        {changes.map((change) =>
          change.more ? (
            <li key="more" className="px-4 py-2 text-[13px] text-mute">
              {t('runs.more_differences', { n: change.more })}
            </li>
          ) : (
            <li key={String(change.path)} className="px-4 py-2.5">
              {change.path && <p className="mb-1 font-mono text-xs text-mute">{change.path}</p>}
              <div className="grid gap-2 md:grid-cols-2">
                <Side value={change.before} className="bg-danger-soft" label={t('runs.before')} />
                <Side value={change.after} className="bg-ok-soft" label={t('runs.after')} />
              </div>
            </li>
          ),
        )}
      </ul>
    </Card>
  )
}

function Side({ value, className, label }: { value: unknown; className: string; label: string }) {
  const t = useT()
  const absent = value === undefined || (typeof value === 'object' && value !== null && (value as { absent?: unknown }).absent === true)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <pre tabIndex={0} role="group" aria-label={label} className={cx('max-h-64 overflow-auto rounded-md px-2.5 py-1.5 font-mono text-[12.5px] break-words whitespace-pre-wrap', className)}>
      {absent ? <span className="text-mute italic">{t('runs.absent')}</span> : typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  )
}
