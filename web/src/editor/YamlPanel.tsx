import { X } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { api, type ProblemOfDocument } from '@/api/client'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { Loading } from '@/ui/Spinner'
import { placeNow, saveNow } from './autosave'
import type { Checks } from './checks'
import type { WorkflowDocument } from './document'
import { documentNow, edit, set, useDocument, useEditor } from './store'

const Code = lazy(() => import('@/ui/Code'))

interface Converted extends Checks {
  document: WorkflowDocument | null
  complete: boolean
  yaml: string | null
}

/** A text that was typed and is not part of the document yet. */
interface Typed {
  text: string
  place: ReturnType<typeof placeNow>
  base: WorkflowDocument
  /** Undefined once the server was asked. */
  wait: ReturnType<typeof setTimeout> | undefined
  aborted: AbortController
}

const convert = (document: WorkflowDocument | string, signal: AbortSignal): Promise<Converted> => api('post', '/api/v1/workflows/convert', { signal, body: { document: document as never } })

/** Makes what was typed the document of the workflow that it was typed for, which may have been left since. */
function takeOver(document: WorkflowDocument, { place, base }: Typed): WorkflowDocument {
  const isOpen = place === null || useEditor.getState().workflow === place.workflow
  const before = isOpen ? documentNow() : base
  // Notes and folds of the canvas stay where the text says nothing of them.
  const made = { ...document, ui: { ...before.ui, ...document.ui } }
  if (isOpen) edit(() => made, 'yaml')
  if (place && !place.open) void saveNow(place, made)
  return made
}

/** The document as text beside the canvas. Either side follows the other; text that cannot be read yet changes nothing. */
export function YamlPanel() {
  const t = useT()
  const document = useDocument()
  const [text, setText] = useState<string | null>(null)
  const [problems, setProblems] = useState<ProblemOfDocument[]>([])
  const [behind, setBehind] = useState(false)
  /** The document that the text stands for: a change of ours must not be written over what is being typed. */
  const standsFor = useRef<WorkflowDocument | null>(null)
  const typed = useRef<Typed | null>(null)

  useEffect(() => {
    if (standsFor.current === document) return
    const aborted = new AbortController()
    const wait = setTimeout(() => {
      convert(document, aborted.signal).then(
        ({ yaml }) => {
          if (typed.current) return
          standsFor.current = document
          setText(yaml)
          setProblems([])
          setBehind(false)
        },
        () => undefined,
      )
    }, 250)
    return () => {
      clearTimeout(wait)
      aborted.abort()
    }
  }, [document])

  const read = (now: Typed) => {
    now.wait = undefined
    convert(now.text, now.aborted.signal).then(
      (found) => {
        if (typed.current !== now) return
        typed.current = null
        if (!found.complete || !found.document) {
          setProblems(found.problems.filter((problem) => problem.severity === 'error'))
          return
        }
        standsFor.current = takeOver(found.document, now)
        setProblems([])
        setBehind(false)
      },
      () => {
        if (typed.current === now) typed.current = null
      },
    )
  }
  const type = (next: string) => {
    setText(next)
    setBehind(true)
    // An answer to an earlier text must not come after the one to this.
    clearTimeout(typed.current?.wait)
    typed.current?.aborted.abort()
    const now: Typed = { text: next, place: placeNow(), base: documentNow(), wait: undefined, aborted: new AbortController() }
    now.wait = setTimeout(() => read(now), 500)
    typed.current = now
  }
  const flush = useRef(() => undefined as void)
  flush.current = () => {
    if (typed.current?.wait === undefined) return
    clearTimeout(typed.current.wait)
    read(typed.current)
  }
  // What was typed last is not lost when the panel is closed or the workflow left.
  useEffect(() => () => flush.current(), [])
  return (
    <section aria-label={t('editor.yaml')} className="flex h-full w-[28rem] shrink-0 flex-col border-l border-line bg-panel">
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-line px-3 text-[13px]">
        <span className="font-medium">{t('editor.yaml')}</span>
        <span role="status" className="flex-1 truncate text-xs text-mute">
          {problems.length ? t('editor.yaml_behind') : behind ? t('editor.yaml_reading') : ''}
        </span>
        <IconButton size="sm" label={t('common.close')} icon={<X size={14} />} onClick={() => set({ yaml: false })} />
      </header>
      <div className="min-h-0 flex-1">
        {text === null ? (
          <Loading label={t('common.loading')} />
        ) : (
          <Suspense fallback={<Loading label={t('common.loading')} />}>
            <Code fill language="yaml" label={t('editor.yaml')} value={text} onChange={type} />
          </Suspense>
        )}
      </div>
      {problems.length > 0 && (
        <ul role="alert" className="max-h-40 shrink-0 overflow-y-auto border-t border-line bg-danger-soft px-3 py-2 text-xs text-danger">
          {problems.slice(0, 20).map((problem, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- problems have no other name
            <li key={index}>
              {problem.line !== null && t('editor.line_n', { n: problem.line })} {problem.message} {problem.fix}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
