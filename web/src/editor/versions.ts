import { api } from '@/api/client'
import type { Pushed } from '@/api/workflows'
import { asVersion } from './autosave'
import type { WorkflowDocument } from './document'
import { edit, useEditor } from './store'

export interface Version {
  number: number
  created_at: number
  note: string
}

interface Change {
  path: string
  before: unknown
  after: unknown
}

export interface Comparison {
  before: string
  after: string
  diff: {
    added: { id: string; type: string; label: string | null; inside: string | null }[]
    removed: { id: string; type: string; label: string | null; inside: string | null }[]
    changed: { id: string; type: string; changes: Change[] }[]
    edges_added: { from: string; handle: string; to: string; inside: string | null }[]
    edges_removed: { from: string; handle: string; to: string; inside: string | null }[]
    document: Change[]
    inputs: Change[]
    variables: Change[]
    settings: Change[]
  }
}

export async function listVersions(workflow: string): Promise<Version[]> {
  const found: { items: Version[] } = await api('get', '/api/v1/workflows/{workflow}/versions', { path: { workflow }, query: { limit: 200 } })
  return found.items
}

export async function readVersion(workflow: string, version: number | string): Promise<WorkflowDocument> {
  const found: { document: WorkflowDocument } = await api('get', '/api/v1/workflows/{workflow}', { path: { workflow }, query: { version: String(version) } })
  return found.document
}

/** Makes the document a version, and with `publish` the one that runs by name. */
export async function keep(note: string, publish: boolean): Promise<Pushed> {
  const made = await asVersion((workflow, document, seen) => api('post', '/api/v1/workflows/{workflow}/versions', { path: { workflow }, body: { document: document as never, note, publish, seen } }))
  if (publish && useEditor.getState().workflow === made.id) useEditor.setState({ publishedVersion: made.version })
  return made
}

export async function publish(version: number): Promise<void> {
  const { workflow } = useEditor.getState()
  await api('post', '/api/v1/workflows/{workflow}/publish', { path: { workflow }, body: { version } })
  useEditor.setState({ publishedVersion: version })
}

/** Takes an earlier version into the editor; a step that can be undone. */
export async function restore(version: number): Promise<void> {
  const document = await readVersion(useEditor.getState().workflow, version)
  edit((now) => ({ ...document, name: now.name }))
}

export const compare = (before: WorkflowDocument, after: WorkflowDocument): Promise<Comparison> =>
  api('post', '/api/v1/workflows/compare', { body: { before: before as never, after: after as never } })

export interface Line {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** The lines of two texts beside each other: the longest common part stays, the rest came or went. */
export function lineDiff(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)]
  const middle = x.length * y.length > 4_000_000 ? [...x.map((text): Line => ({ kind: 'removed', text })), ...y.map((text): Line => ({ kind: 'added', text }))] : longest(x, y)
  const same = (text: string): Line => ({ kind: 'same', text })
  return [...a.slice(0, head).map(same), ...middle, ...a.slice(a.length - tail).map(same)]
}

function longest(x: string[], y: string[]): Line[] {
  const width = y.length + 1
  const table = new Uint32Array((x.length + 1) * width)
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      table[i * width + j] = x[i] === y[j] ? table[(i + 1) * width + j + 1]! + 1 : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!)
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      lines.push({ kind: 'same', text: x[i]! })
      i++
      j++
    } else if (j >= y.length || (i < x.length && table[(i + 1) * width + j]! >= table[i * width + j + 1]!)) lines.push({ kind: 'removed', text: x[i++]! })
    else lines.push({ kind: 'added', text: y[j++]! })
  }
  return lines
}
