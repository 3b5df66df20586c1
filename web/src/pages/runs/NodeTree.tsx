import { ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { RunReport } from '@/api/runs'
import { duration, text, useT } from '@/i18n/t'
import { TONE_OF, type Tone } from '@/ui/Badge'
import { cx } from '@/ui/cx'
import { nowSeconds } from '@/ui/clock'
import { tree, worked, type Branch } from './model'
import type { RunData } from './useRun'

const DOTS: Record<Tone, string> = { ok: 'bg-ok', warn: 'bg-warn', danger: 'bg-danger', info: 'bg-info', mute: 'bg-line-strong', accent: 'bg-accent' }
const MOST = 100

interface Props {
  data: RunData
  run: RunReport
  chosen: string | null
  choose: (path: string) => void
}

/** The nodes of a run in the order of the document; the passes of bodies can be opened. */
export function NodeTree({ data, run, chosen, choose }: Props) {
  const t = useT()
  const branches = useMemo(() => {
    const order = new Map([...data.specs.keys()].map((id, index) => [id, index]))
    return tree([...new Set([...Object.keys(run.nodes), ...Object.keys(data.journal.nodes)])], (name) => order.get(name) ?? 1e9)
  }, [data.specs, data.journal, run.nodes])
  return (
    <ul aria-label={t('runs.nodes')} className="flex flex-col gap-px">
      {branches.map((branch) => (
        <Row key={branch.path} branch={branch} depth={0} data={data} run={run} chosen={chosen} choose={choose} />
      ))}
    </ul>
  )
}

function worst(branch: Branch, run: RunReport): string {
  const all = branch.children.map((child) => (child.pass ? worst(child, run) : (run.nodes[child.path]?.status ?? 'pending')))
  return ['failed', 'unknown', 'running', 'suspended', 'cancelled', 'succeeded'].find((status) => all.includes(status)) ?? 'pending'
}

function Row({ branch, depth, ...rest }: Props & { branch: Branch; depth: number }) {
  const t = useT()
  const { data, run, chosen, choose } = rest
  const inside = chosen !== null && chosen !== branch.path && chosen.startsWith(branch.path)
  const [wanted, setOpen] = useState<boolean | null>(null)
  const [shown, setShown] = useState(MOST)
  const open = wanted ?? (inside || (branch.pass === null && branch.children.length > 0 && branch.children.length <= 3))
  const status = branch.pass ? worst(branch, run) : (run.nodes[branch.path]?.status ?? 'pending')
  const spec = data.specs.get(branch.name)
  const time = branch.pass ? null : (run.nodes[branch.path]?.elapsed_ms ?? worked(data.journal.nodes[branch.path], nowSeconds()))
  const tries = run.nodes[branch.path]?.attempts ?? 0
  const label = branch.pass ? t(branch.pass.startsWith('#') ? 'runs.round_n' : 'runs.item_n', { n: branch.pass.replace(/\D/g, '') }) : (spec?.label ?? branch.name)
  const state = text(`common.status_${status}`) ?? status
  return (
    <li>
      <div className={cx('flex h-8 items-center rounded-lg', chosen === branch.path ? 'bg-accent-soft' : 'hover:bg-sunken')} style={{ paddingLeft: depth * 14 }}>
        {branch.children.length ? (
          <button type="button" aria-label={t('runs.open_inside', { name: label })} aria-expanded={open} onClick={() => setOpen(!open)} className="flex size-6 shrink-0 items-center justify-center rounded text-mute hover:text-fg">
            <ChevronRight size={14} aria-hidden className={cx(open && 'rotate-90')} />
          </button>
        ) : (
          <span className="w-6 shrink-0" />
        )}
        <button
          type="button"
          aria-current={chosen === branch.path ? 'true' : undefined}
          onClick={() => (branch.pass ? setOpen(!open) : choose(branch.path))}
          className="flex h-full min-w-0 flex-1 items-center gap-2 rounded-lg pr-2 text-left"
        >
          <span className={cx('size-2 shrink-0 rounded-full', DOTS[TONE_OF[status] ?? 'mute'], status === 'running' && 'animate-pulse')} aria-hidden />
          <span className={cx('min-w-0 flex-1 truncate', ['skipped', 'not_reached', 'pending'].includes(status) && 'text-mute')}>{label}</span>
          <span className="sr-only">{state}</span>
          {tries > 1 && <span className="text-xs text-warn">×{tries}</span>}
          {spec && !branch.pass && <span className="hidden text-[11px] text-mute lg:inline">{spec.type}</span>}
          {time !== null && time !== undefined && <span className="w-14 shrink-0 text-right text-xs text-mute tabular-nums">{duration(time)}</span>}
        </button>
      </div>
      {open && branch.children.length > 0 && (
        <ul>
          {branch.children.slice(0, shown).map((child) => (
            <Row key={child.path} branch={child} depth={depth + 1} {...rest} />
          ))}
          {branch.children.length > shown && (
            <li>
              <button type="button" onClick={() => setShown(shown + 500)} className="ml-8 rounded text-[13px] text-accent-text underline">
                {t('runs.more_passes', { n: branch.children.length - shown })}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  )
}
