import { create } from 'zustand'
import { api } from '@/api/client'
import { follow } from '@/api/events'
import type { RunEvent } from '@/api/runs'

/** One node at one path of the run that is shown. Times in milliseconds. */
export interface NodeRun {
  path: string
  status: string
  attempt: number
  started: number | null
  ended: number | null
  elapsed: number | null
  reason: string | null
  error: { type: string; message: string } | null
  outputs: Record<string, unknown> | null
  handles: string[]
  reused: string | null
  pinned: boolean
  /** What it says while it says it. */
  text: string
  tokens: number
  log: string[]
  tools: { step: string; name: string; done: boolean; error: boolean }[]
}

interface Passes {
  count: number
  chosen: number
  /** Whether somebody chose it; otherwise it follows the newest. */
  held: boolean
  mark: '[' | '#'
}

interface RunState {
  runId: string | null
  status: string | null
  connected: boolean
  started: number | null
  ended: number | null
  test: boolean
  outputs: Record<string, unknown> | null
  error: { path?: string; node?: string; type: string; message: string } | null
  nodes: Record<string, NodeRun>
  /** The nodes as the canvas shows them, by id: of each container the chosen pass. */
  shown: Record<string, NodeRun>
  passes: Record<string, Passes>
  pins: Record<string, Record<string, unknown>>
  announced: string
}

const NOTHING: Omit<RunState, 'pins'> = {
  runId: null, status: null, connected: true, started: null, ended: null, test: false, outputs: null, error: null, nodes: {}, shown: {}, passes: {}, announced: '',
}

export const useRun = create<RunState>(() => ({ ...NOTHING, pins: {} }))

const fresh = (path: string): NodeRun => ({
  path, status: 'pending', attempt: 0, started: null, ended: null, elapsed: null, reason: null, error: null, outputs: null, handles: [], reused: null, pinned: false, text: '', tokens: 0, log: [], tools: [],
})

