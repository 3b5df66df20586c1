import type { RunEvent } from '@/api/runs'
import type { ChatMessage } from '@/api/chat'

export interface Citation {
  n: number
  source: string
  title?: string | null
  where?: string
  quote?: string
  position?: unknown
  document_id?: string | null
  knowledge_base?: string | null
}

export interface TextPart {
  kind: 'text'
  id: string
  text: string
  reasoning: string
}

export interface ToolPart {
  kind: 'tool'
  id: string
  name: string
  arguments: unknown
  state: 'running' | 'done' | 'failed'
  text: string
  value: unknown
  began: number | null
  elapsed: number | null
  /** What a delegate did within this call. */
  parts: Part[]
}

export interface AskPart {
  kind: 'ask'
  id: string
  title: string
  message: string
  actions: string[]
  tool: string | null
  arguments: unknown
  form: Record<string, unknown> | null
  hash: string
  until: number | null
  answer: string | null
  by: string | null
}

export interface SaidPart {
  kind: 'said'
  id: string
  text: string
}

export type Part = TextPart | ToolPart | AskPart | SaidPart

/** What is known of an answer from the events of its run. */
export interface TurnState {
  parts: Part[]
  citations: Citation[]
  model: string | null
  began: number | null
  ended: number | null
  waiting: boolean
}

export const NOTHING: TurnState = { parts: [], citations: [], model: null, began: null, ended: null, waiting: false }

const put = (parts: Part[], part: Part): Part[] => {
  const at = parts.findIndex((one) => one.id === part.id && one.kind === part.kind)
  return at < 0 ? [...parts, part] : parts.with(at, part)
}

/** Applies a change within a delegate's call (`2.0/1`) to the parts of that call. */
function within(parts: Part[], step: string, change: (parts: Part[], step: string) => Part[], prefix = ''): Part[] {
  const slash = step.indexOf('/')
  if (slash < 0) return change(parts, prefix + step)
  const owner = `${prefix}${step.slice(0, slash)}`
  const call = parts.find((part): part is ToolPart => part.kind === 'tool' && part.id.endsWith(owner))
  if (!call) return parts
  return put(parts, { ...call, parts: within(call.parts, step.slice(slash + 1), change, `${owner}/`) })
}

/** The state after one more event; unknown events change nothing. */
export function fold(state: TurnState, event: RunEvent): TurnState {
  const { type, path, data } = event
  const step = String(data.step ?? '')
  const key = (name: string) => `${path}:${name}`
  switch (type) {
    case 'run.started':
      return { ...state, began: state.began ?? event.at }
    case 'run.succeeded':
    case 'run.failed':
    case 'run.cancelled':
      return { ...state, ended: event.at, waiting: false, parts: state.parts.map(ended) }
    case 'node.delta':
      return { ...state, parts: within(state.parts, step, (parts, name) => withText(parts, key(name), data)) }
    case 'model.finished':
      return { ...withSaid(state, key(step), data.before), model: typeof data.model === 'string' ? data.model : state.model }
    case 'tool.started':
      return { ...state, parts: within(state.parts, step, (parts, name) => put(parts, toolPart(key(name), data, event.at))) }
    case 'tool.finished': {
      const citations = (data.citations as Citation[] | undefined) ?? []
      const known = new Set(citations.map((one) => one.n))
      return {
        ...state,
        citations: citations.length ? [...state.citations.filter((one) => !known.has(one.n)), ...citations] : state.citations,
        parts: within(state.parts, step, (parts, name) => withResult(parts, key(name), data)),
      }
    }
    case 'node.suspended':
      return data.kind === 'human' && data.request ? { ...state, waiting: true, parts: put(state.parts, askPart(data)) } : state
    case 'node.resumed':
      return {
        ...state,
        waiting: false,
        parts: state.parts.map((part) => (part.kind === 'ask' && part.id === data.id ? { ...part, answer: String(data.action ?? ''), by: data.by ? String(data.by) : null } : part)),
      }
    default:
      return state
  }
}

const ended = (part: Part): Part => (part.kind === 'tool' && part.state === 'running' ? { ...part, state: 'failed' } : part)

function withText(parts: Part[], id: string, data: Record<string, unknown>): Part[] {
  const known = parts.find((part): part is TextPart => part.kind === 'text' && part.id === id)
  const before = data.restart === true || !known ? { text: '', reasoning: '' } : known
  const text = before.text + String(data.text ?? '')
  const reasoning = before.reasoning + String(data.reasoning ?? '')
  return put(parts, { kind: 'text', id, text, reasoning })
}

function withSaid(state: TurnState, id: string, before: unknown): TurnState {
  if (!Array.isArray(before)) return state
  const said = (before as { content?: unknown; by_user?: boolean }[]).filter((one) => one.by_user).map((one) => String(one.content ?? ''))
  if (!said.length) return state
  // What was said reached the model before it answered: it stands before what that call streamed.
  const at = state.parts.findIndex((part) => part.id === id)
  const part: SaidPart = { kind: 'said', id: `${id}:said`, text: said.join('\n\n') }
  if (state.parts.some((one) => one.id === part.id)) return state
  return { ...state, parts: at < 0 ? [...state.parts, part] : state.parts.toSpliced(at, 0, part) }
}

const toolPart = (id: string, data: Record<string, unknown>, at: number | null): ToolPart => ({
  kind: 'tool', id, name: String(data.name), arguments: data.arguments, state: 'running', text: '', value: undefined, began: at, elapsed: null, parts: [],
})

function withResult(parts: Part[], id: string, data: Record<string, unknown>): Part[] {
  const known = parts.find((part): part is ToolPart => part.kind === 'tool' && part.id === id) ?? toolPart(id, data, null)
  return put(parts, {
    ...known,
    arguments: data.arguments ?? known.arguments,
    state: data.is_error === true ? 'failed' : 'done',
    text: String(data.text ?? ''),
    value: data.value,
    elapsed: typeof data.elapsed_ms === 'number' ? data.elapsed_ms : null,
  })
}

function askPart(data: Record<string, unknown>): AskPart {
  const request = data.request as Record<string, unknown>
  const config = (request.config ?? {}) as { tool?: string; arguments?: unknown }
  return {
    kind: 'ask', id: String(data.id), title: String(request.title ?? ''), message: String(request.message ?? ''),
    actions: (request.actions as string[] | undefined) ?? ['approve', 'reject'], tool: config.tool ?? null, arguments: config.arguments,
    form: (request.form as Record<string, unknown> | null | undefined) ?? null, hash: String(data.hash ?? ''),
    until: typeof data.until === 'number' ? data.until : null, answer: null, by: null,
  }
}

/** What a finished answer says of itself before its events are read. */
export function ofMessage(message: ChatMessage): TurnState {
  const calls: Part[] = (message.data.tool_calls ?? []).map((call) => ({
    kind: 'tool', id: call.id, name: call.name, arguments: call.arguments, state: call.is_error ? 'failed' : 'done',
    text: typeof call.result === 'string' ? call.result : '', value: call.result, began: null, elapsed: null, parts: [],
  }))
  const text: Part[] = message.content ? [{ kind: 'text', id: 'answer', text: message.content, reasoning: '' }] : []
  return { ...NOTHING, parts: [...calls, ...text], began: message.created_at, ended: message.finished_at }
}
