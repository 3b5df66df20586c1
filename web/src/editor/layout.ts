import type { Body, WorkflowDocument } from './document'
import { geometryOf, JUMP, PAD, type Size } from './geometry'
import { isJump, type Point } from './operations'

type Handles = Readonly<Record<string, readonly string[] | undefined>>

/** Places all nodes from left to right, bodies first, so that containers have their size. Loaded when it is wanted. */
export async function arrange(document: WorkflowDocument, handles: Handles, only?: ReadonlySet<string>): Promise<Record<string, Point>> {
  const { graphlib, layout } = await import('@dagrejs/dagre')
  const made: Record<string, Point> = {}
  const collapsed = new Set(document.ui?.collapsed ?? [])
  const sizes = geometryOf({ ...document, ui: { ...document.ui, positions: {} } }, handles).sizes

  const place = (body: WorkflowDocument | Body, offset: Point): Size => {
    const graph = new graphlib.Graph({ multigraph: true })
    graph.setGraph({ rankdir: 'LR', nodesep: 34, ranksep: 72, marginx: 0, marginy: 0 })
    graph.setDefaultEdgeLabel(() => ({}))
    for (const node of body.nodes) {
      let size = sizes.get(node.id) ?? { width: 232, height: 60 }
      if (node.body && !collapsed.has(node.id)) {
        const inner = place(node.body, [PAD.side, PAD.top])
        size = { width: Math.max(360, inner.width + 2 * PAD.side), height: Math.max(190, inner.height + PAD.top + PAD.bottom) }
      }
      if (!only || only.has(node.id)) graph.setNode(node.id, { ...size })
    }
    for (const edge of body.edges ?? []) {
      if (!isJump(edge.to) && graph.hasNode(edge.from) && graph.hasNode(edge.to)) graph.setEdge(edge.from, edge.to, {}, `${edge.handle ?? 'out'}`)
    }
    layout(graph)
    let [right, low] = [0, 0]
    for (const id of graph.nodes()) {
      const at = graph.node(id) as { x: number; y: number; width: number; height: number }
      made[id] = [Math.round(at.x - at.width / 2 + offset[0]), Math.round(at.y - at.height / 2 + offset[1])]
      right = Math.max(right, at.x + at.width / 2)
      low = Math.max(low, at.y + at.height / 2)
    }
    const jumps = new Set((body.edges ?? []).map((edge) => edge.to).filter(isJump)).size
    return { width: right + (jumps ? 60 + JUMP.width : 0), height: Math.max(low, jumps * 48) }
  }
  place(document, [0, 0])
  if (!only) return made
  // A part keeps its place: its corner stays where it was.
  const before = document.ui?.positions ?? {}
  const chosen = [...only].filter((id) => made[id])
  const corner = (of: Record<string, Point | undefined>, axis: 0 | 1) => Math.min(...chosen.map((id) => of[id]?.[axis] ?? 0))
  const shift: Point = [corner(before, 0) - corner(made, 0), corner(before, 1) - corner(made, 1)]
  return Object.fromEntries(chosen.map((id) => [id, [made[id]![0] + shift[0], made[id]![1] + shift[1]] as Point]))
}

/** Whether a document came without places for all of its nodes. */
export function needsPlaces(document: WorkflowDocument): boolean {
  const positions = document.ui?.positions ?? {}
  return geometryOf(document, {}).steps.some(({ node }) => !positions[node.id])
}
