import { useQuery } from '@tanstack/react-query'
import { Pin, PinOff, Play, RotateCcw, TestTube } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import type { NodeSpec } from '@/editor/document'
import { around } from '@/editor/operations'
import { pin, replayFrom, runUntil, unpin } from '@/editor/run'
import { documentNow, useDocument, useEditor } from '@/editor/store'
import { duration, useT } from '@/i18n/t'
import { JsonText } from '@/schema/controls/AnyValue'
import { Badge, Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { done, failed } from '@/ui/toasts'
import { TestNode } from './TestNode'
import { shownPath, useRun, type NodeRun } from './store'
import { Outputs, Value } from './Value'

/** What a node did in the run that is shown, and what can be done with it: pinned, tested, run again. */
export function NodeData({ node }: { node: NodeSpec }) {
  const t = useT()
  const run = useRun((state) => state.shown[node.id])
  const pins = useRun((state) => state.pins)
  const runId = useRun((state) => state.runId)
  const document = useDocument()
  const inside = around(document, node.id).length > 0
  const [testing, setTesting] = useState(false)
  const [editing, setEditing] = useState(false)
  const trying = (what: string, work: Promise<void>, text?: string) => void work.then(() => text && done(text), (error: unknown) => failed(what, error))
  const pinned = pins[node.id]
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="flex flex-wrap gap-1.5">
        <Button size="sm" icon={<Play size={13} />} onClick={() => trying(t('editor.run_failed'), runUntil(node.id))}>
          {t('editor.run_to_here')}
        </Button>
        {node.type !== 'START' && (
          <Button size="sm" icon={<TestTube size={13} />} aria-expanded={testing} onClick={() => setTesting(!testing)}>
            {t('editor.test_node')}
          </Button>
        )}
        {runId && run && !inside && node.type !== 'START' && (
          <Button size="sm" icon={<RotateCcw size={13} />} aria-expanded={editing} onClick={() => setEditing(!editing)}>
            {t('editor.replay_from')}
          </Button>
        )}
        {pinned ? (
          <Button size="sm" icon={<PinOff size={13} />} onClick={() => trying(t('editor.unpin'), unpin(node.id), t('editor.unpinned'))}>
            {t('editor.unpin')}
          </Button>
        ) : (
          run?.outputs && node.type !== 'START' && node.type !== 'END' && (
            <Button size="sm" icon={<Pin size={13} />} onClick={() => trying(t('editor.pin'), pin(node.id, run.outputs!, run.handles[0] ?? null), t('editor.pinned_done'))}>
              {t('editor.pin')}
            </Button>
          )
        )}
      </div>
      {editing && <Replay node={node} onDone={() => setEditing(false)} />}
      {testing && <TestNode node={node} />}
      {pinned && <Pinned node={node} outputs={pinned} />}
      {run ? <Ran node={node} run={run} /> : <p className="py-6 text-center text-mute">{t(runId ? 'editor.did_not_run' : 'editor.no_run')}</p>}
      {runId && !inside && <Why node={node} />}
    </div>
  )
}

function Ran({ node, run }: { node: NodeSpec; run: NodeRun }) {
  const t = useT()
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2 text-[13px] text-mute">
        <Status status={run.status} />
        {run.elapsed !== null && <span className="tabular-nums">{duration(run.elapsed)}</span>}
        {run.attempt > 1 && <span>{t('editor.attempt_n', { n: run.attempt })}</span>}
        {run.handles.length > 0 && run.handles[0] !== 'out' && <Badge>{run.handles.join(', ')}</Badge>}
        {run.reused && <Badge tone="accent">{t('editor.reused')}</Badge>}
        {run.pinned && <Badge tone="warn">{t('editor.pinned')}</Badge>}
      </div>
      {run.error && (
        <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] break-words text-danger">
          <b>{run.error.type}</b> {run.error.message}
        </p>
      )}
      {run.text && run.status === 'running' && <Value value={run.text} label={t('editor.streaming')} />}
      {run.tools.length > 0 && (
        <section>
          <h3 className="mb-1 text-[13px] font-semibold">{t('editor.tool_calls')}</h3>
          <ul className="text-[13px]">
            {run.tools.map((tool) => (
              <li key={tool.step} className={tool.error ? 'text-danger' : ''}>
                <code>{tool.name}</code> {tool.done ? (tool.error ? '✗' : '✓') : '…'}
              </li>
            ))}
          </ul>
        </section>
      )}
      <GivenTo node={node} run={run} />
      {run.outputs && (
        <section>
          <h3 className="mb-1.5 text-[13px] font-semibold">{t('editor.gave')}</h3>
          <Outputs outputs={run.outputs} />
        </section>
      )}
      {run.log.length > 0 && (
        <section>
          <h3 className="mb-1 text-[13px] font-semibold">{t('editor.log')}</h3>
          <Value value={run.log.join('\n')} label={t('editor.log')} />
        </section>
      )}
    </div>
  )
}

