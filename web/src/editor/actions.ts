import type { NodeType } from './catalogue'
import { firstConfig } from './catalogue'
import { copyText, paste, readClip } from './clipboard'
import { useChecks } from './checks'
import type { EdgeSpec, NodeSpec, WorkflowDocument } from './document'
import { geometryOf, HEAD, PAD, WIDTH, type Geometry } from './geometry'
import { arrange } from './layout'
import * as operations from './operations'
import type { Container, Point } from './operations'
import { documentNow, edit, removeSelected, select, useEditor, type AddRequest } from './store'

const GAP = 72

/** Where the canvas looks, told by it; new steps without a place appear there. */
export const view: { centre: () => Point; show: (ids: string[], zoom?: boolean) => void } = { centre: () => [0, 0], show: () => undefined }

const handlesOf = (type: NodeType): string | null => (type.type === 'END' ? null : (type.handles.find((handle) => handle !== 'error') ?? null))

function made(document: WorkflowDocument, type: NodeType): NodeSpec {
  const id = operations.freeId(operations.ids(document), type.type.toLowerCase())
  const node: NodeSpec = { id, type: type.type }
  const config = firstConfig(type)
  if (Object.keys(config).length) node.config = config
  if (type.body) node.body = { nodes: [], edges: [] }
  return node
}

/** The place nearest below another where a step of common size hides none. */
function free(geometry: Geometry, [x, y]: Point): Point {
  const hidden = (at: number) =>
    geometry.steps.some(({ container, position, size }) => container === null && position[0] < x + WIDTH + GAP / 2 && position[0] + size.width > x - GAP / 2 && position[1] < at + HEAD + GAP / 2 && position[1] + size.height > at - GAP / 2)
  let at = y
  while (hidden(at)) at += HEAD / 2
  return [x, at]
}

/** Makes room to the right of a place: everything there moves by the width of a step. */
function spread(document: WorkflowDocument, container: Container, after: string, from: number, by: number): WorkflowDocument {
  const body = container === null ? document : operations.find(document, container)?.node.body
  const positions = document.ui?.positions ?? {}
  const downstream = new Set<string>()
  const waiting = [after]
  while (waiting.length) {
    const id = waiting.pop()!
    if (downstream.has(id)) continue
    downstream.add(id)
    for (const edge of body?.edges ?? []) if (edge.from === id) waiting.push(edge.to)
  }
  const moved: Record<string, Point> = {}
  for (const id of downstream) {
    const at = positions[id]
    if (at && at[0] < from + by + GAP && at[0] + 1 >= from) moved[id] = [at[0] + by, at[1]]
    else if (at && at[0] >= from) moved[id] = [at[0] + by, at[1]]
  }
  return operations.place(document, moved)
}

/** Adds a step where it was asked for, joined to what is there, and chooses it. */
export function addStep(type: NodeType, request: AddRequest): string {
  const document = documentNow()
  const geometry = geometryOf(document, useChecks.getState().handles)
  const placed = (id: string) => geometry.steps.find((step) => step.node.id === id)
  let next = document
  let container: Container = null
  let node: NodeSpec
  if (request.kind === 'free') {
    container = request.container
    node = made(document, type)
    const inner = container === null ? null : operations.find(document, container)?.node.body
    const at = request.at ?? (inner ? ([PAD.side + inner.nodes.length * (WIDTH + GAP), PAD.top] as Point) : free(geometry, view.centre()))
    next = operations.addNode(next, container, node, at)
    if (inner && !request.at) {
      // A new step of a body follows its last one; most bodies are lines.
      const last = operations.inOrder(inner).at(-1)
      if (last) next = operations.connect(next, { from: last.id, to: node.id })
    }
  } else if (request.kind === 'after') {
    const source = placed(request.node)
    container = operations.find(document, request.node)?.container ?? null
    node = made(document, type)
    const row = source?.handles.indexOf(request.handle) ?? 0
    const siblings = (operations.find(document, request.node)?.body.edges ?? []).filter((edge) => edge.from === request.node).length
    const at: Point = source ? [source.position[0] + source.size.width + GAP, source.position[1] + Math.max(row, siblings) * 90] : [0, 0]
    next = operations.connect(operations.addNode(next, container, node, at), { from: request.node, handle: request.handle, to: node.id })
  } else {
    const [source, target] = [placed(request.edge.from), placed(request.edge.to)]
    container = operations.find(document, request.edge.from)?.container ?? null
    node = made(document, type)
    const left = source ? source.position[0] + source.size.width + GAP : 0
    const width = type.body ? 360 : 232
    if (target && target.position[0] < left + width + GAP) next = spread(next, container, request.edge.to, target.position[0], left + width + GAP - target.position[0])
    next = operations.addNode(next, container, node, [left, target ? Math.min(target.position[1], source?.position[1] ?? 0) : (source?.position[1] ?? 0)])
    next = operations.insertOn(next, request.edge, node.id, handlesOf(type))
  }
  edit(() => next, null, { adding: null, selected: new Set([node.id]), selectedEdges: new Set(), tab: 'settings' })
  requestAnimationFrame(() => view.show([node.id]))
  return node.id
}

