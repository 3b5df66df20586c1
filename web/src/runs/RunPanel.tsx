import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { listRuns } from '@/api/runs'
import { useDocument, useEditor, select } from '@/editor/store'
import { view } from '@/editor/actions'
import { ago, duration, useT } from '@/i18n/t'
import { Badge, Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { cx } from '@/ui/cx'
import { Segmented } from '@/ui/Segmented'
import { CompareRuns } from './CompareRuns'
import { spans, type Span } from './critical'
import { clearRun, useRun, watchRun } from './store'
import { Value } from './Value'

/** The run that is shown: how it fares, when what ran, what it gave; and the runs before it. */
export function RunPanel() {
  const t = useT()
  const workflow = useEditor((state) => state.workflow)
  const run = useRun()
  const [part, setPart] = useState<'timeline' | 'result'>('timeline')
  const [comparing, setComparing] = useState(false)
  const runs = useQuery({ queryKey: ['runs', workflow, run.runId, run.ended], queryFn: () => listRuns({ workflow_id: workflow, limit: 30 }) })
  const options = (runs.data ?? []).map((one) => ({ value: one.id, label: `${one.id.slice(-8)} · ${ago(one.created_at)}`, help: one.status }))
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-2">
        {run.status && <Status status={run.status} />}
        {run.test && <Badge tone="accent">{t('editor.test_run')}</Badge>}
        {!run.connected && <Badge tone="warn">{t('editor.reconnecting')}</Badge>}
        <Elapsed />
        {run.runId && <Segmented label={t('editor.run_parts')} value={part} onChange={setPart} options={[{ value: 'timeline', label: t('editor.timeline') }, { value: 'result', label: t('editor.result') }]} />}
        <span className="flex-1" />
        <Choice className="h-8! w-64!" aria-label={t('editor.earlier_runs')} placeholder={t('editor.earlier_runs')} value={options.some((one) => one.value === run.runId) ? run.runId! : undefined} options={options} onChange={(id) => watchRun(id)} />
        {run.runId && (
          <>
            <Button size="sm" disabled={(runs.data?.length ?? 0) < 2} onClick={() => setComparing(true)}>
              {t('editor.compare_runs')}
            </Button>
            <Button size="sm" onClick={clearRun}>
              {t('common.clear')}
            </Button>
          </>
        )}
      </div>
      {run.error && (
        <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger">
          {run.error.path && <code className="mr-1.5 font-medium">{run.error.path}</code>}
          {run.error.message}
        </p>
      )}
      {!run.runId ? <p className="p-6 text-center text-mute">{t('editor.no_run')}</p> : part === 'timeline' ? <Timeline /> : run.outputs ? <Value value={run.outputs} label={t('editor.result')} /> : <p className="p-6 text-center text-mute">{t('editor.no_result')}</p>}
      {comparing && run.runId && <CompareRuns run={run.runId} runs={runs.data ?? []} onClose={() => setComparing(false)} />}
    </div>
  )
}

function useNow(active: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!active) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [active])
  return now
}

function Elapsed() {
  const { started, ended, status } = useRun()
  const now = useNow(started !== null && ended === null && status !== 'suspended')
  if (started === null) return null
  return <span className="text-[13px] text-mute tabular-nums">{duration(Math.max((ended ?? now) - started, 0))}</span>
}

const COLOURS: Record<string, string> = { succeeded: 'bg-ok', failed: 'bg-danger', unknown: 'bg-danger', running: 'bg-info', suspended: 'bg-warn', cancelled: 'bg-line-strong' }

function Timeline() {
  const t = useT()
  const document = useDocument()
  const { nodes, started, ended } = useRun()
  const selected = useEditor((state) => state.selected)
  const now = useNow(ended === null)
  const rows = useMemo(() => spans(nodes, document.edges, ended ?? now), [nodes, document.edges, ended, now])
  if (!rows.length || started === null) return <p className="p-6 text-center text-mute">{t('editor.nothing_ran')}</p>
  const first = Math.min(started, ...rows.map((row) => row.start))
  const length = Math.max((ended ?? now) - first, ...rows.map((row) => row.end - first), 1)
  return (
    <div role="table" aria-label={t('editor.timeline')} className="flex flex-col text-[12.5px]">
      {rows.slice(0, 400).map((row) => (
        <Row key={row.path} row={row} first={first} length={length} chosen={selected.has(row.id)} />
      ))}
      <p className="pt-2 text-xs text-mute">
        <span className="mr-1.5 inline-block h-2 w-4 rounded-sm bg-info ring-2 ring-accent-text" aria-hidden />
        {t('editor.critical_path')}
      </p>
    </div>
  )
}

function Row({ row, first, length, chosen }: { row: Span; first: number; length: number; chosen: boolean }) {
  const t = useT()
  const left = ((row.start - first) / length) * 100
  const width = Math.max(((row.end - row.start) / length) * 100, 0.6)
  return (
    <div role="row" className={cx('flex items-center gap-3 rounded', chosen && 'bg-accent-soft')}>
      <div role="rowheader" className="w-48 shrink-0" style={{ paddingLeft: row.depth * 12 }}>
        <button
          type="button"
          className="h-6 w-full truncate rounded px-1 text-left hover:underline"
          onClick={() => {
            select([row.id])
            view.show([row.id])
            useEditor.setState({ tab: 'data' })
          }}
        >
          {row.path}
        </button>
      </div>
      <div role="cell" className="relative h-5 flex-1 rounded bg-sunken/70">
        <span
          aria-hidden
          className={cx('absolute top-1 h-3 rounded-sm', COLOURS[row.status] ?? 'bg-line-strong', row.critical && 'ring-2 ring-accent-text')}
          style={{ left: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - Math.min(left, 99))}%` }}
        />
      </div>
      <div role="cell" className="w-20 shrink-0 text-right text-mute tabular-nums">
        {duration(row.end - row.start)}
        {row.critical && <span className="sr-only"> {t('editor.on_critical_path')}</span>}
      </div>
    </div>
  )
}
