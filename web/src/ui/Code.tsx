import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { python } from '@codemirror/lang-python'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, defaultHighlightStyle, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder as hint } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

export type CodeLanguage = 'python' | 'json' | 'yaml' | 'sql' | 'text'

interface Props {
  value: string
  onChange: (value: string) => void
  language: CodeLanguage
  label: string
  id?: string
  describedBy?: string | undefined
  readOnly?: boolean
  placeholder?: string
  /** Fills its parent instead of growing with the text. */
  fill?: boolean
  extensions?: Extension
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: 'var(--kind-ai)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--mute)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.function(tags.variableName)], color: 'var(--info)' },
])

export const theme = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--fg)', backgroundColor: 'var(--panel)' },
  '.cm-content': { fontFamily: 'var(--font-mono)', caretColor: 'var(--fg)', padding: '6px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--fg)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--mute)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent) !important' },
  '&.cm-focused': { outline: 'none' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', borderRadius: '8px', overflow: 'hidden', boxShadow: 'var(--shadow)' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'var(--mute)', fontStyle: 'normal', marginLeft: '1em' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-placeholder': { color: 'var(--mute)' },
})

const LANGUAGES: Record<CodeLanguage, () => Extension> = { python, json, yaml, sql: () => [], text: () => [] }

/** A code editor. Tab indents; Escape, then Tab, leaves it. */
export default function Code({ value, onChange, language, label, describedBy, readOnly, placeholder, fill, extensions }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef({ onChange })
  useEffect(() => {
    latest.current = { onChange }
  })
  useEffect(() => {
    const made = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          language === 'text' ? [] : lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false }),
          highlightActiveLine(),
          LANGUAGES[language](),
          syntaxHighlighting(COLOURS),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
          EditorView.lineWrapping,
          theme,
          readOnly ? [EditorState.readOnly.of(true)] : [],
          placeholder ? hint(placeholder) : [],
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', ...(describedBy ? { 'aria-describedby': describedBy } : {}) }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('outside'))) latest.current.onChange(update.state.doc.toString())
          }),
          extensions ?? [],
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
    // The editor is made once; the value is brought in below, the rest does not change while it is open.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  useEffect(() => {
    const made = view.current
    if (!made || made.state.doc.toString() === value) return
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value }, userEvent: 'outside' })
  }, [value])
  return <div ref={host} className={fill ? 'h-full overflow-hidden [&_.cm-editor]:h-full' : 'overflow-hidden rounded-lg border border-line-strong/60 focus-within:border-accent-text [&_.cm-editor]:max-h-96 [&_.cm-scroller]:min-h-20'} />
}
