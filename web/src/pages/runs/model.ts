import type { RunEvent } from '@/api/runs'

/** One attempt of a node, or its wait; times in Unix seconds. */
export interface Span {
  start: number
  end: number | null
  kind: 'work' | 'wait'
  attempt: number
  failed: boolean
}

export interface Attempt {
  attempt: number
  start: number
  end: number | null
  error: { type: string; message: string } | null
  delay: number | null
}

export interface ToolCall {
  step: string
  name: string
  arguments: unknown
  text: string | null
  value: unknown
  error: boolean
  start: number
  end: number | null
}

/** What the journal tells of a node at one path. */
export interface NodeView {
  path: string
  spans: Span[]
  attempts: Attempt[]
  outputs: Record<string, unknown> | null
  handles: string[]
  error: { type: string; message: string; [more: string]: unknown } | null
  log: { at: number; message: string }[]
  tools: ToolCall[]
  text: string
  models: Record<string, unknown>[]
  passes: { index: number; status: string | null; mark: '[' | '#' }[]
}

export interface Journal {
  nodes: Record<string, NodeView>
  start: number | null
  end: number | null
  last: number
  status: string | null
}

const fresh = (path: string): NodeView => ({ path, spans: [], attempts: [], outputs: null, handles: [], error: null, log: [], tools: [], text: '', models: [], passes: [] })

const close = (node: NodeView, at: number, failed = false): void => {
  const span = node.spans.at(-1)
  if (span && span.end === null) {
    span.end = at
    span.failed = failed
  }
  const attempt = node.attempts.at(-1)
  if (attempt && attempt.end === null) attempt.end = at
}

/** The state of a run as its events tell it. */
export function read(events: RunEvent[]): Journal {
  const journal: Journal = { nodes: {}, start: null, end: null, last: 0, status: null }
  for (const event of events) {
    journal.last = event.seq
    if (event.path === '') ofRun(journal, event)
    else ofNode((journal.nodes[event.path] ??= fresh(event.path)), event)
  }
  return journal
}

function ofRun(journal: Journal, { type, at }: RunEvent): void {
  if (!type.startsWith('run.')) return
  journal.start ??= at
  const status = type.slice(4)
  journal.status = status === 'started' || status === 'resumed' ? 'running' : status
  if (!['succeeded', 'failed', 'cancelled'].includes(status)) return
  journal.end = at
  for (const node of Object.values(journal.nodes)) close(node, at)
}

function ofNode(node: NodeView, { type, at, attempt, data }: RunEvent): void {
  switch (type) {
    case 'node.started':
      node.spans.push({ start: at, end: null, kind: 'work', attempt, failed: false })
      node.attempts.push({ attempt, start: at, end: null, error: null, delay: null })
      node.error = null
      break
    case 'node.retrying': {
      close(node, at, true)
      const last = node.attempts.at(-1)
      if (last) Object.assign(last, { error: data.error, delay: data.delay ?? null })
      break
    }
    case 'node.succeeded':
      close(node, at)
      if (!node.spans.length && typeof data.elapsed_ms === 'number' && !data.reused) node.spans.push({ start: at - data.elapsed_ms / 1000, end: at, kind: 'work', attempt, failed: false })
      node.outputs = (data.outputs as Record<string, unknown> | undefined) ?? {}
      node.handles = (data.handles as string[] | undefined) ?? ['out']
      break
    case 'node.failed': {
      close(node, at, true)
      node.error = data.error as NodeView['error']
      if (data.outputs) node.outputs = data.outputs as Record<string, unknown>
      const last = node.attempts.at(-1)
      if (last) last.error = node.error
      break
    }
    case 'node.suspended':
      close(node, at)
      if (node.spans.at(-1)?.kind !== 'wait' || node.spans.at(-1)?.end !== null) node.spans.push({ start: at, end: null, kind: 'wait', attempt, failed: false })
      break
    case 'node.resumed':
      close(node, at)
      node.spans.push({ start: at, end: null, kind: 'work', attempt, failed: false })
      break
    case 'node.cancelled':
    case 'node.unknown':
      close(node, at, true)
      break
    case 'node.log':
      node.log.push({ at, message: String(data.message ?? '') })
      break
    case 'node.delta':
      if (data.restart) node.text = ''
      if (!data.reasoning) node.text += String(data.text ?? '')
      break
    default:
      ofStep(node, type, at, data)
  }
}

function ofStep(node: NodeView, type: string, at: number, data: Record<string, unknown>): void {
  if (type === 'model.finished') node.models.push({ at, ...data })
  if (type === 'tool.started') {
    node.tools.push({ step: String(data.step), name: String(data.name), arguments: data.arguments, text: null, value: undefined, error: false, start: at, end: null })
  }
  if (type === 'tool.finished') {
    const call = node.tools.findLast((one) => one.step === data.step)
    if (call) Object.assign(call, { text: (data.text as string | undefined) ?? null, value: data.value, error: Boolean(data.is_error), end: at })
  }
  if (type === 'iteration.item' || type === 'loop.round') {
    const mark = type === 'loop.round' ? '#' : '['
    const index = Number(mark === '#' ? data.round : data.index)
    if (!node.passes.some((pass) => pass.index === index)) node.passes.push({ index, status: (data.status as string | undefined) ?? null, mark })
  }
}

/** Milliseconds that a node worked, without its waits. */
export function worked(node: NodeView | undefined, now: number): number | null {
  const own = node?.spans.filter((span) => span.kind === 'work') ?? []
  return own.length ? own.reduce((sum, span) => sum + ((span.end ?? now) - span.start) * 1000, 0) : null
}

export interface Branch {
  path: string
  name: string
  children: Branch[]
  /** `[2]` or `#1`: a pass of a body, which is no node itself. */
  pass: string | null
}

const STEP = /^(.*?)(\[\d+\]|#\d+)$/

/** The paths of a run as a tree: containers hold their passes, passes their nodes. */
export function tree(paths: string[], order: (name: string) => number): Branch[] {
  const root: Branch = { path: '', name: '', children: [], pass: null }
  const known = new Map<string, Branch>([['', root]])
  const place = (path: string): Branch => {
    const found = known.get(path)
    if (found) return found
    const pass = STEP.exec(path)
    const dot = path.lastIndexOf('.')
    const parent = pass ? place(pass[1]!) : place(dot < 0 ? '' : path.slice(0, dot))
    const made: Branch = { path, name: pass ? pass[2]! : path.slice(dot + 1), children: [], pass: pass ? pass[2]! : null }
    known.set(path, made)
    parent.children.push(made)
    return made
  }
  for (const path of paths) place(path)
  const sort = (branch: Branch) => {
    branch.children.sort((a, b) => (a.pass && b.pass ? Number(a.pass.replace(/\D/g, '')) - Number(b.pass.replace(/\D/g, '')) : order(a.name) - order(b.name)))
    for (const child of branch.children) sort(child)
  }
  sort(root)
  return root.children
}
