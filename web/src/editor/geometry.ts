import type { Body, NodeSpec, WorkflowDocument } from './document'
import { isJump, type Point } from './operations'

/** Sizes are computed, not measured: layout, containers and culling know them before anything is drawn. */
export const WIDTH = 232
export const HEAD = 58
export const ROW = 24
export const PAD = { top: 62, side: 28, bottom: 28 }
export const EMPTY_BODY = { width: 360, height: 190 }
export const JUMP = { width: 104, height: 30 }

export interface Size {
  width: number
  height: number
}

/** The handles that are drawn: `error` only where it is used or asked for. */
export function shownHandles(node: NodeSpec, handles: readonly string[] | undefined, used: ReadonlySet<string>): string[] {
  const known = (handles ?? ['out']).filter((handle) => handle !== 'error')
  const extra = [...used].filter((handle) => handle !== 'error' && !known.includes(handle))
  const error = node.on_error === 'branch' || used.has('error') ? ['error'] : []
  return node.type === 'END' ? [] : [...known, ...extra, ...error]
}

/** Handles have rows of their own where there are several, or one that is not `out`. */
export const hasRows = (handles: readonly string[]): boolean => handles.length > 1 || (handles.length === 1 && handles[0] !== 'out')

export function stepSize(handles: readonly string[]): Size {
  return { width: WIDTH, height: HEAD + (hasRows(handles) ? handles.length * ROW + 8 : 0) }
}

export function usedHandles(body: WorkflowDocument | Body): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const edge of body.edges ?? []) {
    const handles = found.get(edge.from) ?? new Set()
    handles.add(edge.handle ?? 'out')
    found.set(edge.from, handles)
  }
  return found
}

export interface Placed {
  node: NodeSpec
  position: Point
  size: Size
  handles: string[]
  container: string | null
  depth: number
  open: boolean
}

export interface Jump {
  id: string
  target: string
  container: string
  position: Point
}

export interface Geometry {
  steps: Placed[]
  jumps: Jump[]
  sizes: Map<string, Size>
}

type Handles = Readonly<Record<string, readonly string[] | undefined>>

/** Where everything stands; containers are as large as what is in them. Outer nodes come before inner ones. */
export function geometryOf(document: WorkflowDocument, handles: Handles): Geometry {
  const positions = document.ui?.positions ?? {}
  const collapsed = new Set(document.ui?.collapsed ?? [])
  const found: Geometry = { steps: [], jumps: [], sizes: new Map() }
  const visit = (body: WorkflowDocument | Body, container: string | null, depth: number): Size => {
    const used = usedHandles(body)
    let [right, low] = [0, 0]
    body.nodes.forEach((node, index) => {
      const shown = shownHandles(node, handles[node.id], used.get(node.id) ?? new Set())
      const position = positions[node.id] ?? ([container === null ? index * 300 : PAD.side + index * 270, container === null ? 0 : PAD.top] as Point)
      const open = Boolean(node.body) && !collapsed.has(node.id)
      const at = found.steps.length
      let size = stepSize(shown)
      found.steps.push({ node, position, size, handles: shown, container, depth, open })
      if (node.body && open) {
        const inner = visit(node.body, node.id, depth + 1)
        size = { width: Math.max(EMPTY_BODY.width, inner.width + PAD.side), height: Math.max(EMPTY_BODY.height, inner.height + PAD.bottom) }
        found.steps[at]!.size = size
      }
      found.sizes.set(node.id, size)
      right = Math.max(right, position[0] + size.width)
      low = Math.max(low, position[1] + size.height)
    })
    if (container !== null) {
      for (const target of new Set((body.edges ?? []).map((edge) => edge.to).filter(isJump))) {
        const position: Point = [right + 60, PAD.top + found.jumps.filter((jump) => jump.container === container).length * 48]
        found.jumps.push({ id: `${container}/${target}`, target, container, position })
        low = Math.max(low, position[1] + JUMP.height)
      }
      if (found.jumps.some((jump) => jump.container === container)) right += 60 + JUMP.width
    }
    return { width: right, height: low }
  }
  visit(document, null, 0)
  return found
}
