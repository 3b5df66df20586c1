import { useQuery } from '@tanstack/react-query'
import { api, send, type Problem } from './client'
import type { JsonSchema } from '@/schema/schema'

export interface ResourceRow {
  id: string
  name: string
  description?: string
  definition?: Record<string, unknown>
  owner: string
  org_id: string | null
  visibility: string
  publish_status?: string | null
  active: boolean
  version: number
  created_at: number
  updated_at: number
  [more: string]: unknown
}

/** The collections of the API that hold resources. */
export type Collection = 'agents' | 'connectors' | 'databases' | 'mcp-servers' | 'knowledge-bases' | 'skills'

/** All rows of a collection, up to a sane number. */
export async function listAll<Row = ResourceRow>(path: string): Promise<Row[]> {
  const found: Row[] = []
  let cursor = ''
  do {
    // oxlint-disable-next-line no-await-in-loop -- pages follow each other
    const page = (await (await send(`${path}?limit=200${cursor}`, { headers: { accept: 'application/json' } })).json()) as { items: Row[]; next_cursor?: string | null }
    found.push(...page.items)
    cursor = page.next_cursor ? `&cursor=${encodeURIComponent(page.next_cursor)}` : ''
  } while (cursor && found.length < 2_000)
  return found
}

export const useResources = <Row = ResourceRow>(collection: Collection) =>
  useQuery<Row[], Problem>({ queryKey: ['resources', collection], queryFn: () => listAll<Row>(`/api/v1/${collection}`) })

export const readResource = async <T = ResourceRow>(collection: Collection, id: string): Promise<T> =>
  (await (await send(`/api/v1/${collection}/${encodeURIComponent(id)}`, { headers: { accept: 'application/json' } })).json()) as T

export const useResource = <T = ResourceRow>(collection: Collection, id: string) =>
  useQuery<T, Problem>({ queryKey: ['resource', collection, id], queryFn: () => readResource<T>(collection, id) })

export const removeResource = async (collection: Collection, id: string): Promise<void> => {
  await send(`/api/v1/${collection}/${encodeURIComponent(id)}`, { method: 'DELETE' })
}

export const useSchema = (kind: string) =>
  useQuery<JsonSchema, Problem>({ queryKey: ['resource-schema', kind], queryFn: () => api('get', '/api/v1/resource-schemas/{kind}', { path: { kind } }), staleTime: Infinity })

export interface RoleRow {
  role: string
  models: string[]
  error: { type: string; message: string } | null
}

export const useRoles = () =>
  useQuery<RoleRow[], Problem>({ queryKey: ['model-roles'], queryFn: async () => (await api<'get', '/api/v1/model-roles', { items: RoleRow[] }>('get', '/api/v1/model-roles')).items })
