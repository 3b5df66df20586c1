import type { EdgeSpec } from '@/editor/document'
import type { Journal, NodeView } from './model'

export interface Edge {
  source: string
  target: string
}

const last = (node: NodeView): number | null => node.spans.reduce<number | null>((end, span) => (span.end === null ? end : Math.max(end ?? 0, span.end)), null)

/**
 * The nodes that the run's length hangs on: from the one that ended last back to whichever of its predecessors ended last.
 * Nodes of bodies belong to their container.
 */
export function criticalPath(journal: Journal, edges: Edge[]): string[] {
  const outer = Object.values(journal.nodes).filter((node) => !node.path.includes('.') && node.spans.length > 0)
  const ended = new Map(outer.map((node) => [node.path, last(node)] as const).filter((entry): entry is [string, number] => entry[1] !== null))
  const before = new Map<string, string[]>()
  for (const { source, target } of edges) before.set(target, [...(before.get(target) ?? []), source])
  let at: string | undefined = latest([...ended.keys()], ended)
  const found: string[] = []
  while (at !== undefined && !found.includes(at)) {
    found.unshift(at)
    at = latest(sources(at, before, ended), ended)
  }
  return found
}

const latest = (names: string[], ended: Map<string, number>): string | undefined =>
  names.reduce<string | undefined>((best, name) => (best === undefined || ended.get(name)! >= ended.get(best)! ? name : best), undefined)

/** The predecessors that ran; through those that did not to what stands before them. */
function sources(name: string, before: Map<string, string[]>, ended: Map<string, number>): string[] {
  const found = new Set<string>()
  const seen = new Set<string>([name])
  const open = [...(before.get(name) ?? [])]
  while (open.length) {
    const one = open.pop()!
    if (seen.has(one)) continue
    seen.add(one)
    if (ended.has(one)) found.add(one)
    else open.push(...(before.get(one) ?? []))
  }
  return [...found]
}

/** The edges of a document as this file reads them. */
export const edgesOf = (document: { edges?: EdgeSpec[] } | undefined): Edge[] => (document?.edges ?? []).map((edge) => ({ source: edge.from, target: edge.to }))
