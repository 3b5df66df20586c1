import type { Edge, Node } from '@xyflow/react'
import type { EdgeSpec, Note, WorkflowDocument } from './document'
import type { Geometry, Placed } from './geometry'
import { edgeKey, handleOf, isJump, walk } from './operations'
import type { StepData, StepFlowNode } from './StepNode'

export type NoteFlowNode = Node<{ note: Note }, 'note'>
export type JumpFlowNode = Node<{ target: string }, 'jump'>
export type FlowNode = StepFlowNode | NoteFlowNode | JumpFlowNode
export type FlowEdge = Edge<{ edge: EdgeSpec }, 'step'>
export type Mark = StepData['mark']

const sameList = (one: readonly string[], other: readonly string[]): boolean => one.length === other.length && one.every((entry, index) => entry === other[index])

const unchanged = (node: FlowNode | undefined, placed: Placed, selected: boolean, mark: Mark): node is StepFlowNode =>
  node?.type === 'step' &&
  node.data.spec === placed.node &&
  node.data.open === placed.open &&
  node.data.mark === mark &&
  sameList(node.data.handles, placed.handles) &&
  node.position.x === placed.position[0] &&
  node.position.y === placed.position[1] &&
  node.width === placed.size.width &&
  node.height === placed.size.height &&
  node.selected === selected

/** The canvas' nodes. What did not change stays the same object, so that it is not drawn again. */
export function flowNodes(geometry: Geometry, notes: readonly Note[], selected: ReadonlySet<string>, before: readonly FlowNode[], marks: Readonly<Record<string, Mark>> = {}): FlowNode[] {
  const known = new Map(before.map((node) => [node.id, node]))
  const steps = geometry.steps.map((placed): FlowNode => {
    const { node, position, size, handles, container, open } = placed
    const old = known.get(node.id)
    const chosen = selected.has(node.id)
    if (unchanged(old, placed, chosen, marks[node.id])) return old
    return {
      id: node.id,
      type: 'step',
      position: { x: position[0], y: position[1] },
      width: size.width,
      height: size.height,
      selected: chosen,
      ariaLabel: `${node.label ?? node.id}, ${node.type}`,
      data: { spec: node, handles, open, ...(marks[node.id] ? { mark: marks[node.id] } : {}) },
      ...(container === null ? {} : { parentId: container }),
      ...(node.body && open ? { dragHandle: undefined, zIndex: -1 } : {}),
    } as StepFlowNode
  })
  const jumps = geometry.jumps.map(
    (jump): JumpFlowNode => ({ id: jump.id, type: 'jump', parentId: jump.container, position: { x: jump.position[0], y: jump.position[1] }, draggable: false, selectable: false, deletable: false, data: { target: jump.target } }),
  )
  const papers = notes.map((note): NoteFlowNode => {
    const id = `note:${note.id}`
    const old = known.get(id)
    const chosen = selected.has(id)
    if (old?.type === 'note' && old.data.note === note && old.selected === chosen) return old
    return { id, type: 'note', position: { x: note.position[0], y: note.position[1] }, width: note.size?.[0] ?? 240, height: note.size?.[1] ?? 120, selected: chosen, zIndex: -2, data: { note } }
  })
  return [...papers, ...steps, ...jumps]
}

/** All edges, those of folded bodies left out. */
export function flowEdges(document: WorkflowDocument, geometry: Geometry, selected: ReadonlySet<string>, before: readonly FlowEdge[]): FlowEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]))
  const drawn = new Set(geometry.steps.map((step) => step.node.id))
  const found: FlowEdge[] = []
  const add = (edges: readonly EdgeSpec[] | undefined, container: string | null) => {
    for (const edge of edges ?? []) {
      const target = isJump(edge.to) ? `${container}/${edge.to}` : edge.to
      if (!drawn.has(edge.from) || !(isJump(edge.to) ? container !== null : drawn.has(edge.to))) continue
      const id = edgeKey(edge)
      const old = known.get(id)
      const chosen = selected.has(id)
      if (old && old.data!.edge === edge && old.selected === chosen && old.target === target) found.push(old)
      else found.push({ id, type: 'step', source: edge.from, target, sourceHandle: handleOf(edge), data: { edge }, selected: chosen, ariaLabel: `${edge.from} ${handleOf(edge)} → ${edge.to}` })
    }
  }
  add(document.edges, null)
  for (const { node } of walk(document)) if (node.body && drawn.has(node.id)) add(node.body.edges, node.id)
  return found
}
