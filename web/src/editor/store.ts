import { create } from 'zustand'
import type { EdgeSpec, NodeSpec, WorkflowDocument } from './document'
import { begin, change, redo, undo, type History } from './history'
import type { Container, Point } from './operations'
import * as operations from './operations'

/** What the dialog for a new step is asked for: where the step goes when it is chosen. */
export type AddRequest =
  | { kind: 'free'; container: Container; at: Point | null }
  | { kind: 'after'; node: string; handle: string }
  | { kind: 'edge'; edge: EdgeSpec }

export type Bottom = 'problems' | 'run' | null
export type Side = 'add' | 'outline' | 'versions' | null

interface EditorState {
  workflow: string
  version: number | null
  publishedVersion: number | null
  history: History<WorkflowDocument>
  /** The document that the server has as version, to say whether anything differs. */
  kept: WorkflowDocument | null
  selected: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
  adding: AddRequest | null
  connecting: string | null
  renaming: string | null
  side: Side
  bottom: Bottom
  yaml: boolean
  tab: 'settings' | 'data'
  help: boolean
}

const EMPTY: WorkflowDocument = { name: '', nodes: [], edges: [] }
const NOTHING: ReadonlySet<string> = new Set()

const first: EditorState = {
  workflow: '',
  version: null,
  publishedVersion: null,
  history: begin(EMPTY),
  kept: null,
  selected: NOTHING,
  selectedEdges: NOTHING,
  adding: null,
  connecting: null,
  renaming: null,
  side: 'add',
  bottom: null,
  yaml: false,
  tab: 'settings',
  help: false,
}

export const useEditor = create<EditorState>(() => first)

export const documentNow = (): WorkflowDocument => useEditor.getState().history.present
export const useDocument = (): WorkflowDocument => useEditor((state) => state.history.present)

/** Opens a document: no history, nothing chosen. */
export function open(workflow: string, document: WorkflowDocument, more: Partial<EditorState>): void {
  const { side, yaml } = useEditor.getState()
  useEditor.setState({ ...first, side, yaml, workflow, history: begin(document), ...more })
}

/** Changes the document. Changes of one group within a moment are one step back. */
export function edit(make: (document: WorkflowDocument) => WorkflowDocument, group: string | null = null, more: Partial<EditorState> = {}): void {
  useEditor.setState((state) => {
    const history = change(state.history, make(state.history.present), group, Date.now())
    return { ...more, history }
  })
}

const step = (move: (history: History<WorkflowDocument>) => History<WorkflowDocument>) => () =>
  useEditor.setState((state) => {
    const history = move(state.history)
    const left = operations.ids(history.present)
    return { history, selected: new Set([...state.selected].filter((id) => left.has(id))), selectedEdges: NOTHING }
  })

export const goBack = step(undo)
export const goForward = step(redo)

export function select(nodes: Iterable<string>, edges: Iterable<string> = []): void {
  useEditor.setState({ selected: new Set(nodes), selectedEdges: new Set(edges) })
}

export const set = (more: Partial<EditorState>): void => useEditor.setState(more)

/** The one node that is chosen, if it is one. */
export const useSelected = (): NodeSpec | undefined =>
  useEditor((state) => {
    if (state.selected.size !== 1) return undefined
    return operations.find(state.history.present, [...state.selected][0]!)?.node
  })

export const update = (id: string, make: (node: NodeSpec) => NodeSpec, group: string | null = null): void => edit((document) => operations.updateNode(document, id, make), group)

export function removeSelected(): void {
  const { selected, selectedEdges } = useEditor.getState()
  const notes = [...selected].filter((id) => id.startsWith('note:'))
  edit(
    (document) => {
      const left = operations.remove(operations.disconnect(document, selectedEdges), new Set([...selected].filter((id) => !id.startsWith('note:'))))
      if (!notes.length) return left
      return operations.withUi(left, (ui) => ({ ...ui, notes: (ui.notes ?? []).filter((note) => !notes.includes(`note:${note.id}`)) }))
    },
    null,
    { selected: NOTHING, selectedEdges: NOTHING },
  )
}
