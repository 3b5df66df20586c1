import { api } from './client'

export interface RunRow {
  id: string
  status: string
  workflow: string
  workflow_id: string | null
  version: number | null
  trigger: { kind: string; [more: string]: unknown }
  created_at: number
  started_at: number | null
  finished_at: number | null
  parent_run_id: string | null
  replayed_from: string | null
  test: boolean
  tags: string[]
}

export interface NodeReport {
  status: string
  reason: string | null
  attempts: number
  elapsed_ms: number | null
  reused?: string
  pinned?: boolean
  calls?: Record<string, number>
}

export interface RunReport extends RunRow {
  run_id: string
  outputs: Record<string, unknown> | null
  error: { node?: string; path?: string; type: string; message: string; attempt?: number } | null
  nodes: Record<string, NodeReport>
  waiting: { id: string; path: string; kind: string; title: string; until: number | null }[]
  reason: string | null
}

export interface RunEvent {
  seq: number
  at: number
  type: string
  path: string
  attempt: number
  data: Record<string, unknown>
}

export const listRuns = async (query: { workflow_id?: string; limit?: number; status?: string[] } = {}): Promise<RunRow[]> => {
  const page: { items: RunRow[] } = await api('get', '/api/v1/runs', { query: { limit: 20, ...query } as never })
  return page.items
}

export const readRun = (run_id: string): Promise<RunReport> => api('get', '/api/v1/runs/{run_id}', { path: { run_id } })

export const cancelRun = (run_id: string): Promise<{ status: string }> => api('post', '/api/v1/runs/{run_id}/cancel', { path: { run_id } })

export const took = (run: Pick<RunRow, 'started_at' | 'finished_at'>): number | null =>
  run.started_at === null || run.finished_at === null ? null : (run.finished_at - run.started_at) * 1000

export interface RunFilter {
  workflow_id?: string | undefined
  status?: string[] | undefined
  trigger?: string | undefined
  since?: number | undefined
  until?: number | undefined
  parent_run_id?: string | undefined
}

export interface Page<Row> {
  items: Row[]
  next_cursor: string | null
}

export const pageOfRuns = (filter: RunFilter, cursor?: string, limit = 50): Promise<Page<RunRow>> =>
  api('get', '/api/v1/runs', { query: { ...filter, limit, cursor } as never })

export interface RunContext {
  run_id: string
  inputs: Record<string, unknown>
  options: Record<string, boolean | string | number>
  children: (RunRow & { parent_path: string | null })[]
  replays: RunRow[]
  prefect_url: string | null
}

export const readContext = (run_id: string): Promise<RunContext> => api('get', '/api/v1/runs/{run_id}/context', { path: { run_id } })

export const readEvents = async (run_id: string, after = 0): Promise<RunEvent[]> => {
  const found: { items: RunEvent[] } = await api('get', '/api/v1/runs/{run_id}/events', { path: { run_id }, query: { after } as never })
  return found.items
}

export interface GivenField {
  field: string
  source: unknown
  value: unknown
  error: string | null
}

export const readGiven = (run_id: string, path: string): Promise<{ fields: GivenField[] }> => api('get', '/api/v1/runs/{run_id}/given/{path}', { path: { run_id, path } })
export const readWhy = (run_id: string, path: string): Promise<{ node: string; status: string; why: string }> => api('get', '/api/v1/runs/{run_id}/why/{path}', { path: { run_id, path } })
export const readPayload = (run_id: string, ref: string): Promise<unknown> => api('get', '/api/v1/runs/{run_id}/payloads/{ref}', { path: { run_id, ref } })
export const exportRun = (run_id: string): Promise<unknown> => api('get', '/api/v1/runs/{run_id}/export', { path: { run_id } })
export const removeRun = (run_id: string): Promise<void> => api('delete', '/api/v1/runs/{run_id}', { path: { run_id } })

export interface ReplayWish {
  from?: string | undefined
  set?: Record<string, unknown>
  inputs?: Record<string, unknown>
  version?: string
  offline?: boolean
  dry_run?: boolean
}

export interface ReplayPlan {
  run_id?: string
  [more: string]: unknown
}

export const replayRun = (run_id: string, wish: ReplayWish): Promise<ReplayPlan> => api('post', '/api/v1/runs/{run_id}/replay', { path: { run_id }, body: wish as never })

export interface Change {
  path?: string
  op?: string
  before?: unknown
  after?: unknown
  more?: number
  [more: string]: unknown
}

export interface RunDiff {
  a: string
  b: string
  equal: boolean
  status: { a: string; b: string } | [string, string] | null
  error: Change[]
  inputs: Change[]
  outputs: Change[]
  nodes: Record<string, Record<string, unknown>>
  elapsed_ms: { a: number | null; b: number | null }
}

export const diffRuns = (run_id: string, other: string): Promise<RunDiff> => api('get', '/api/v1/runs/{run_id}/diff/{other}', { path: { run_id, other } })
