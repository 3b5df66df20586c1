import type { JsonSchema } from '@/schema/schema'

/** The document as the server stores it; see the JSON Schema of the format. */
export interface NodeSpec {
  id: string
  type: string
  label?: string | null
  note?: string | null
  join?: 'any' | 'all'
  on_error?: 'stop' | 'continue' | 'branch'
  default_output?: Record<string, unknown> | null
  retry?: Record<string, unknown> | null
  timeout?: number | string | null
  wait?: { for?: number | string; until?: string } | null
  effects?: string | null
  on_unknown?: string
  confirm?: boolean
  pool?: string | null
  disabled?: boolean
  config?: Record<string, unknown>
  body?: Body | null
}

export interface EdgeSpec {
  from: string
  handle?: string
  to: string
}

export interface Body {
  nodes: NodeSpec[]
  edges: EdgeSpec[]
}

export interface Note {
  id: string
  text: string
  position: [number, number]
  size?: [number, number]
}

export interface UiData {
  positions?: Record<string, [number, number]>
  notes?: Note[]
  collapsed?: string[]
  [more: string]: unknown
}

export interface WorkflowDocument {
  schema?: string
  name: string
  description?: string | null
  inputs?: JsonSchema
  variables?: Record<string, { type?: string; default?: unknown; scope?: string; description?: string | null }>
  settings?: Record<string, unknown>
  triggers?: Record<string, unknown>[]
  nodes: NodeSpec[]
  edges: EdgeSpec[]
  ui?: UiData
}

/** What a new workflow begins with: it validates and runs. */
export const blank = (name: string): WorkflowDocument => ({
  name,
  inputs: { type: 'object', properties: {} },
  nodes: [
    { id: 'start', type: 'START' },
    { id: 'end', type: 'END', config: { outputs: {} } },
  ],
  edges: [{ from: 'start', to: 'end' }],
  ui: { positions: { start: [0, 0], end: [320, 0] } },
})
