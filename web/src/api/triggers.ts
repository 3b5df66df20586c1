import { api, send } from './client'
import type { Page } from './runs'

export interface Schedule {
  id: string
  name: string
  workflow_id: string
  source: 'document' | 'own'
  owner: string
  cron: string
  timezone: string
  inputs: Record<string, unknown>
  missed: 'skip' | 'latest' | 'all'
  missed_limit: number
  grace: number
  overlap: 'allow' | 'skip' | 'queue' | 'cancel_previous'
  jitter: number
  paused: boolean
  next_at: number | null
  next: string | null
  error: string | null
  error_at: number | null
  created_at: number
  updated_at: number
}

export interface Nominal {
  at: number
  local: string
  change: 'moved' | 'first_of_two' | 'second_of_two' | null
  note: string | null
}

export interface Firing {
  nominal: number
  status: 'started' | 'queued' | 'skipped' | 'missed' | 'refused' | 'failed'
  run_id: string | null
  note: string | null
  at: number
  local: string
}

export interface ScheduleFields {
  cron?: string | undefined
  timezone?: string | undefined
  inputs?: Record<string, unknown> | undefined
  missed?: Schedule['missed'] | undefined
  overlap?: Schedule['overlap'] | undefined
  grace?: string | number | undefined
  jitter?: string | number | undefined
}

const at = (schedule: string) => ({ path: { schedule } })
export const listSchedules = (cursor?: string): Promise<Page<Schedule>> => api('get', '/api/v1/schedules', { query: { limit: 100, cursor } })
export const readSchedule = (schedule: string): Promise<Schedule> => api('get', '/api/v1/schedules/{schedule}', at(schedule))
export const addSchedule = (made: ScheduleFields & { workflow: string; name?: string | undefined }): Promise<Schedule> => api('post', '/api/v1/schedules', { body: made as never })
export const changeSchedule = (schedule: string, fields: ScheduleFields): Promise<Schedule> => api('patch', '/api/v1/schedules/{schedule}', { ...at(schedule), body: fields as never })
export const removeSchedule = (schedule: string): Promise<void> => api('delete', '/api/v1/schedules/{schedule}', at(schedule))
export const pauseSchedule = (schedule: string, paused: boolean): Promise<Schedule> => api('post', paused ? '/api/v1/schedules/{schedule}/pause' : '/api/v1/schedules/{schedule}/resume', at(schedule))
export const runSchedule = (schedule: string): Promise<{ run_id: string }> => api('post', '/api/v1/schedules/{schedule}/run', at(schedule))
export const listFirings = (schedule: string, cursor?: string): Promise<Page<Firing>> => api('get', '/api/v1/schedules/{schedule}/firings', { ...at(schedule), query: { limit: 50, cursor } as never })
export const previewCron = async (cron: string, timezone: string, count = 20): Promise<Nominal[]> => {
  const found: { items: Nominal[] } = await api('post', '/api/v1/schedules/preview', { body: { cron, timezone, count } })
  return found.items
}

export interface Signature {
  type: string
  secret?: string | null
  header?: string | null
  algorithm?: string
  encoding?: string
  prefix?: string
  timestamp_header?: string | null
  tolerance?: number
}

export interface Webhook {
  id: string
  name: string
  workflow_id: string
  source: 'document' | 'own'
  path: string | null
  url: string | null
  methods: string[]
  content_types: string[]
  signature: Signature | null
  idempotency: { header?: string | null; key?: string | null } | null
  response: { mode: 'immediate' | 'wait'; timeout: number }
  max_size: number
  inputs: Record<string, unknown>
  secret_set: boolean
  paused: boolean
  error: string | null
  error_at: number | null
  created_at: number
}

export interface Delivery {
  id: string
  status: 'received' | 'started' | 'dead'
  received_at: number
  key: string | null
  run_id: string | null
  redelivers: string | null
  size: number
  request: Record<string, unknown>
  attempts: number
  next_at: number | null
  error: string | null
}

