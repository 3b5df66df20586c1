import type { EdgeSpec } from '@/editor/document'
import type { NodeRun } from './store'

export interface Span {
  id: string
  path: string
  start: number
  end: number
  status: string
  critical: boolean
  depth: number
}

/** What ran when, in the order of its start; what the end waited for is on the critical path. */
export function spans(nodes: Record<string, NodeRun>, edges: EdgeSpec[], now: number): Span[] {
  const ran = Object.values(nodes).filter((node) => node.started !== null && node.reused === null)
  const critical = criticalPath(ran.filter((node) => !node.path.includes('.')), edges, now)
  return ran
    .map((node) => ({
      id: node.path.split('.').at(-1)!,
      path: node.path,
      start: node.started!,
      end: node.ended ?? now,
      status: node.status,
      critical: critical.has(node.path) || [...critical].some((path) => node.path.startsWith(`${path}[`) || node.path.startsWith(`${path}#`)),
      depth: node.path.split('.').length - 1,
    }))
    .sort((a, b) => a.start - b.start || a.path.localeCompare(b.path))
}

/** From the node that ended last back along the edges, always to the one that ended last: shortening any of these ends the run sooner. */
export function criticalPath(ran: NodeRun[], edges: EdgeSpec[], now: number): Set<string> {
  const byId = new Map(ran.map((node) => [node.path, node]))
  const end = (node: NodeRun) => node.ended ?? now
  const latest = (some: NodeRun[]): NodeRun | undefined => some.reduce<NodeRun | undefined>((best, node) => (best === undefined || end(node) > end(best) ? node : best), undefined)
  const found = new Set<string>()
  const sources = new Set(edges.map((edge) => edge.from).filter((id) => byId.has(id)))
  let here = latest(ran.filter((node) => !sources.has(node.path))) ?? latest(ran)
  while (here && !found.has(here.path)) {
    found.add(here.path)
    const target = here.path
    here = latest(edges.filter((edge) => edge.to === target).flatMap((edge) => byId.get(edge.from) ?? []))
  }
  return found
}
