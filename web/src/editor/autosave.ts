import { create } from 'zustand'
import { api, Problem } from '@/api/client'
import type { Pushed } from '@/api/workflows'
import { t } from '@/i18n/t'
import type { WorkflowDocument } from './document'
import { documentNow, edit, useEditor } from './store'

export interface Draft {
  document: WorkflowDocument
  revision: number
  base_version: number | null
  updated_at: number
  updated_by: string
}

interface Saving {
  state: 'kept' | 'waiting' | 'saving' | 'saved' | 'failed' | 'conflict'
  at: number | null
  error: string
  /** What somebody else has written meanwhile. */
  theirs: Draft | null
}

/** One workflow while it is open. Writes carry it along: they may end when another one is open already. */
interface Place {
  workflow: string
  version: number | null
  /** The document that the server has as version. */
  kept: WorkflowDocument | null
  /** Of the draft that was seen last; null where there is none. */
  revision: number | null
  conflict: boolean
  open: boolean
  /** Writes that failed one after the other. */
  failures: number
}

const FIRST: Saving = { state: 'kept', at: null, error: '', theirs: null }
export const useSaving = create<Saving>(() => FIRST)

const PAUSE = 900
const LONGEST_PAUSE = 60_000
let pending: Promise<void> = Promise.resolve()
let here: Place | null = null
let retry: ReturnType<typeof setTimeout> | undefined
/** What could not be written before its workflow was left: tried again before one is opened. */
const left = new Map<Place, WorkflowDocument>()

/** Shows how a place stands, if it is the one that is open. */
const say = (place: Place, more: Partial<Saving>): void => {
  if (place === here && place.open) useSaving.setState(more)
}

async function write(place: Place, document: WorkflowDocument): Promise<void> {
  if (place.conflict) return
  say(place, { state: 'saving' })
  const path = { workflow: place.workflow }
  try {
    if (document === place.kept) {
      // Undone back to the version: what was saved of it before must not come back with the next visit.
      if (place.revision !== null) await api('delete', '/api/v1/workflows/{workflow}/draft', { path, query: { seen: place.revision } })
      place.revision = null
      say(place, { ...FIRST, state: documentNow() === document ? 'kept' : 'waiting' })
    } else {
      const found: { draft: Draft } = await api('put', '/api/v1/workflows/{workflow}/draft', { path, body: { document: document as never, seen: place.revision, base_version: place.version } })
      place.revision = found.draft.revision
      say(place, { state: documentNow() === document ? 'saved' : 'waiting', at: found.draft.updated_at, error: '' })
    }
    place.failures = 0
    left.delete(place)
  } catch (error) {
    failed(place, document, error)
  }
}

function failed(place: Place, document: WorkflowDocument, error: unknown): void {
  if (conflicting(place, error)) {
    left.delete(place)
    return
  }
  say(place, { state: 'failed', error: error instanceof Error ? error.message : String(error) })
  const passes = error instanceof Problem && (error.status === 0 || error.status >= 500 || [401, 408, 425, 429].includes(error.status))
  if (!passes) left.delete(place)
  else if (!place.open) left.set(place, document)
  else if (place === here) {
    clearTimeout(retry)
    retry = setTimeout(() => void saveNow(place), Math.min(2_000 * 2 ** place.failures++, LONGEST_PAUSE))
  }
}

function conflicting(place: Place, error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== 'draft_conflict') return false
  place.conflict = true
  say(place, { state: 'conflict', error: error.message, theirs: (error.more.current as Draft | undefined) ?? null })
  return true
}

/** The workflow that is open, for whoever has something to save of it later. */
export const placeNow = (): Place | null => here

/** One write after the other: a later one must know the revision of the earlier. What is written is what stands now. */
export function saveNow(place = here, document = documentNow()): Promise<void> {
  if (place) pending = pending.then(() => write(place, document))
  return pending
}

/** Ends when all that was to be saved of other visits is written, or cannot be. */
export function settled(): Promise<void> {
  for (const [place, document] of left) void saveNow(place, document)
  return pending
}

/** Keeps the draft current while the editor is open; gives what ends it. */
export function followDraft(revision: number | null, at: number | null): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const { workflow, version, kept } = useEditor.getState()
  const place: Place = { workflow, version, kept, revision, conflict: false, open: true, failures: 0 }
  here = place
  useSaving.setState({ ...FIRST, at, state: revision === null ? 'kept' : 'saved' })
  const stop = useEditor.subscribe((now, before) => {
    if (now.history.present === before.history.present || now.workflow !== before.workflow) return
    if (!place.conflict) useSaving.setState({ state: 'waiting' })
    clearTimeout(timer)
    timer = setTimeout(() => void saveNow(place), PAUSE)
  })
  const leave = (event: BeforeUnloadEvent) => {
    if (['waiting', 'saving', 'failed', 'conflict'].includes(useSaving.getState().state)) event.preventDefault()
  }
  window.addEventListener('beforeunload', leave)
  return () => {
    window.removeEventListener('beforeunload', leave)
    stop()
    clearTimeout(timer)
    clearTimeout(retry)
    if (['waiting', 'saving', 'failed'].includes(useSaving.getState().state)) void saveNow(place)
    place.open = false
  }
}

/** Ends a conflict: their draft is taken over as a step that can be undone, or written over. */
export async function resolveConflict(whose: 'mine' | 'theirs'): Promise<void> {
  const { theirs } = useSaving.getState()
  if (here) Object.assign(here, { conflict: false, revision: theirs?.revision ?? null })
  useSaving.setState({ state: 'waiting', theirs: null, error: '' })
  if (whose === 'theirs' && theirs) edit(() => theirs.document)
  await saveNow()
}

/** Makes the document a version by `post`, which ends the draft; one that was not seen here stays, and is a conflict. */
export function asVersion(post: (workflow: string, document: WorkflowDocument, seen: number | null) => Promise<Pushed>): Promise<Pushed> {
  const place = here
  const document = documentNow()
  if (!place) return Promise.reject(new Error('no workflow is open'))
  const made = saveNow().then(async () => {
    if (place.conflict) throw new Error(t('editor.conflict', { who: useSaving.getState().theirs?.updated_by ?? '?' }))
    try {
      const pushed = await post(place.workflow, document, place.revision)
      Object.assign(place, { version: pushed.version, kept: document, revision: null })
      if (place === here && place.open) useEditor.setState({ kept: document, version: pushed.version })
      // What was typed meanwhile is not part of it.
      say(place, { ...FIRST, state: documentNow() === document ? 'kept' : 'waiting' })
      return pushed
    } catch (error) {
      conflicting(place, error)
      throw error
    }
  })
  pending = made.then(
    () => undefined,
    () => undefined,
  )
  return made
}