const PASS = /^(.*)([[#])(\d+)\]?$/

/** Takes events into a copy of the state. Pure: what a run looks like follows from its events alone. */
export function fold(state: RunState, events: RunEvent[]): RunState {
  const next: RunState = { ...state, nodes: { ...state.nodes }, passes: { ...state.passes } }
  const touched = new Set<string>()
  const at = (path: string): NodeRun => {
    if (!touched.has(path)) {
      touched.add(path)
      next.nodes[path] = { ...(next.nodes[path] ?? fresh(path)) }
    }
    return next.nodes[path]!
  }
  for (const event of events) {
    if (event.path === '') ofRun(next, event)
    else ofNode(next, at(event.path), event)
  }
  next.shown = choose(next)
  return next
}

function ofRun(state: RunState, { type, data, at }: RunEvent): void {
  if (!type.startsWith('run.')) return
  state.status = type === 'run.started' || type === 'run.resumed' ? 'running' : type.slice(4)
  state.announced = state.status
  if (type === 'run.started') state.started ??= at * 1000
  if (type === 'run.succeeded') state.outputs = (data.outputs as Record<string, unknown>) ?? {}
  if (type === 'run.failed') state.error = data.error as RunState['error']
  if (['run.succeeded', 'run.failed', 'run.cancelled'].includes(type)) {
    state.ended = at * 1000
    for (const [path, node] of Object.entries(state.nodes)) {
      if (node.status === 'running' || node.status === 'suspended') state.nodes[path] = { ...node, status: 'cancelled', ended: at * 1000 }
    }
  }
}

function ofNode(state: RunState, node: NodeRun, { type, data, at, attempt, path }: RunEvent): void {
  const now = at * 1000
  switch (type) {
    case 'node.started':
      Object.assign(node, { status: 'running', attempt, started: now, ended: null, error: null, text: '', tokens: 0 })
      notePass(state, path)
      break
    case 'node.succeeded':
      Object.assign(node, {
        status: 'succeeded', ended: now, elapsed: (data.elapsed_ms as number | null | undefined) ?? (node.started ? now - node.started : null), outputs: (data.outputs as Record<string, unknown> | undefined) ?? null,
        handles: (data.handles as string[] | undefined) ?? ['out'], reused: (data.reused as string | undefined) ?? null, pinned: Boolean(data.pinned), attempt: attempt || node.attempt,
      })
      node.started ??= now - (node.elapsed ?? 0)
      notePass(state, path)
      break
    case 'node.failed':
      Object.assign(node, { status: 'failed', ended: now, elapsed: node.started ? now - node.started : null, error: data.error, reason: (data.error as { message?: string } | undefined)?.message ?? null, outputs: (data.outputs as Record<string, unknown> | undefined) ?? null })
      break
    case 'node.retrying':
      Object.assign(node, { status: 'pending', reason: (data.error as { message?: string } | undefined)?.message ?? null })
      break
    case 'node.skipped':
      Object.assign(node, { status: 'skipped', reason: data.reason ?? null, ended: now })
      notePass(state, path)
      break
    case 'node.suspended':
      Object.assign(node, { status: 'suspended' })
      break
    case 'node.resumed':
      node.status = 'running'
      break
    case 'node.cancelled':
    case 'node.unknown':
      Object.assign(node, { status: type.slice(5), ended: now })
      break
    case 'node.delta':
      if (data.restart) node.text = ''
      node.text += String(data.text ?? '')
      node.tokens++
      break
    case 'node.log':
      node.log = [...node.log, String(data.message ?? '')]
      break
    case 'tool.started':
      node.tools = [...node.tools, { step: String(data.step), name: String(data.name), done: false, error: false }]
      break
    case 'tool.finished':
      node.tools = node.tools.map((tool) => (tool.step === data.step ? { ...tool, done: true, error: Boolean(data.is_error) } : tool))
      break
    case 'iteration.item':
      note(state, path, Number(data.index), '[')
      break
    case 'loop.round':
      note(state, path, Number(data.round), '#')
      break
    default:
  }
}

/** The pass that the path of an inner node tells of, and those around it. */
function notePass(state: RunState, path: string): void {
  const parts = path.split('.')
  for (let length = 1; length < parts.length; length++) {
    const found = PASS.exec(parts.slice(0, length).join('.'))
    if (found) note(state, found[1]!, Number(found[3]), found[2] as '[' | '#')
  }
}

function note(state: RunState, container: string, index: number, mark: '[' | '#'): void {
  const id = container.split('.').at(-1)!
  const before = state.passes[id] ?? { count: 0, chosen: 0, held: false, mark }
  const count = Math.max(before.count, index + 1)
  if (count !== before.count || before.mark !== mark) state.passes[id] = { ...before, count, mark, chosen: before.held ? before.chosen : count - 1 }
}

/** What the canvas shows: of nodes within bodies the chosen pass of each body. */
function choose({ nodes, passes }: Pick<RunState, 'nodes' | 'passes'>): Record<string, NodeRun> {
  const found: Record<string, NodeRun> = {}
  for (const [path, node] of Object.entries(nodes)) {
    const parts = path.split('.')
    const here = parts.slice(0, -1).every((part) => {
      const pass = PASS.exec(part)
      return !pass || passes[pass[1]!]?.chosen === Number(pass[3])
    })
    if (here) found[parts.at(-1)!] = node
  }
  return found
}

export function choosePass(container: string, index: number): void {
  useRun.setState((state) => {
    const before = state.passes[container]
    if (!before) return state
    const passes = { ...state.passes, [container]: { ...before, chosen: Math.max(0, Math.min(index, before.count - 1)), held: true } }
    return { passes, shown: choose({ nodes: state.nodes, passes }) }
  })
}

let watching: AbortController | null = null

export function clearRun(): void {
  watching?.abort()
  watching = null
  useRun.setState(NOTHING)
}

const LAST = new Set(['run.succeeded', 'run.failed', 'run.cancelled'])

/** Shows a run: its journal from the beginning, then live. Events of one frame are taken together. */
export function watchRun(runId: string, test = false): void {
  clearRun()
  const own = new AbortController()
  watching = own
  useRun.setState({ runId, status: 'queued', test })
  let waiting: RunEvent[] = []
  let frame = 0
  const flush = () => {
    frame = 0
    if (own.signal.aborted || !waiting.length) return
    const events = waiting
    waiting = []
    useRun.setState((state) => fold(state, events))
  }
  void follow(`/api/v1/runs/${encodeURIComponent(runId)}/events`, {
    signal: own.signal,
    onEvent: ({ data }) => {
      waiting.push(data as RunEvent)
      // A hidden page draws no frames, and must go on all the same.
      frame ||= document.hidden ? window.setTimeout(flush, 250) : requestAnimationFrame(flush)
    },
    isLast: ({ type }) => LAST.has(type),
    onState: (connected) => useRun.setState({ connected }),
  }).catch((error: unknown) => {
    if (!own.signal.aborted) useRun.setState({ connected: false, error: { type: 'stream', message: error instanceof Error ? error.message : String(error) } })
  })
}

/** A large value, which events give by reference; it is read when somebody looks at it. */
export interface Reference {
  $payload: string
  size: number
  type: string
}

export const isReference = (value: unknown): value is Reference => typeof value === 'object' && value !== null && '$payload' in value

export const readPayload = (run_id: string, ref: string): Promise<unknown> => api('get', '/api/v1/runs/{run_id}/payloads/{ref}', { path: { run_id, ref } })

/** Path of a node as it is shown: within a body with the chosen pass. */
export function shownPath(id: string, containers: string[]): string {
  const { passes } = useRun.getState()
  const parts = containers.toReversed().map((container) => {
    const pass = passes[container]
    return pass ? (pass.mark === '[' ? `${container}[${pass.chosen}]` : `${container}#${pass.chosen}`) : container
  })
  return [...parts, id].join('.')
}
