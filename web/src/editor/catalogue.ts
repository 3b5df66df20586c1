import { useQuery } from '@tanstack/react-query'
import { api } from '@/api/client'
import { text } from '@/i18n/t'
import { type JsonSchema, words } from '@/schema/schema'

export interface NodeType {
  type: string
  description: string
  details: string
  group: string
  icon: string
  effects: string
  timeout_seconds: number | null
  body: boolean
  handles: string[]
  config: JsonSchema
  output: JsonSchema
  example: Record<string, unknown>
}

export interface Catalogue {
  types: NodeType[]
  byType: Map<string, NodeType>
  shared: JsonSchema
  settings: JsonSchema
}

async function read(): Promise<Catalogue> {
  const found: { items: NodeType[]; shared: JsonSchema; settings: JsonSchema } = await api('get', '/api/v1/nodes', { query: { limit: 200 } })
  return { types: found.items, byType: new Map(found.items.map((one) => [one.type, one])), shared: found.shared, settings: found.settings }
}

export const useCatalogue = () => useQuery({ queryKey: ['nodes'], queryFn: read, staleTime: Infinity })

export const GROUPS = ['flow', 'ai', 'connect', 'logic', 'human', 'data', 'code']

/** What a type is called and does, in the reader's language where it is a built-in one. */
export const titleOf = (type: string): string => text(`nodes.${type}`) ?? words(type.toLowerCase())
export const summaryOf = (type: NodeType): string => text(`nodes.${type.type}_about`) ?? type.description

/** What a new node of a type begins with: what its form demands, and for readers nothing that has to be deleted again. */
export function firstConfig(type: NodeType): Record<string, unknown> {
  const required = new Set(type.config.required ?? [])
  const made: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(type.example)) if (required.has(name)) made[name] = blankOf(value, name)
  // Code that stands there with parameters is wrong without their values.
  if ('code' in made && type.example.inputs) made.inputs = type.example.inputs
  return made
}

const KEPT = new Set(['cases', 'classes', 'operations', 'steps', 'max_rounds', 'code', 'assignments', 'values', 'actions', 'mode', 'operation', 'outputs'])

/** Examples of structure are a good beginning; examples of content are somebody else's. */
const blankOf = (value: unknown, name: string): unknown => {
  if (KEPT.has(name) || typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' ? '' : Array.isArray(value) ? value : {}
}
