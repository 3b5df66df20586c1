import { api } from '@/api/client'
import { t } from '@/i18n/t'
import { useRun, watchRun } from '@/runs/store'
import { failed } from '@/ui/toasts'
import { create } from 'zustand'
import type { WorkflowDocument } from './document'
import { documentNow, set, useEditor } from './store'

interface Wish {
  open: boolean
  until: string | null
  /** What was given last, by workflow: the form begins with it. */
  last: Record<string, Record<string, unknown>>
  busy: boolean
}

export const useWish = create<Wish>(() => ({ open: false, until: null, last: {}, busy: false }))

const asksForInputs = (document: WorkflowDocument): boolean => Object.keys(document.inputs?.properties ?? {}).length > 0

/** Runs the document as it stands; asks for inputs where the workflow has some. */
export async function runNow(): Promise<void> {
  if (asksForInputs(documentNow())) useWish.setState({ open: true, until: null })
  else await start({}, null)
}

/** Runs up to a node, with what was given last where that is known. */
export async function runUntil(node: string): Promise<void> {
  const { last } = useWish.getState()
  const known = last[useEditor.getState().workflow]
  if (asksForInputs(documentNow()) && !known) useWish.setState({ open: true, until: node })
  else await start(known ?? {}, node)
}

interface Started {
  run_id: string
}

export async function start(inputs: Record<string, unknown>, until: string | null): Promise<void> {
  const { workflow } = useEditor.getState()
  useWish.setState((state) => ({ busy: true, last: { ...state.last, [workflow]: inputs } }))
  try {
    const made: Started = await api('post', '/api/v1/workflows/{workflow}/run', {
      path: { workflow },
      body: { document: documentNow() as never, inputs, test: true, via: 'direct', ...(until === null ? {} : { until }) } as never,
    })
    watchRun(made.run_id, true)
    set({ bottom: 'run' })
    useWish.setState({ open: false })
  } finally {
    useWish.setState({ busy: false })
  }
}

/** The same where nobody catches what fails: it is said in a corner. */
export const starting = (work: Promise<void>): void => void work.catch((error: unknown) => failed(t('editor.run_failed'), error))

/** Runs again from a node on; what came before is taken from the run that is shown. */
export async function replayFrom(node: string, changes: Record<string, unknown>): Promise<void> {
  const { runId } = useRun.getState()
  if (runId === null) return
  const made: Started = await api('post', '/api/v1/runs/{run_id}/replay', {
    path: { run_id: runId },
    body: { from: node, set: changes, document: documentNow() as never } as never,
  })
  watchRun(made.run_id, useRun.getState().test)
}

export async function loadPins(): Promise<void> {
  const { workflow } = useEditor.getState()
  const found: { pins: Record<string, Record<string, unknown>> } = await api('get', '/api/v1/workflows/{workflow}/pins', { path: { workflow } })
  showPins(found.pins)
}

const showPins = (pins: Record<string, Record<string, unknown>>) =>
  useRun.setState({ pins: Object.fromEntries(Object.entries(pins).map(([key, outputs]) => [key.split(':')[0]!, outputs])) })

export async function pin(node: string, outputs: Record<string, unknown>, handle: string | null): Promise<void> {
  const { workflow } = useEditor.getState()
  const found: { pins: Record<string, Record<string, unknown>> } = await api('put', '/api/v1/workflows/{workflow}/pins/{node}', {
    path: { workflow, node },
    body: { outputs, ...(handle === null || handle === 'out' ? {} : { handle }) } as never,
  })
  showPins(found.pins)
}

export async function unpin(node: string): Promise<void> {
  const { workflow } = useEditor.getState()
  await api('delete', '/api/v1/workflows/{workflow}/pins/{node}', { path: { workflow, node } })
  await loadPins()
}
