import { useQuery } from '@tanstack/react-query'
import { Pin, RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { readGiven, readPayload, readWhy, type RunReport } from '@/api/runs'
import { dateTime, duration, useT } from '@/i18n/t'
import { Badge, Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Facts } from '@/ui/Facts'
import { Json } from '@/ui/Json'
import { fixOf } from './fixes'
import type { NodeView } from './model'
import { RunsTable } from './RunsTable'
import { Trace } from './Trace'
import type { RunData } from './useRun'

interface Props {
  data: RunData
  run: RunReport
  path: string
  replay: (from: string) => void
  choose: (path: string) => void
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section>
    <h3 className="mb-1.5 text-[13px] font-semibold">{title}</h3>
    {children}
  </section>
)

/** Nothing that was written in the document and stayed empty. */
const isEmpty = (value: unknown): boolean => value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** One node of a run: why it has its state, what it was given and gave, its attempts, its log, what it started. */
export function NodeDetails({ data, run, path, replay }: Props) {
  const t = useT()
  const node = run.nodes[path]
  const seen = data.journal.nodes[path]
  const id = path.split('.').at(-1)!
  const spec = data.specs.get(id)
  const ran = node !== undefined && !['skipped', 'not_reached', 'pending'].includes(node.status)
  const why = useQuery({ queryKey: ['runs', run.run_id, 'why', path, node?.status], queryFn: () => readWhy(run.run_id, path), enabled: node !== undefined, retry: false })
  const given = useQuery({ queryKey: ['runs', run.run_id, 'given', path, node?.status], queryFn: () => readGiven(run.run_id, path), enabled: ran, retry: false })
  const shown = (given.data?.fields ?? []).filter((field) => field.error !== null || !isEmpty(field.value))
  const load = (ref: string) => readPayload(run.run_id, ref)
  const children = data.context.data?.children.filter((child) => child.parent_path === path) ?? []
  const waiting = run.waiting.filter((wait) => wait.path === path)
  return (
    <article className="flex min-w-0 flex-col gap-5" aria-label={path}>
      <header className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
            {spec?.label ?? id}
            {node && <Status status={node.status} />}
            {node?.pinned && (
              <Badge tone="accent">
                <Pin size={11} aria-hidden /> {t('runs.pinned')}
              </Badge>
            )}
          </h2>
          <p className="text-[13px] text-mute">
            {spec?.type} · <code>{path}</code>
          </p>
        </div>
        {!path.includes('.') && (
          <Button size="sm" icon={<RotateCcw size={14} />} onClick={() => replay(path)}>
            {t('runs.replay_from_here')}
          </Button>
        )}
      </header>
      {why.data && !(seen?.error && why.data.why.includes(seen.error.message)) && <p className="rounded-lg border-l-3 border-accent-text bg-sunken px-3 py-2 text-[13px]"><span className="font-medium">{t('runs.why')}</span> {why.data.why}</p>}
      {node?.reused && (
        <p className="text-[13px]">
          <Link href={`/runs/${node.reused}`} className="text-accent-text hover:underline">
            {t('runs.reused_from', { run: node.reused.slice(-12) })}
          </Link>
        </p>
      )}
      {waiting.map((wait) => (
        <p key={wait.id} className="text-[13px]">
          {wait.kind === 'human' ? <Link href={`/approvals/${wait.id}`} className="text-accent-text hover:underline">{wait.title}</Link> : wait.title}
        </p>
      ))}
      {seen?.error && <ErrorBox node={seen} type={spec?.type} />}
      {seen && seen.attempts.length > 1 && <Attempts node={seen} />}
      <Facts
        facts={[
          [t('runs.took'), node?.elapsed_ms === null || node?.elapsed_ms === undefined ? null : duration(node.elapsed_ms)],
          [t('runs.attempts'), node?.attempts || null],
          [t('runs.handles'), seen?.handles.length ? seen.handles.join(', ') : null],
          [t('runs.calls'), node?.calls ? Object.entries(node.calls).map(([name, n]) => `${name} ${n}`).join(', ') : null],
          [t('runs.started'), seen?.spans[0] ? dateTime(seen.spans[0].start) : null],
        ]}
      />
      {shown.length > 0 && (
        <Part title={t('runs.input')}>
          <div className="flex flex-col gap-3">
            {shown.map((field) => (
              <div key={field.field} className="min-w-0">
                <p className="mb-1 text-xs text-mute">
                  <code className="text-fg">{field.field.replace(/^config\./, '')}</code>
                  {typeof field.source === 'string' && field.source !== field.value && <span className="ml-2 font-mono break-all">{field.source.length > 160 ? `${field.source.slice(0, 160)}…` : field.source}</span>}
                </p>
                {field.error === null ? <Json value={field.value} open={1} load={load} /> : <p className="text-[13px] text-mute italic">{field.error}</p>}
              </div>
            ))}
          </div>
        </Part>
      )}
      {seen && (seen.models.length > 0 || seen.tools.length > 0) && <Trace runId={run.run_id} node={seen} />}
      {seen?.text && !seen.outputs && (
        <Part title={t('runs.speaking')}>
          <p className="rounded-lg border border-line bg-sunken p-3 whitespace-pre-wrap">{seen.text}</p>
        </Part>
      )}
      {seen?.outputs && (
        <Part title={t('runs.output')}>
          <Json value={seen.outputs} load={load} />
        </Part>
      )}
      {children.length > 0 && (
        <Part title={t('runs.children')}>
          <RunsTable runs={children} empty="" />
        </Part>
      )}
      {seen && seen.log.length > 0 && (
        <Part title={t('runs.log')}>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
          <ol tabIndex={0} aria-label={t('runs.log')} className="max-h-80 overflow-y-auto rounded-lg border border-line bg-sunken p-2 font-mono text-[12.5px]">
            {seen.log.map((line) => (
              <li key={`${line.at}${line.message}`} className="flex gap-2">
                <time className="shrink-0 text-mute">{dateTime(line.at, { timeStyle: 'medium' })}</time>
                <span className="min-w-0 break-words whitespace-pre-wrap">{line.message}</span>
              </li>
            ))}
          </ol>
        </Part>
      )}
    </article>
  )
}

function ErrorBox({ node, type }: { node: NodeView; type: string | undefined }) {
  const t = useT()
  const error = node.error!
  const fix = fixOf(error, type)
  return (
    <div className="rounded-xl border border-danger/40 bg-danger-soft p-3 text-[13px]">
      <p className="font-medium text-danger">{error.type}</p>
      <p className="break-words whitespace-pre-wrap">{error.message}</p>
      {fix && (
        <p className="mt-2">
          <span className="font-medium">{t('runs.fix')}</span> {fix}
        </p>
      )}
    </div>
  )
}

function Attempts({ node }: { node: NodeView }) {
  const t = useT()
  return (
    <Part title={t('runs.attempts')}>
      <ol className="divide-y divide-line rounded-lg border border-line">
        {node.attempts.map((attempt, index) => (
          <li key={`${attempt.attempt}-${attempt.start}`} className="flex flex-wrap gap-x-3 px-3 py-2 text-[13px]">
            <span className="font-medium">{t('runs.attempt_n', { n: attempt.attempt || index + 1 })}</span>
            <time className="text-mute">{dateTime(attempt.start, { timeStyle: 'medium' })}</time>
            {attempt.end !== null && <span className="text-mute tabular-nums">{duration((attempt.end - attempt.start) * 1000)}</span>}
            {attempt.delay !== null && <span className="text-mute">{t('runs.then_wait', { time: duration(attempt.delay * 1000) })}</span>}
            {attempt.error && (
              <span className="w-full break-words text-danger">
                {attempt.error.type}: {attempt.error.message}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Part>
  )
}
