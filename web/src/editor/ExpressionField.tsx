import { Braces } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { useRun } from '@/runs/store'
import type { TextProps } from '@/schema/context'
import { IconButton } from '@/ui/Button'
import { Input, Textarea } from '@/ui/Input'
import { Popup } from '@/ui/Popup'
import { useChecks } from './checks'
import type { Handle } from './ExpressionEditor'
import { FILTERS } from './filters'
import { around } from './operations'
import { namesAt, type Name } from './scope'
import { documentNow } from './store'
import { shownPath } from '@/runs/store'
import { VariablePicker } from './VariablePicker'

const ExpressionEditor = lazy(() => import('./ExpressionEditor'))

const BODY_FIELDS = new Set(['config.output', 'config.while', 'config.until'])
const ITEM_FIELDS = /\.(filter|map|by)$|\.operations\[\d+\]\.(zip|concat)$/

/** The names that a field of a node may read. */
export function namesFor(node: string, path: string, secret: boolean): Name[] {
  const { types, inside } = useChecks.getState()
  return namesAt(documentNow(), node, { types, inside }, { body: BODY_FIELDS.has(path), item: ITEM_FIELDS.test(path), secret })
}

/** A field with expressions: completion, a picker of what is upstream, and what it gives with the data of the last run. */
export function ExpressionField({ node, ...props }: TextProps & { node: string }) {
  const { value, onChange, shape, ids, label, path, multiline, placeholder } = props
  const t = useT()
  const kind = shape.hints.expression!
  const editor = useRef<Handle>(null)
  const [focused, setFocused] = useState(false)
  const names = () => namesFor(node, path, shape.hints.secret ?? false)
  const simple = { ...ids, value, placeholder, 'aria-label': label }
  const fallback = multiline ? (
    <Textarea {...simple} onChange={(event) => onChange(event.target.value)} />
  ) : (
    <Input {...simple} onChange={(event) => onChange(event.target.value)} />
  )
  return (
    <div>
      <div className="flex items-start gap-1">
        <div className="min-w-0 flex-1">
          <Suspense fallback={fallback}>
            <ExpressionEditor
              ref={editor}
              value={value}
              onChange={onChange}
              onFocus={setFocused}
              names={names}
              filters={FILTERS}
              kind={kind}
              multiline={multiline}
              label={label}
              id={ids.id}
              describedBy={ids['aria-describedby']}
              invalid={Boolean(ids['aria-invalid'])}
              placeholder={placeholder}
            />
          </Suspense>
        </div>
        <Popup label={t('editor.pick_variable')} align="end" trigger={<IconButton size="sm" className="mt-1" label={t('editor.pick_variable')} icon={<Braces size={14} />} />}>
          <VariablePicker names={names} onPick={(reference) => editor.current?.insert(kind === 'expression' ? reference : `{{ ${reference} }}`)} />
        </Popup>
      </div>
      {focused && (kind === 'expression' ? value.trim() !== '' : value.includes('{{') || value.includes('{%')) && <Preview node={node} text={value} kind={kind} />}
    </div>
  )
}

interface Given {
  ok: boolean
  value: unknown
  error: string | null
}

function Preview({ node, text, kind }: { node: string; text: string; kind: 'value' | 'expression' | 'template' }) {
  const t = useT()
  const runId = useRun((state) => state.runId)
  const [given, setGiven] = useState<Given | null>(null)
  useEffect(() => {
    const aborted = new AbortController()
    const timer = setTimeout(() => {
      const document = documentNow()
      const asked: Promise<Given> = api('post', '/api/v1/workflows/preview', {
        signal: aborted.signal,
        body: { document: document as never, text, kind, path: shownPath(node, around(document, node)), run_id: runId } as never,
      })
      asked.then(setGiven, () => setGiven(null))
    }, 300)
    return () => {
      clearTimeout(timer)
      aborted.abort()
    }
  }, [node, text, kind, runId])
  if (!given) return null
  const shown = given.ok ? (typeof given.value === 'string' ? given.value : JSON.stringify(given.value, null, 1)) : given.error
  return (
    <div role="status" className="mt-1 max-h-32 overflow-y-auto rounded-md bg-sunken px-2 py-1 text-xs break-words whitespace-pre-wrap">
      <span className={given.ok ? 'font-medium text-ok' : 'font-medium text-mute'}>{t(given.ok ? 'editor.preview_gives' : 'editor.preview_not')} </span>
      {shown && shown.length > 1_500 ? `${shown.slice(0, 1_500)} …` : shown}
    </div>
  )
}
