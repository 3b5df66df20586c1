import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { EditorState } from '@codemirror/state'
import { Decoration, drawSelection, EditorView, keymap, MatchDecorator, placeholder as hint, ViewPlugin, type DecorationSet, type ViewUpdate } from '@codemirror/view'
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react'
import { theme } from '@/ui/Code'
import { fieldsOf, referenceBefore, schemaAt, typeName, type Name } from './scope'

export type ExpressionKind = 'value' | 'expression' | 'template'

export interface Handle {
  insert: (text: string) => void
}

interface Props {
  value: string
  onChange: (value: string) => void
  onFocus?: (focused: boolean) => void
  names: () => Name[]
  filters: string[]
  kind: ExpressionKind
  multiline: boolean
  label: string
  id: string
  describedBy?: string | undefined
  invalid: boolean
  placeholder?: string | undefined
  ref?: Ref<Handle>
}

const marks = new MatchDecorator({ regexp: /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g, decoration: Decoration.mark({ class: 'cm-expression' }) })
const marked = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = marks.createDeco(view)
    }
    update(update: ViewUpdate) {
      this.decorations = marks.updateDeco(update, this.decorations)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

const look = EditorView.theme({
  '.cm-expression': { color: 'var(--accent-text)', backgroundColor: 'var(--accent-soft)', borderRadius: '3px' },
  '.cm-content': { padding: '7px 0' },
  '.cm-line': { padding: '0 10px' },
  '.cm-scroller': { lineHeight: '1.5' },
})

/** What may follow at a place: names, fields below a reference, filters after a bar. */
export function complete(text: string, at: number, kind: ExpressionKind, names: Name[], filters: string[], asked: boolean): { from: number; options: { label: string; detail?: string; apply?: string; type?: string }[] } | null {
  const bar = /\|\s*([a-z_]*)$/.exec(text.slice(0, at))
  if (bar && referenceBefore(text, at, kind)) return { from: at - bar[1]!.length, options: filters.map((filter) => ({ label: filter, type: 'function' })) }
  if (kind !== 'expression' && /(^|[^{])\{$/.test(text.slice(0, at))) return { from: at - 1, options: names.map((one) => ({ label: one.name, detail: typeName(one.schema), apply: `{{ ${one.name} }}` })) }
  const reference = referenceBefore(text, at, kind)
  if (!reference || (reference.path === '' && !asked && !/\{\{\s$/.test(text.slice(0, at)))) return null
  const dot = reference.path.lastIndexOf('.')
  if (dot < 0) return { from: reference.from, options: names.map((one) => ({ label: one.name, detail: [typeName(one.schema), one.detail].filter(Boolean).join(' · ') })) }
  const below = schemaAt(names, reference.path.slice(0, dot))
  if (!below) return null
  return { from: reference.from + dot + 1, options: Object.entries(fieldsOf(below)).map(([name, schema]) => ({ label: name, detail: typeName(schema) })) }
}

/** A text with expressions: names are completed with their types, expressions are set off. */
export default function ExpressionEditor(props: Props) {
  const { value, kind, multiline, label, id, describedBy, invalid, placeholder, ref } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const made = view.current!
      made.dispatch(made.state.replaceSelection(text))
      made.focus()
    },
  }), [])
  useEffect(() => {
    const source = (context: CompletionContext): CompletionResult | null => {
      const { names, filters } = latest.current
      const found = complete(context.state.doc.toString(), context.pos, kind, names(), filters, context.explicit)
      // More letters of the same word narrow the list at once, without asking again.
      return found && { ...found, validFor: /^\w*$/ }
    }
    const made = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          history(),
          drawSelection(),
          closeBrackets(),
          autocompletion({ override: [source], icons: false, activateOnTyping: true, interactionDelay: 0 }),
          marked,
          keymap.of([
            { key: 'Tab', run: (target) => completionStatus(target.state) === 'active' && acceptCompletion(target) },
            ...(multiline ? [] : [{ key: 'Enter', run: (target: EditorView) => completionStatus(target.state) !== 'active' }]),
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          multiline ? [] : EditorState.transactionFilter.of((transaction) => (transaction.newDoc.lines > 1 ? [] : transaction)),
          EditorView.lineWrapping,
          theme,
          look,
          placeholder ? hint(placeholder) : [],
          EditorView.contentAttributes.of({ 'aria-label': label, id, tabindex: '0', spellcheck: 'false', ...(describedBy ? { 'aria-describedby': describedBy } : {}), ...(multiline ? { 'aria-multiline': 'true' } : {}) }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('outside'))) latest.current.onChange(update.state.doc.toString())
            if (update.focusChanged) latest.current.onFocus?.(update.view.hasFocus)
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
    // Made once; the value is brought in below and everything else is read through `latest`.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  useEffect(() => {
    const made = view.current
    if (!made || made.state.doc.toString() === value) return
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value }, userEvent: 'outside' })
  }, [value])
  return (
    <div
      ref={host}
      data-invalid={invalid || undefined}
      className={`overflow-hidden rounded-lg border border-line-strong/60 bg-panel focus-within:border-accent-text hover:border-line-strong data-invalid:border-danger [&_.cm-editor]:max-h-72 ${multiline ? '[&_.cm-content]:min-h-20' : ''}`}
    />
  )
}
