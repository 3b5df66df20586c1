import type { Body, EdgeSpec, NodeSpec, UiData, WorkflowDocument } from './document'

/** Pure edits of a document. A container is named by its node's id; null is the document itself. */
export type Container = string | null
export type Point = [number, number]

export const JUMPS = ['$break', '$continue'] as const
export const isJump = (id: string): boolean => id.startsWith('$')
export const handleOf = (edge: EdgeSpec): string => edge.handle ?? 'out'
export const edgeKey = (edge: EdgeSpec): string => `${edge.from} ${handleOf(edge)} ${edge.to}`

export function* walk(document: WorkflowDocument | Body, container: Container = null): Generator<{ node: NodeSpec; container: Container; body: WorkflowDocument | Body }> {
  for (const node of document.nodes) {
    yield { node, container, body: document }
    if (node.body) yield* walk(node.body, node.id)
  }
}

export function find(document: WorkflowDocument, id: string): { node: NodeSpec; container: Container; body: WorkflowDocument | Body } | undefined {
  for (const found of walk(document)) if (found.node.id === id) return found
  return undefined
}

export const ids = (document: WorkflowDocument): Set<string> => new Set([...walk(document)].map(({ node }) => node.id))

/** The containers around a node, inside out. */
export function around(document: WorkflowDocument, id: string): string[] {
  const found: string[] = []
  for (let here = find(document, id)?.container ?? null; here !== null; here = find(document, here)?.container ?? null) found.push(here)
  return found
}

/** Changes one container; everything that is not touched stays the same object. */
export function inContainer<D extends WorkflowDocument | Body>(document: D, container: Container, change: (body: D | Body) => Partial<Body>): D {
  if (container === null) return { ...document, ...change(document) }
  let touched = false
  const nodes = document.nodes.map((node) => {
    if (touched || !node.body) return node
    if (node.id === container) {
      touched = true
      return { ...node, body: { ...node.body, ...change(node.body) } }
    }
    const inner = inContainer(node.body, container, change as (body: Body) => Partial<Body>)
    if (inner === node.body) return node
    touched = true
    return { ...node, body: inner }
  })
  return touched ? { ...document, nodes } : document
}

export function updateNode(document: WorkflowDocument, id: string, change: (node: NodeSpec) => NodeSpec): WorkflowDocument {
  const found = find(document, id)
  if (!found) return document
  return inContainer(document, found.container, (body) => ({ nodes: body.nodes.map((node) => (node.id === id ? change(node) : node)) }))
}

export function withUi(document: WorkflowDocument, change: (ui: UiData) => UiData): WorkflowDocument {
  return { ...document, ui: change(document.ui ?? {}) }
}

export const place = (document: WorkflowDocument, positions: Record<string, Point>): WorkflowDocument =>
  withUi(document, (ui) => ({ ...ui, positions: { ...ui.positions, ...positions } }))

