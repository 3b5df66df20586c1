import { api } from './client'

export interface ModelRow {
  name: string
  context_window: number | null
  max_output: number | null
  price: { input: number; output: number; currency: string } | null
  capabilities: string[] | null
  fallback: string[]
}

export interface Provider {
  id: string | null
  source: 'installation' | 'stored'
  org_id: string | null
  visibility: string | null
  name: string
  base_url: string
  models: ModelRow[]
  any_model: boolean
  roles: Record<string, string>
  api_key: { set: boolean }
  headers: string[]
  [more: string]: unknown
}

export interface Tested {
  ok: boolean
  listed: string[] | null
  model: string | null
  text: string | null
  latency_ms?: number
  error: { type: string; message: string } | null
}

export interface Budget {
  id: string
  scope: string
  period: string
  unit: string
  most: number
  spent: number
}

export interface UsageRow {
  key?: string
  group?: string
  input_tokens: number
  output_tokens: number
  cost: number | null
  currency: string | null
  calls: number
  [more: string]: unknown
}

const items = async <T>(answer: Promise<{ items: T[] }>): Promise<T[]> => (await answer).items

export const listProviders = (): Promise<Provider[]> => items(api('get', '/api/v1/models'))
export const saveProvider = (name: string | null, definition: Record<string, unknown>): Promise<Provider> =>
  name === null ? api('post', '/api/v1/models', { body: { definition: definition as never, visibility: 'private' } }) : api('put', '/api/v1/models/{provider}', { path: { provider: name }, body: { definition: definition as never } })
export const removeProvider = (provider: string): Promise<void> => api('delete', '/api/v1/models/{provider}', { path: { provider } })
export const testProvider = (provider: string, model: string | null): Promise<Tested> => api('post', '/api/v1/models/{provider}/test', { path: { provider }, body: { model } })
export const listBudgets = (): Promise<Budget[]> => items(api('get', '/api/v1/usage/budgets'))
export const setBudget = (body: { scope: string; period: 'day' | 'month'; unit: string; most: number }): Promise<{ id: string }> => api('put', '/api/v1/usage/budgets', { body })
export const removeBudget = (budget_id: string): Promise<void> => api('delete', '/api/v1/usage/budgets/{budget_id}', { path: { budget_id } })
export const readUsage = (): Promise<UsageRow[]> => items(api('get', '/api/v1/usage', { query: { group_by: 'model', days: 30 } }))
