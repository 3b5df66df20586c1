import { useEffect, useMemo, useState } from 'react'
import type { RunReport } from '@/api/runs'
import { duration, text, useT } from '@/i18n/t'
import { TONE_OF, type Tone } from '@/ui/Badge'
import { cx } from '@/ui/cx'
import { Toggle } from '@/ui/Toggle'
import { criticalPath } from './critical'
import type { NodeView } from './model'
import type { RunData } from './useRun'

const BARS: Record<Tone, string> = { ok: 'bg-ok', warn: 'bg-warn', danger: 'bg-danger', info: 'bg-info', mute: 'bg-line-strong', accent: 'bg-accent' }
const ROWS = 300
const STEPS = [1, 2, 5]

/** Round marks that a length of seconds is divided by. */
export function marks(length: number): number[] {
  if (!(length > 0)) return [0]
  const rough = length / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * (STEPS.find((one) => one * power >= rough) ?? 10)
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step)
}

interface Props {
  data: RunData
  run: RunReport
  chosen: string | null
  choose: (path: string) => void
}

/** When each node ran, on one scale; the nodes that the length hangs on are marked. */
export function Timeline({ data, run, chosen, choose }: Props) {
  const t = useT()
  const { journal, edges } = data
  const [inside, setInside] = useState(false)
  const [now, setNow] = useState(() => Date.now() / 1000)
  const live = journal.end === null
  useEffect(() => {
    if (!live) return undefined
    const timer = setInterval(() => setNow(Date.now() / 1000), 500)
    return () => clearInterval(timer)
  }, [live])
  const critical = useMemo(() => new Set(criticalPath(journal, edges)), [journal, edges])
  const rows = useMemo(
    () =>
      Object.values(journal.nodes)
        .filter((node) => node.spans.length > 0 && (inside || !node.path.includes('.')))
        .toSorted((a, b) => a.spans[0]!.start - b.spans[0]!.start),
    [journal, inside],
  )
  const begin = journal.start ?? rows[0]?.spans[0]?.start ?? 0
  const end = journal.end ?? Math.max(now, begin)
  const length = Math.max(end - begin, 0.001)
  const nested = Object.keys(journal.nodes).some((path) => path.includes('.'))
  const onPath = rows.filter((node) => critical.has(node.path)).reduce((sum, node) => sum + node.spans.reduce((all, span) => all + ((span.end ?? end) - span.start), 0), 0)
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-[13px]">
        <span>
          <span className="text-mute">{t('runs.took')}</span> <span className="font-medium tabular-nums">{duration(length * 1000)}</span>
        </span>
        <span className="flex items-center gap-1.5">
          <span className="h-3 w-1 rounded bg-accent" aria-hidden />
          <span className="text-mute">{t('runs.critical_path')}</span> <span className="font-medium tabular-nums">{duration(onPath * 1000)}</span>
        </span>
        {nested && (
          <label className="flex items-center gap-2">
            <Toggle checked={inside} onChange={setInside} aria-label={t('runs.show_inside')} /> {t('runs.show_inside')}
          </label>
        )}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div className="overflow-x-auto rounded-lg border border-line" role="region" aria-label={t('runs.tab_timeline')} tabIndex={0}>
        <div className="min-w-160">
          <div className="flex border-b border-line text-xs text-mute">
            <span className="w-32 shrink-0 border-r border-line px-3 py-1.5 sm:w-48">{t('runs.node')}</span>
            <span className="relative h-7 min-w-0 flex-1" aria-hidden>
              {marks(length).map((at) => (
                <span key={at} className="absolute top-1.5 whitespace-nowrap" style={{ left: `calc(8px + ${(at / length) * 100}% - ${(at / length) * 16}px)` }}>
                  {duration(at * 1000)}
                </span>
              ))}
            </span>
          </div>
          <ul>
            {rows.slice(0, ROWS).map((node) => (
              <Bar key={node.path} node={node} status={run.nodes[node.path]?.status ?? 'running'} label={data.specs.get(node.path.split('.').at(-1)!)?.label ?? node.path} begin={begin} end={end} critical={critical.has(node.path)} chosen={chosen === node.path} choose={choose} />
            ))}
          </ul>
          {!rows.length && <p className="px-4 py-8 text-center text-mute">{t('runs.nothing_ran')}</p>}
        </div>
      </div>
      {rows.length > ROWS && <p className="text-[13px] text-mute">{t('runs.rows_cut', { shown: ROWS, n: rows.length })}</p>}
    </div>
  )
}

interface BarProps {
  node: NodeView
  status: string
  label: string
  begin: number
  end: number
  critical: boolean
  chosen: boolean
  choose: (path: string) => void
}

function Bar({ node, status, label, begin, end, critical, chosen, choose }: BarProps) {
  const t = useT()
  const length = Math.max(end - begin, 0.001)
  const own = node.spans.reduce((sum, span) => sum + ((span.end ?? end) - span.start), 0) * 1000
  const said = t('runs.bar', { name: node.path, status: text(`common.status_${status}`) ?? status, start: duration((node.spans[0]!.start - begin) * 1000), time: duration(own) })
  return (
    <li>
      <button type="button" onClick={() => choose(node.path)} title={said} className={cx('flex h-8 w-full items-center text-left hover:bg-sunken focus-visible:-outline-offset-2', chosen && 'bg-accent-soft')}>
        <span className="flex h-full w-32 shrink-0 sm:w-48 items-center gap-2 border-r border-line pr-2 pl-2">
          <span className={cx('h-4 w-1 shrink-0 rounded', critical ? 'bg-accent' : 'bg-transparent')} />
          <span className={cx('truncate text-[13px]', critical && 'font-medium')}>{label}</span>
          <span className="sr-only">{critical ? `${said}, ${t('runs.critical_path')}` : said}</span>
        </span>
        <span className="relative mx-2 h-full min-w-0 flex-1">
          {node.spans.map((span) => {
            const [from, to] = [(span.start - begin) / length, ((span.end ?? end) - begin) / length]
            const tone = span.failed ? 'danger' : span.kind === 'wait' ? 'warn' : (TONE_OF[status] ?? 'mute')
            return <span key={`${span.start}-${span.kind}`} className={cx('absolute top-2.5 h-3 min-w-1 rounded-sm', BARS[tone], span.kind === 'wait' && 'opacity-50')} style={{ left: `${from * 100}%`, width: `${Math.max((to - from) * 100, 0)}%` }} />
          })}
          <span aria-hidden className="absolute top-1.5 pl-1.5 text-xs text-mute tabular-nums" style={after(node, begin, length, end)}>
            {duration(own)}
          </span>
        </span>
      </button>
    </li>
  )
}

/** Beside the bar where there is room, else before it. */
function after(node: NodeView, begin: number, length: number, end: number): React.CSSProperties {
  const to = ((node.spans.at(-1)!.end ?? end) - begin) / length
  const from = (node.spans[0]!.start - begin) / length
  return to < 0.9 ? { left: `${to * 100}%` } : from > 0.1 ? { right: `calc(${(1 - from) * 100}% + 6px)` } : { right: 4, color: 'var(--panel)' }
}
