import type { paths } from './types.gen'

export type Method = 'get' | 'post' | 'put' | 'delete' | 'patch'
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never
}[keyof paths]
type Operation<M extends Method, P extends Path<M>> = paths[P] extends { [K in M]: infer O } ? O : never
type Parameters<O, Place extends string> = O extends { parameters: { [K in Place]?: infer V } } ? V : never
type Body<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : unknown

export interface Request<M extends Method, P extends Path<M>> {
  path?: Parameters<Operation<M, P>, 'path'>
  query?: Parameters<Operation<M, P>, 'query'>
  body?: Body<Operation<M, P>>
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface ProblemOfDocument {
  severity: 'error' | 'warning'
  code: string
  node: string | null
  field: string | null
  line: number | null
  message: string
  fix: string | null
  edit?: unknown
}

/** An answer that is no success, as problem+json says it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail)
  }

  get problems(): ProblemOfDocument[] {
    return (this.more.problems as ProblemOfDocument[] | undefined) ?? []
  }

  /** What is wrong with single fields of the request, by field. */
  get fields(): Record<string, string> {
    const errors = (this.more.errors as { field: string; message: string }[] | undefined) ?? []
    return Object.fromEntries(errors.map((error) => [error.field.replace(/^body\./, ''), error.message]))
  }
}

/** Told when the server wants a sign-in; the shell leads to the page for it. */
export const unauthorized = new EventTarget()

export async function problemOf(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {}
  try {
    body = (await response.json()) as Record<string, unknown>
  } catch {
    body = {}
  }
  const detail = typeof body.detail === 'string' ? body.detail : `${response.status} ${response.statusText}`
  return new Problem(response.status, String(body.code ?? 'http'), detail, body)
}

function address(path: string, at: Record<string, unknown>, query: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)(:path)?\}/g, (_, name: string, whole?: string) =>
    whole ? String(at[name]).split('/').map(encodeURIComponent).join('/') : encodeURIComponent(String(at[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') search.append(name, String(one))
    }
  }
  return search.size ? `${filled}?${search}` : filled
}

export async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Problem(0, 'unreachable', 'The server cannot be reached. Is it running?')
  }
  if (response.status === 401) unauthorized.dispatchEvent(new Event('unauthorized'))
  if (!response.ok) throw await problemOf(response)
  return response
}

/**
 * Calls the API: `const run: RunReport = await api('get', '/api/v1/runs/{run_id}', { path: { run_id } })`.
 * Path, parameters and body are checked against the server's OpenAPI document; the caller says what comes back.
 * Throws `Problem`.
 */
export async function api<M extends Method, P extends Path<M>, T>(
  method: M,
  path: P,
  request: Request<M, P> = {},
): Promise<T> {
  const multipart = request.body instanceof FormData
  const response = await send(address(path, (request.path ?? {}) as Record<string, unknown>, (request.query ?? {}) as Record<string, unknown>), {
    method: method.toUpperCase(),
    signal: request.signal ?? null,
    headers: {
      accept: 'application/json',
      ...(request.body === undefined || multipart ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    body: request.body === undefined ? null : multipart ? (request.body as unknown as FormData) : JSON.stringify(request.body),
  })
  if (response.status === 204) return undefined as T
  const type = response.headers.get('content-type') ?? ''
  return (type.includes('json') ? await response.json() : await response.text()) as T
}
