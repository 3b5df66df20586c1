import { create } from 'zustand'
import { api, Problem, type ProblemOfDocument } from '@/api/client'
import type { JsonSchema } from '@/schema/schema'
import { documentNow, edit, useEditor } from './store'
import type { WorkflowDocument } from './document'

export interface Checks {
  valid: boolean
  problems: ProblemOfDocument[]
  types: Record<string, JsonSchema>
  inside: Record<string, Record<string, JsonSchema>>
  handles: Record<string, string[]>
}

interface State extends Checks {
  /** Problems by node, for the canvas. */
  byNode: Record<string, { errors: number; warnings: number }>
  pending: boolean
  error: string | null
}

const NOTHING: State = { valid: true, problems: [], types: {}, inside: {}, handles: {}, byNode: {}, pending: false, error: null }
export const useChecks = create<State>(() => NOTHING)

function count(problems: ProblemOfDocument[]): State['byNode'] {
  const found: State['byNode'] = {}
  for (const problem of problems) {
    if (!problem.node) continue
    const one = (found[problem.node] ??= { errors: 0, warnings: 0 })
    if (problem.severity === 'error') one.errors++
    else one.warnings++
  }
  return found
}

/** Takes over what validation found. Handles of nodes whose config is wrong just now stay as they were. */
export function take(found: Checks): void {
  useChecks.setState((before) => ({
    ...found,
    handles: { ...before.handles, ...found.handles },
    byNode: count(found.problems),
    pending: false,
    error: null,
  }))
}

export const check = (document: WorkflowDocument, signal?: AbortSignal): Promise<Checks> =>
  api('post', '/api/v1/workflows/validate', { body: { document: document as never }, ...(signal ? { signal } : {}) })

const PAUSE = 350

/** Keeps the checks current while the editor is open; gives what ends it. */
export function followDocument(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: AbortController | undefined
  const run = async () => {
    running?.abort()
    running = new AbortController()
    const { signal } = running
    try {
      take(await check(documentNow(), signal))
    } catch (error) {
      if (!signal.aborted) useChecks.setState({ pending: false, error: error instanceof Problem ? error.message : String(error) })
    }
  }
  useChecks.setState(NOTHING)
  void run()
  const stop = useEditor.subscribe((now, before) => {
    if (now.history.present === before.history.present) return
    useChecks.setState({ pending: true })
    clearTimeout(timer)
    timer = setTimeout(() => void run(), PAUSE)
  })
  return () => {
    stop()
    clearTimeout(timer)
    running?.abort()
  }
}

export interface Fix {
  label: string
  document: WorkflowDocument
}

export async function fixesOf(problem: ProblemOfDocument): Promise<Fix[]> {
  const { code, node, field, message, fix } = problem
  const found: { fixes: Fix[] } = await api('post', '/api/v1/workflows/fix', { body: { document: documentNow() as never, problem: { code, node, field, message, fix } } })
  return found.fixes
}

export const applyFix = (fix: Fix): void => edit((document) => ({ ...fix.document, ...(document.ui ? { ui: { ...document.ui, ...fix.document.ui } } : {}) }))

const NONE: Record<string, string> = {}

/** The problems of one node by the path of their field. */
export function problemsOf(problems: ProblemOfDocument[], node: string | null): Record<string, string> {
  const own = problems.filter((problem) => problem.node === node && problem.field)
  if (!own.length) return NONE
  return Object.fromEntries(own.toReversed().map((problem) => [problem.field!, `${problem.message} ${problem.fix ?? ''}`.trim()]))
}
