import { api, send } from './client'

export interface ChatSession {
  id: string
  agent_id: string | null
  workflow_id: string | null
  title: string
  head: string | null
  created_at: number
  updated_at: number
}

export interface FileRef {
  ref: string
  name: string
  media_type: string
  size: number
}

export interface Usage {
  input_tokens?: number
  output_tokens?: number
  cached_tokens?: number
  cost?: number | null
  currency?: string | null
}

export interface Failed {
  type: string
  message: string
}

export interface ChatMessage {
  id: string
  parent_id: string | null
  role: 'user' | 'assistant'
  content: string
  files: FileRef[]
  run_id: string | null
  status: 'running' | 'succeeded' | 'failed' | 'cancelled'
  data: {
    usage?: Usage
    tool_calls?: { id: string; name: string; arguments: unknown; result: unknown; is_error: boolean }[]
    stop_reason?: string
    error?: Failed
  }
  created_at: number
  finished_at: number | null
}

export interface Conversation extends ChatSession {
  messages: ChatMessage[]
}

/** The ids of a turn that has begun. */
export interface Turn {
  session: string
  question: string
  answer: string
  run_id: string
}

export interface SessionPage {
  items: ChatSession[]
  next_cursor: string | null
}

export const listSessions = (q: string, cursor?: string): Promise<SessionPage> =>
  api('get', '/api/v1/sessions', { query: { limit: 40, q, ...(cursor ? { cursor } : {}) } })

export const readConversation = (session: string): Promise<Conversation> => api('get', '/api/v1/sessions/{session}', { path: { session } })

export const newSession = (agent: string | null): Promise<ChatSession> => api('post', '/api/v1/sessions', { body: { agent, title: '' } })

export const changeSession = (session: string, body: { title?: string; head?: string }): Promise<ChatSession> =>
  api('patch', '/api/v1/sessions/{session}', { path: { session }, body })

export const removeSession = (session: string): Promise<void> => api('delete', '/api/v1/sessions/{session}', { path: { session } })

/** Asks; `key` makes a repetition after a broken connection the same question. */
export const ask = (session: string, content: string, files: string[], key: string): Promise<Turn> =>
  api('post', '/api/v1/sessions/{session}/messages', { path: { session }, body: { content, files }, headers: { 'idempotency-key': key } })

export const editQuestion = (session: string, message: string, content: string): Promise<Turn> =>
  api('put', '/api/v1/sessions/{session}/messages/{message}', { path: { session, message }, body: { content } })

export const answerAgain = (session: string, message: string): Promise<Turn> =>
  api('post', '/api/v1/sessions/{session}/messages/{message}/regenerate', { path: { session, message } })

export const sayMore = (session: string, content: string): Promise<{ run_id: string }> =>
  api('post', '/api/v1/sessions/{session}/inject', { path: { session }, body: { content } })

export const stopTurn = (session: string): Promise<ChatMessage> => api('post', '/api/v1/sessions/{session}/cancel', { path: { session } })

export const answerRequest = (id: string, body: { action: string; shown_hash?: string; comment?: string; form?: Record<string, unknown> }): Promise<unknown> =>
  api('post', '/api/v1/approvals/{request_id}/answer', { path: { request_id: id }, body: { form: {}, ...body } })

/** Sends a file to the server, telling how far it is (0 to 1). */
export function upload(file: File, onProgress?: (done: number) => void): Promise<FileRef> {
  if (!onProgress) {
    const form = new FormData()
    form.append('file', file, file.name)
    return send('/api/v1/files', { method: 'POST', body: form }).then((answer) => answer.json() as Promise<FileRef>)
  }
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/api/v1/files')
    request.upload.addEventListener('progress', (event) => event.lengthComputable && onProgress(event.loaded / event.total))
    request.addEventListener('load', () => {
      const body = JSON.parse(request.responseText || '{}') as FileRef & { detail?: string }
      if (request.status < 300) resolve(body)
      else reject(new Error(body.detail ?? `${request.status}`))
    })
    request.addEventListener('error', () => reject(new Error('The server cannot be reached.')))
    const form = new FormData()
    form.append('file', file, file.name)
    request.send(form)
  })
}