export function join(edge: EdgeSpec): boolean {
  const document = documentNow()
  if (!operations.isJump(edge.to) && operations.closesCircle(document, edge.from, edge.to)) return false
  edit((now) => operations.connect(now, edge))
  return true
}

/** Moves an edge to other ends. */
export function rejoin(before: EdgeSpec, after: EdgeSpec): void {
  edit((document) => operations.connect(operations.disconnect(document, new Set([operations.edgeKey(before)])), after))
}

export async function tidy(): Promise<void> {
  const document = documentNow()
  const { selected } = useEditor.getState()
  const positions = await arrange(document, useChecks.getState().handles, selected.size > 1 ? selected : undefined)
  edit((now) => operations.place(now, positions))
  requestAnimationFrame(() => view.show(selected.size > 1 ? [...selected] : [], true))
}

export async function copySelected(): Promise<boolean> {
  const text = copyText(documentNow(), useEditor.getState().selected)
  if (text === null) return false
  await navigator.clipboard.writeText(text)
  return true
}

/** Pastes nodes from text into the container of the chosen node, or where the canvas looks. */
export function pasteText(text: string, at: Point | null = null): boolean {
  const clip = readClip(text)
  if (!clip) return false
  const { selected } = useEditor.getState()
  const document = documentNow()
  const one = selected.size === 1 ? operations.find(document, [...selected][0]!) : undefined
  const container = one?.node.body ? one.node.id : (one?.container ?? null)
  const result = paste(document, clip, container, at)
  edit(() => result.document)
  select(result.added)
  return true
}

export function duplicateSelected(): void {
  const document = documentNow()
  const { selected } = useEditor.getState()
  const text = copyText(document, selected)
  const clip = text === null ? null : readClip(text)
  const first = [...selected].map((id) => operations.find(document, id)).find(Boolean)
  if (!clip || !first) return
  const result = paste(document, clip, first.container, null)
  edit(() => result.document)
  select(result.added)
}

export async function cutSelected(): Promise<void> {
  if (await copySelected()) removeSelected()
}

export function addNote(at: Point = view.centre()): void {
  edit((document) =>
    operations.withUi(document, (ui) => {
      const notes = ui.notes ?? []
      const id = operations.freeId(new Set(notes.map((note) => note.id)), 'note')
      return { ...ui, notes: [...notes, { id, text: '', position: [Math.round(at[0]), Math.round(at[1])], size: [240, 120] }] }
    }),
  )
}

export function toggleOpen(container: string): void {
  edit((document) =>
    operations.withUi(document, (ui) => {
      const collapsed = ui.collapsed ?? []
      return { ...ui, collapsed: collapsed.includes(container) ? collapsed.filter((id) => id !== container) : [...collapsed, container] }
    }),
  )
}
