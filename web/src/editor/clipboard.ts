import type { EdgeSpec, NodeSpec, WorkflowDocument } from './document'
import { addNode, connect, find, freeId, ids, inContainer, place, walk, type Container, type Point } from './operations'

interface Clip {
  interlace: 'nodes'
  nodes: NodeSpec[]
  edges: EdgeSpec[]
  positions: Record<string, Point>
}

/** The chosen nodes as text, for another workflow, window or a friend. START is not copied: there is one already. */
export function copyText(document: WorkflowDocument, chosen: ReadonlySet<string>): string | null {
  const first = [...chosen].map((id) => find(document, id)).find(Boolean)
  if (!first) return null
  const nodes = first.body.nodes.filter((node) => chosen.has(node.id) && node.type !== 'START')
  if (!nodes.length) return null
  const kept = new Set(nodes.map((node) => node.id))
  const inside = new Set(nodes.flatMap((node) => [node.id, ...(node.body ? [...walk(node.body)].map((one) => one.node.id) : [])]))
  const clip: Clip = {
    interlace: 'nodes',
    nodes,
    edges: (first.body.edges ?? []).filter((edge) => kept.has(edge.from) && kept.has(edge.to)),
    positions: Object.fromEntries(Object.entries(document.ui?.positions ?? {}).filter(([id]) => inside.has(id))),
  }
  return JSON.stringify(clip, null, 2)
}

export function readClip(text: string): Clip | null {
  try {
    const found = JSON.parse(text) as Partial<Clip>
    return found.interlace === 'nodes' && Array.isArray(found.nodes) && Array.isArray(found.edges) ? { interlace: 'nodes', nodes: found.nodes, edges: found.edges, positions: found.positions ?? {} } : null
  } catch {
    return null
  }
}

/** Gives nodes new ids and lets the references among them follow. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return rewrite(value, names)
  if (Array.isArray(value)) return value.map((one) => renamed(one, names))
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, renamed(one, names)]))
  return value
}

/** Names at the beginning of a reference, within `{{ }}` and `{% %}`, or anywhere where the text is one reference. */
function rewrite(text: string, names: ReadonlyMap<string, string>): string {
  const roots = (part: string) => part.replace(/(?<![\w.'"])[A-Za-z_]\w*(?![\w('"])/g, (name) => names.get(name) ?? name)
  if (/\{[{%]/.test(text)) return text.replace(/\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g, roots)
  return /^[A-Za-z_]\w*(\.\w+)*(\s|$)/.test(text) && /[.<>=!]/.test(text) ? roots(text) : text
}

function renameNode(node: NodeSpec, names: ReadonlyMap<string, string>): NodeSpec {
  const made: NodeSpec = { ...node, id: names.get(node.id) ?? node.id }
  if (node.config) made.config = renamed(node.config, names) as Record<string, unknown>
  if (node.body) {
    made.body = {
      nodes: node.body.nodes.map((one) => renameNode(one, names)),
      edges: (node.body.edges ?? []).map((edge) => ({ ...edge, from: names.get(edge.from) ?? edge.from, to: names.get(edge.to) ?? edge.to })),
    }
  }
  return made
}

/** Puts copied nodes into a container, moved to a point; gives the document and the new ids. */
export function paste(document: WorkflowDocument, clip: Clip, container: Container, at: Point | null): { document: WorkflowDocument; added: string[] } {
  const nodes = clip.nodes.filter((node) => node.type !== 'START' && !(container !== null && node.type === 'END'))
  const taken = ids(document)
  const names = new Map<string, string>()
  for (const { node } of walk({ nodes, edges: [] })) {
    const id = freeId(taken, node.id)
    names.set(node.id, id)
    taken.add(id)
  }
  const known = nodes.map((node): Point => clip.positions[node.id] ?? [0, 0])
  const corner: Point = [Math.min(...known.map(([x]) => x)), Math.min(...known.map(([, y]) => y))]
  const shift: Point = at ? [at[0] - corner[0], at[1] - corner[1]] : [40, 40]
  let next = document
  for (const node of nodes) {
    const [x, y] = clip.positions[node.id] ?? [0, 0]
    next = addNode(next, container, renameNode(node, names), [x + shift[0], y + shift[1]])
  }
  const inner: Record<string, Point> = {}
  for (const [id, position] of Object.entries(clip.positions)) {
    if (!nodes.some((node) => node.id === id) && names.has(id)) inner[names.get(id)!] = position
  }
  next = place(next, inner)
  for (const edge of clip.edges) {
    if (names.has(edge.from) && names.has(edge.to)) next = connect(next, { ...edge, from: names.get(edge.from)!, to: names.get(edge.to)! })
  }
  return { document: inContainer(next, container, () => ({})), added: nodes.map((node) => names.get(node.id)!) }
}
