import type { JsonSchema } from '@/schema/schema'
import { api, type Problem } from './client'
import type { Page } from './runs'

export interface HistoryEntry {
  at: number
  event: string
  by?: string
  from?: string[]
  to?: string[]
  comment?: string | null
  channel?: string
  reminder?: boolean
  error?: string | null
}

export interface GivenAnswer {
  by?: string
  name?: string
  at?: number
  action?: string
  comment?: string | null
  [more: string]: unknown
}

export interface Approval {
  id: string
  run_id: string
  path: string
  phase: string
  status: 'pending' | 'answered' | 'timed_out' | 'cancelled'
  title: string | null
  message: string | null
  actions: string[] | null
  form: JsonSchema | null
  config: Record<string, unknown> | null
  hash: string
  assignees: string[]
  quorum: number
  allow_self: boolean
  created_at: number
  until: number | null
  reminded: number
  action: string | null
  answered_by: string | null
  answered_at: number | null
  comment: string | null
  filled: Record<string, unknown>
  answers: GivenAnswer[]
  history: HistoryEntry[]
}

export type ApprovalStatus = 'pending' | 'answered' | 'timed_out' | 'cancelled' | 'all'

export const listApprovals = (wanted: { status: ApprovalStatus; mine: boolean }, cursor?: string, limit = 50): Promise<Page<Approval>> =>
  api('get', '/api/v1/approvals', { query: { ...wanted, limit, cursor } as never })

export const readApproval = (request_id: string): Promise<Approval> => api('get', '/api/v1/approvals/{request_id}', { path: { request_id } })

export interface Answer {
  action: string
  form?: Record<string, unknown>
  comment?: string | null
  shown_hash?: string
}

export const answerApproval = (request_id: string, answer: Answer): Promise<Approval> => api('post', '/api/v1/approvals/{request_id}/answer', { path: { request_id }, body: answer as never })
export const assignApproval = (request_id: string, to: string, comment: string | null): Promise<Approval> => api('post', '/api/v1/approvals/{request_id}/assign', { path: { request_id }, body: { to, comment } })

export interface Answered {
  items: { id: string; request?: Approval; error?: { code: string; detail: string } }[]
  answered: number
  failed: number
}

export const answerSeveral = (answers: (Answer & { id: string })[]): Promise<Answered> => api('post', '/api/v1/approvals/answer', { body: { answers } as never })

/** Who was quicker, where an answer came too late. */
export const tooLate = (problem: Problem): { by: string | null; at: number | null; action: string | null; ended: string } | null =>
  problem.status === 409 && 'ended' in problem.more ? (problem.more as { by: string | null; at: number | null; action: string | null; ended: string }) : null
