import { api } from './client'
import type { Page } from './runs'

export interface User {
  id: string
  name: string
  email: string | null
  operator: boolean
  has_password: boolean
  created_at: number
  disabled_at: number | null
}

export interface Login {
  id: string
  method: string
  address: string
  agent: string
  created_at: number
  seen_at: number
  expires_at: number
  current: boolean
}

export interface ApiKey {
  id: string
  name: string
  prefix: string
  scopes: string[]
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  revoked_at: number | null
}

export type Role = 'owner' | 'admin' | 'member'
export const ROLES: Role[] = ['member', 'admin', 'owner']

export interface Org {
  id: string
  name: string
  created_at: number
}

export interface Member {
  user_id: string
  name: string
  role: Role
  since: number
}

export interface Invitation {
  id: string
  role: Role
  email: string | null
  created_at: number
  expires_at: number
  accepted_at: number | null
  status: 'pending' | 'accepted' | 'revoked' | 'expired'
}

const whole = { query: { limit: 1000 } as never }
const items = async <T>(page: Promise<Page<T>>): Promise<T[]> => (await page).items

export const listUsers = (): Promise<User[]> => items<User>(api('get', '/api/v1/users', whole))
export const createUser = (made: { name: string; email?: string | undefined; password?: string | undefined; operator: boolean }): Promise<User> => api('post', '/api/v1/users', { body: made as never })
export const changeUser = (user: string, change: { email?: string; operator?: boolean; active?: boolean }): Promise<User> => api('patch', '/api/v1/users/{user}', { path: { user }, body: change as never })
export const disableUser = (user: string): Promise<void> => api('delete', '/api/v1/users/{user}', { path: { user } })
export const linkFor = (user: string): Promise<{ url: string; expires_at: number }> => api('post', '/api/v1/users/{user}/link', { path: { user } })
export const readMe = (): Promise<User> => api('get', '/api/v1/users/{user}', { path: { user: 'me' } })
export const setPassword = (password: string, current?: string): Promise<void> => api('put', '/api/v1/users/{user}/password', { path: { user: 'me' }, body: { password, ...(current ? { current } : {}) } as never })

export const listLogins = (): Promise<Login[]> => items<Login>(api('get', '/api/v1/users/{user}/logins', { path: { user: 'me' }, ...whole }))
export const endLogin = (login: string): Promise<void> => api('delete', '/api/v1/users/{user}/logins/{login}', { path: { user: 'me', login } })
export const endOtherLogins = (): Promise<void> => api('delete', '/api/v1/users/{user}/logins', { path: { user: 'me' } })

export const listKeys = (): Promise<ApiKey[]> => items<ApiKey>(api('get', '/api/v1/api-keys', whole))
export const createKey = (made: { name: string; scopes?: string[] | undefined; expires_in?: string | undefined }): Promise<ApiKey & { key: string }> => api('post', '/api/v1/api-keys', { body: made as never })
export const revokeKey = (key: string): Promise<void> => api('delete', '/api/v1/api-keys/{key}', { path: { key } })

export const listOrgs = (): Promise<Org[]> => items<Org>(api('get', '/api/v1/orgs', whole))
export const createOrg = (name: string): Promise<Org> => api('post', '/api/v1/orgs', { body: { name } as never })
export const readOrg = (org: string): Promise<Org> => api('get', '/api/v1/orgs/{org}', { path: { org } })
export const renameOrg = (org: string, name: string): Promise<Org> => api('patch', '/api/v1/orgs/{org}', { path: { org }, body: { name } })
export const listMembers = (org: string): Promise<Member[]> => items<Member>(api('get', '/api/v1/orgs/{org}/members', { path: { org }, ...whole }))
export const setMember = (org: string, user: string, role: Role): Promise<void> => api('put', '/api/v1/orgs/{org}/members/{user}', { path: { org, user }, body: { role } })
export const removeMember = (org: string, user: string): Promise<void> => api('delete', '/api/v1/orgs/{org}/members/{user}', { path: { org, user } })
export const listInvitations = (org: string): Promise<Invitation[]> => items<Invitation>(api('get', '/api/v1/orgs/{org}/invitations', { path: { org }, ...whole }))
export const invite = (org: string, made: { role: Role; email?: string | undefined }): Promise<Invitation & { url: string; mailed: boolean }> => api('post', '/api/v1/orgs/{org}/invitations', { path: { org }, body: made as never })
export const revokeInvitation = (org: string, invitation: string): Promise<void> => api('delete', '/api/v1/orgs/{org}/invitations/{invitation}', { path: { org, invitation } })

export interface Invited {
  org: string
  role: Role
  email: string | null
  invited_by: string | null
  expires_at: number
}

export const readInvited = (token: string): Promise<Invited> => api('get', '/api/v1/invitations/{token}', { path: { token } })
export const acceptInvitation = (token: string, as: { name?: string; password?: string }): Promise<{ org_id: string }> => api('post', '/api/v1/invitations/{token}/accept', { path: { token }, body: as as never })

export interface AuditLine {
  id: string
  at: number
  user_id: string
  user_name: string | null
  org_id: string | null
  action: string
  kind: string
  object_id: string
  name: string
  source: string
  detail: Record<string, unknown>
}

export const listAudit = (wanted: { action?: string | undefined; user?: string | undefined; since?: number | undefined; until?: number | undefined }, cursor?: string): Promise<Page<AuditLine>> =>
  api('get', '/api/v1/audit', { query: { ...wanted, limit: 100, cursor } as never })

export interface Secret {
  name: string
  org_id: string | null
  created_at: number
  updated_at: number
}

export const listSecrets = (): Promise<Secret[]> => items<Secret>(api('get', '/api/v1/secrets') as Promise<Page<Secret>>)
export const putSecret = (name: string, value: string, org?: string): Promise<void> => api('put', '/api/v1/secrets/{name}', { path: { name }, query: { org } as never, body: { value } })
export const removeSecret = (name: string, org?: string): Promise<void> => api('delete', '/api/v1/secrets/{name}', { path: { name }, query: { org } as never })

export interface Total {
  group: string | null
  calls: number
  failed: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost: number | null
  currency: string | null
}

export interface Budget {
  id: string
  scope: string
  period: 'day' | 'month'
  unit: string
  most: number
  spent: number
}

export const readUsage = (wanted: { group_by: string; days: number; all: boolean }): Promise<Total[]> => items<Total>(api('get', '/api/v1/usage', { query: wanted as never }) as Promise<Page<Total>>)
export const listBudgets = (): Promise<Budget[]> => items<Budget>(api('get', '/api/v1/usage/budgets') as Promise<Page<Budget>>)
export const setBudget = (made: { scope: string; period: Budget['period']; unit: string; most: number }): Promise<{ id: string }> => api('put', '/api/v1/usage/budgets', { body: made })
export const removeBudget = (budget_id: string): Promise<void> => api('delete', '/api/v1/usage/budgets/{budget_id}', { path: { budget_id } })

export interface Check {
  name: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
  fix: string | null
}

export const readDoctor = (): Promise<{ ok: boolean; checks: Check[]; settings: Record<string, unknown> }> => api('get', '/api/v1/doctor')
