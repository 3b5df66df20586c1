import { Problem, send } from './client'

export interface ServerEvent {
  id: string | null
  type: string
  data: unknown
}

/** Splits server-sent events; keeps what has not ended yet. */
export function* parse(buffer: string): Generator<ServerEvent, string> {
  const blocks = buffer.split(/\r?\n\r?\n/)
  const rest = blocks.pop() ?? ''
  for (const block of blocks) {
    let id: string | null = null
    let type = 'message'
    const data: string[] = []
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(':')
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (name === 'id') id = value
      else if (name === 'event') type = value
      else if (name === 'data') data.push(value)
    }
    if (data.length) yield { id, type, data: JSON.parse(data.join('\n')) }
  }
  return rest
}

export interface StreamOptions {
  signal: AbortSignal
  onEvent: (event: ServerEvent) => void
  /** Whether an event is the last one: a stream that ends before it is opened again. */
  isLast: (event: ServerEvent) => boolean
  /** Told when the stream breaks off and when it goes on. */
  onState?: (connected: boolean) => void
  after?: string | null
  method?: 'GET' | 'POST'
  body?: unknown
}

/** Too slow, too early, too many: the stream itself is still there. */
const PASSING = new Set([408, 425, 429])
const LONGEST_PAUSE = 10_000

/** Follows a stream of events to its last one. A broken stream is resumed after the last event seen. */
export async function follow(path: string, options: StreamOptions): Promise<void> {
  let last = options.after ?? null
  let pause = 250
  while (!options.signal.aborted) {
    try {
      const response = await send(path, {
        method: last === null ? (options.method ?? 'GET') : 'GET',
        signal: options.signal,
        headers: {
          accept: 'text/event-stream',
          ...(last === null ? {} : { 'last-event-id': last }),
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: options.body === undefined || last !== null ? null : JSON.stringify(options.body),
      })
      options.onState?.(true)
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let buffer = ''
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- a stream is read in order
        const { value, done } = await reader.read()
        if (done) break
        const parser = parse(buffer + value)
        for (;;) {
          const step = parser.next()
          if (step.done) {
            buffer = step.value
            break
          }
          if (step.value.id !== null) last = step.value.id
          pause = 250
          options.onEvent(step.value)
          if (options.isLast(step.value)) return
        }
      }
    } catch (error) {
      if (options.signal.aborted) return
      const gone = error instanceof Problem && error.status >= 400 && error.status < 500 && !PASSING.has(error.status)
      if (gone) throw error
    }
    options.onState?.(false)
    // oxlint-disable-next-line no-await-in-loop -- tries follow each other
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, LONGEST_PAUSE)
  }
}