const on = (webhook: string) => ({ path: { webhook } })
export const listWebhooks = (cursor?: string): Promise<Page<Webhook>> => api('get', '/api/v1/webhooks', { query: { limit: 100, cursor } })
export const readWebhook = (webhook: string): Promise<Webhook> => api('get', '/api/v1/webhooks/{webhook}', on(webhook))
export const addWebhook = (made: Record<string, unknown>): Promise<Webhook> => api('post', '/api/v1/webhooks', { body: made as never })
export const changeWebhook = (webhook: string, fields: Record<string, unknown>): Promise<Webhook> => api('patch', '/api/v1/webhooks/{webhook}', { ...on(webhook), body: fields as never })
export const removeWebhook = (webhook: string): Promise<void> => api('delete', '/api/v1/webhooks/{webhook}', on(webhook))
export const pauseWebhook = (webhook: string, paused: boolean): Promise<Webhook> => api('post', paused ? '/api/v1/webhooks/{webhook}/pause' : '/api/v1/webhooks/{webhook}/resume', on(webhook))
export const rotateToken = (webhook: string): Promise<Webhook> => api('post', '/api/v1/webhooks/{webhook}/rotate-token', on(webhook))
export const rotateSecret = (webhook: string): Promise<{ secret: string }> => api('post', '/api/v1/webhooks/{webhook}/rotate-secret', { ...on(webhook), body: {} as never })
export const listDeliveries = (webhook: string, status: string, cursor?: string): Promise<Page<Delivery>> => api('get', '/api/v1/webhooks/{webhook}/deliveries', { ...on(webhook), query: { limit: 50, cursor, ...(status ? { status } : {}) } as never })
export const redeliver = (webhook: string, delivery: string): Promise<{ delivery: string; run_id: string | null }> => api('post', '/api/v1/webhooks/{webhook}/redeliver', { ...on(webhook), body: { delivery } })
export const deliveryBody = async (webhook: string, delivery: string): Promise<string> => (await send(`/api/v1/webhooks/${encodeURIComponent(webhook)}/deliveries/${encodeURIComponent(delivery)}/body`, {})).text()

export interface Subscription {
  id: string
  owner: string
  org_id: string | null
  url: string
  events: string[]
  active: boolean
  created_at: number
}

export interface Message {
  id: string
  event: string
  run_id: string
  body: unknown
  status: 'pending' | 'delivered' | 'dead'
  created_at: number
  attempts: number
  next_at: number | null
  delivered_at: number | null
  answer: number | null
  error: string | null
}

const of = (subscription: string) => ({ path: { subscription } })
export const listSubscriptions = (): Promise<Page<Subscription>> => api('get', '/api/v1/event-subscriptions', { query: { limit: 200 } })
export const subscribe = (made: { url: string; events: string[]; org?: string | undefined }): Promise<Subscription & { secret: string }> => api('post', '/api/v1/event-subscriptions', { body: made as never })
export const changeSubscription = (subscription: string, change: { url?: string; events?: string[]; active?: boolean }): Promise<Subscription> => api('patch', '/api/v1/event-subscriptions/{subscription}', { ...of(subscription), body: change as never })
export const unsubscribe = (subscription: string): Promise<void> => api('delete', '/api/v1/event-subscriptions/{subscription}', of(subscription))
export const rotateSubscription = (subscription: string): Promise<{ secret: string }> => api('post', '/api/v1/event-subscriptions/{subscription}/rotate-secret', { ...of(subscription), body: {} as never })
export const listMessages = (subscription: string, status: string): Promise<Page<Message>> => api('get', '/api/v1/event-subscriptions/{subscription}/deliveries', { ...of(subscription), query: { limit: 50, ...(status ? { status } : {}) } as never })
export const resend = (subscription: string, delivery: string): Promise<unknown> => api('post', '/api/v1/event-subscriptions/{subscription}/redeliver', { ...of(subscription), body: { delivery } })