/** An id that is free, made of a wanted one: `http`, `http_2` … */
export function freeId(taken: ReadonlySet<string>, wanted: string): string {
  const base = wanted.replace(/\W/g, '_').replace(/^(?=\d)/, '_').slice(0, 60) || 'step'
  if (!taken.has(base)) return base
  const stem = base.replace(/_\d+$/, '')
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`
}

export function addNode(document: WorkflowDocument, container: Container, node: NodeSpec, at: Point): WorkflowDocument {
  return place(inContainer(document, container, (body) => ({ nodes: [...body.nodes, node] })), { [node.id]: at })
}

export function connect(document: WorkflowDocument, edge: EdgeSpec): WorkflowDocument {
  const source = find(document, edge.from)
  if (!source || (!isJump(edge.to) && find(document, edge.to)?.container !== source.container)) return document
  if (edge.from === edge.to || source.body.edges?.some((one) => edgeKey(one) === edgeKey(edge))) return document
  const made = handleOf(edge) === 'out' ? { from: edge.from, to: edge.to } : edge
  return inContainer(document, source.container, (body) => ({ edges: [...(body.edges ?? []), made] }))
}

export function disconnect(document: WorkflowDocument, keys: ReadonlySet<string>): WorkflowDocument {
  let next = document
  for (const container of [null, ...[...walk(document)].filter(({ node }) => node.body).map(({ node }) => node.id)]) {
    const body = container === null ? next : find(next, container)?.node.body
    if (body?.edges?.some((edge) => keys.has(edgeKey(edge)))) {
      next = inContainer(next, container, (one) => ({ edges: one.edges.filter((edge) => !keys.has(edgeKey(edge))) }))
    }
  }
  return next
}

/** Removes nodes with their edges; where one stood between others, what came before is joined to what came after. */
export function remove(document: WorkflowDocument, gone: ReadonlySet<string>): WorkflowDocument {
  let next = document
  for (const id of gone) {
    const found = find(next, id)
    if (!found || found.node.type === 'START') continue
    next = inContainer(next, found.container, (body) => {
      const edges = body.edges ?? []
      const before = edges.filter((edge) => edge.to === id)
      const after = edges.filter((edge) => edge.from === id && handleOf(edge) !== 'error')
      const targets = [...new Set(after.map((edge) => edge.to))]
      const kept = edges.filter((edge) => edge.from !== id && edge.to !== id)
      const known = new Set(kept.map(edgeKey))
      const healed = targets.length === 1 ? before.map((edge) => ({ ...edge, to: targets[0]! })).filter((edge) => !known.has(edgeKey(edge))) : []
      return { nodes: body.nodes.filter((node) => node.id !== id), edges: [...kept, ...healed] }
    })
  }
  return withUi(next, (ui) => {
    const left = ids(next)
    return { ...ui, positions: Object.fromEntries(Object.entries(ui.positions ?? {}).filter(([id]) => left.has(id))) }
  })
}

/** Puts a node onto an edge: the edge ends at it, and its first handle goes on to where the edge went. */
export function insertOn(document: WorkflowDocument, edge: EdgeSpec, id: string, handle: string | null): WorkflowDocument {
  const source = find(document, edge.from)
  if (!source) return document
  return inContainer(document, source.container, (body) => ({
    edges: body.edges.flatMap((one) => {
      if (edgeKey(one) !== edgeKey(edge)) return [one]
      const first = { ...one, to: id }
      if (handle === null) return [first]
      return [first, handle === 'out' ? { from: id, to: one.to } : { from: id, handle, to: one.to }]
    }),
  }))
}

/** The nodes that are decided before one, outer ones included: what its expressions may read. */
export function upstream(document: WorkflowDocument, id: string): Set<string> {
  const found = new Set<string>()
  for (let here: string | null = id; here !== null; here = find(document, here)?.container ?? null) {
    const body = find(document, here)?.body
    const waiting = [here]
    while (waiting.length) {
      const target = waiting.pop()!
      for (const edge of body?.edges ?? []) {
        if (edge.to === target && !found.has(edge.from)) {
          found.add(edge.from)
          waiting.push(edge.from)
        }
      }
    }
  }
  found.delete(id)
  return found
}

/** Whether joining two nodes would close a circle. */
export function closesCircle(document: WorkflowDocument, from: string, to: string): boolean {
  return from === to || upstream(document, from).has(to)
}

/** Nodes in the order in which they run, as far as the edges say; for the outline. */
export function inOrder(body: WorkflowDocument | Body): NodeSpec[] {
  const left = new Map(body.nodes.map((node) => [node.id, 0]))
  const edges = (body.edges ?? []).filter((edge) => left.has(edge.to) && left.has(edge.from))
  for (const edge of edges) left.set(edge.to, left.get(edge.to)! + 1)
  const byId = new Map(body.nodes.map((node) => [node.id, node]))
  const ready = body.nodes.filter((node) => left.get(node.id) === 0)
  const found: NodeSpec[] = []
  const seen = new Set<string>()
  while (ready.length) {
    const node = ready.shift()!
    if (seen.has(node.id)) continue
    seen.add(node.id)
    found.push(node)
    for (const edge of edges) {
      if (edge.from !== node.id) continue
      left.set(edge.to, left.get(edge.to)! - 1)
      if (left.get(edge.to) === 0) ready.unshift(byId.get(edge.to)!)
    }
  }
  return [...found, ...body.nodes.filter((node) => !seen.has(node.id))]
}
