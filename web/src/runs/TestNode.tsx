import { useState } from 'react'
import { api } from '@/api/client'
import type { NodeSpec } from '@/editor/document'
import { namesFor } from '@/editor/ExpressionField'
import { useWish } from '@/editor/run'
import { documentNow, useEditor } from '@/editor/store'
import { duration, useT } from '@/i18n/t'
import { JsonText } from '@/schema/controls/AnyValue'
import { Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { failed } from '@/ui/toasts'
import { isReference, useRun } from './store'
import { Outputs } from './Value'

interface Tested {
  status: string
  outputs: Record<string, unknown> | null
  handles: string[]
  error: { type: string; message: string } | null
  elapsed_ms: number | null
}

/** The names that a node's config mentions, with what the last run gave for them. */
function suggested(node: NodeSpec): Record<string, unknown> {
  const { shown } = useRun.getState()
  const said = JSON.stringify(node.config ?? {})
  const found: Record<string, unknown> = {}
  for (const { name } of namesFor(node.id, '', false)) {
    if (!new RegExp(`\\b${name}\\b`).test(said)) continue
    if (name === 'inputs') found.inputs = useWish.getState().last[useEditor.getState().workflow] ?? {}
    else if (shown[name]?.outputs) found[name] = Object.fromEntries(Object.entries(shown[name].outputs).filter(([, value]) => !isReference(value)))
    else if (['item', 'index'].includes(name)) found[name] = name === 'index' ? 0 : null
  }
  return found
}

/** One node alone, with given results of what comes before it. */
export function TestNode({ node }: { node: NodeSpec }) {
  const t = useT()
  const [inputs, setInputs] = useState<unknown>(() => suggested(node))
  const [busy, setBusy] = useState(false)
  const [tested, setTested] = useState<Tested | null>(null)
  const run = async () => {
    setBusy(true)
    try {
      const { workflow } = useEditor.getState()
      setTested(await api('post', '/api/v1/workflows/{workflow}/test-node', { path: { workflow }, body: { node: node.id, inputs: (inputs ?? {}) as Record<string, unknown>, document: documentNow() as never } as never }))
    } catch (error) {
      failed(t('editor.test_node'), error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <p className="text-[13px] text-mute">{t('editor.test_help')}</p>
      <JsonText label={t('editor.test_inputs')} value={inputs} onChange={setInputs} />
      <Button look="primary" size="sm" className="self-start" busy={busy} onClick={() => void run()}>
        {t('editor.test_node')}
      </Button>
      {tested && (
        <div role="status" className="flex flex-col gap-2">
          <div className="flex items-center gap-2 text-[13px] text-mute">
            <Status status={tested.status} /> {tested.elapsed_ms !== null && duration(tested.elapsed_ms)} {tested.handles.filter((handle) => handle !== 'out').join(', ')}
          </div>
          {tested.error && <p className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger">{tested.error.message}</p>}
          {tested.outputs && <Outputs outputs={tested.outputs} />}
        </div>
      )}
    </section>
  )
}