interface Field {
  field: string
  source: unknown
  value: unknown
  error: string | null
}

/** What the node was given: its fields with the values that their expressions had. */
function GivenTo({ node, run }: { node: NodeSpec; run: NodeRun }) {
  const t = useT()
  const runId = useRun((state) => state.runId)
  const path = shownPath(node.id, around(documentNow(), node.id))
  const given = useQuery({
    queryKey: ['given', runId, path, run.ended],
    queryFn: (): Promise<{ fields: Field[] }> => api('get', '/api/v1/runs/{run_id}/given/{path}', { path: { run_id: runId!, path } }),
    enabled: runId !== null && run.ended !== null && run.status !== 'skipped',
  })
  const fields = given.data?.fields.filter((field) => field.value !== null || field.error) ?? []
  if (!fields.length) return null
  return (
    <section>
      <h3 className="mb-1.5 text-[13px] font-semibold">{t('editor.was_given')}</h3>
      <div className="flex flex-col gap-2.5">
        {fields.map((field) => (
          <div key={field.field}>
            <div className="mb-0.5 text-xs font-medium">
              <code>{field.field.replace(/^config\./, '')}</code>
            </div>
            {field.error ? <p className="text-xs text-mute">{field.error}</p> : <Value value={field.value} label={field.field} />}
          </div>
        ))}
      </div>
    </section>
  )
}

function Why({ node }: { node: NodeSpec }) {
  const t = useT()
  const runId = useRun((state) => state.runId)
  const status = useRun((state) => state.shown[node.id]?.status)
  const ended = useRun((state) => state.ended)
  const why = useQuery({ queryKey: ['why', runId, node.id, status, ended], queryFn: (): Promise<{ why: string }> => api('get', '/api/v1/runs/{run_id}/why/{path}', { path: { run_id: runId!, path: node.id } }), retry: false })
  if (!why.data) return null
  return (
    <section>
      <h3 className="mb-1 text-[13px] font-semibold">{t('editor.why')}</h3>
      <p className="text-[13px] text-mute">{why.data.why}</p>
    </section>
  )
}

function Pinned({ node, outputs }: { node: NodeSpec; outputs: Record<string, unknown> }) {
  const t = useT()
  const [value, setValue] = useState<unknown>(outputs)
  const save = () => void pin(node.id, value as Record<string, unknown>, null).then(() => done(t('editor.pinned_done')), (error: unknown) => failed(t('editor.pin'), error))
  return (
    <section className="rounded-lg border border-warn/50 p-3">
      <h3 className="flex items-center gap-1.5 text-[13px] font-semibold">
        <Pin size={13} className="text-warn" aria-hidden /> {t('editor.pinned_output')}
      </h3>
      <p className="mb-2 text-xs text-mute">{t('editor.pinned_help')}</p>
      <JsonText label={t('editor.pinned_output')} value={value} onChange={setValue} />
      <Button size="sm" className="mt-2" disabled={value === outputs} onClick={save}>
        {t('common.save')}
      </Button>
    </section>
  )
}

/** Runs again from a node on; outputs of nodes before it can be changed for it. */
function Replay({ node, onDone }: { node: NodeSpec; onDone: () => void }) {
  const t = useT()
  const [changes, setChanges] = useState<unknown>({})
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    try {
      await replayFrom(node.id, (changes ?? {}) as Record<string, unknown>)
      useEditor.setState({ bottom: 'run' })
      onDone()
    } catch (error) {
      failed(t('editor.replay_from'), error)
      setBusy(false)
    }
  }
  return (
    <section className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <p className="text-[13px]">{t('editor.replay_help')}</p>
      <JsonText label={t('editor.replay_changes')} value={changes} onChange={setChanges} />
      <Button look="primary" size="sm" className="self-start" busy={busy} onClick={() => void go()}>
        {t('editor.replay')}
      </Button>
    </section>
  )
}
