import type { JsonSchema } from '@/schema/schema'
import type { Checks } from './checks'
import type { WorkflowDocument } from './document'
import { around, find, upstream } from './operations'

export interface Name {
  name: string
  schema: JsonSchema
  /** What it is: shown beside it. */
  detail: string
}

/** The names that an expression of a node may begin with, those nearest first. */
export function namesAt(document: WorkflowDocument, node: string, checks: Pick<Checks, 'types' | 'inside'>, options: { item?: boolean; body?: boolean; secret?: boolean } = {}): Name[] {
  const found: Name[] = []
  const add = (name: string, schema: JsonSchema, detail: string) => {
    if (!found.some((one) => one.name === name)) found.push({ name, schema, detail })
  }
  if (options.item) {
    add('item', {}, 'item')
    add('index', { type: 'integer' }, 'index')
  }
  const own = find(document, node)?.node
  const containers = options.body && own?.body ? [node, ...around(document, node)] : around(document, node)
  for (const container of containers) {
    for (const [name, schema] of Object.entries(checks.inside[container] ?? {})) add(name, schema, container)
  }
  if (options.body && own?.body) for (const inner of own.body.nodes) add(inner.id, checks.types[inner.id] ?? {}, inner.label ?? inner.type)
  for (const id of upstream(document, node)) {
    const before = find(document, id)!.node
    if (before.type !== 'START' && before.type !== 'END') add(id, withError(checks.types[id] ?? {}), before.label ?? before.type)
  }
  add('inputs', document.inputs ?? { type: 'object' }, 'inputs')
  const variables = Object.entries(document.variables ?? {})
  if (variables.length) {
    add('vars', { type: 'object', properties: Object.fromEntries(variables.map(([name, one]) => [name, one.type && one.type !== 'any' ? { type: one.type } : {}])) }, 'variables')
  }
  add('run', { type: 'object', properties: { id: { type: 'string' }, started_at: { type: 'string' }, attempt: { type: 'integer' }, scheduled_for: {} } }, 'run')
  add('trigger', { type: 'object', properties: { kind: { type: 'string' }, headers: {}, body: {} } }, 'trigger')
  add('env', { type: 'object' }, 'env')
  if (options.secret) add('secrets', { type: 'object' }, 'secrets')
  return found
}

const withError = (schema: JsonSchema): JsonSchema => (schema.properties ? { ...schema, properties: { ...schema.properties, error: { type: 'object', properties: { type: { type: 'string' }, message: { type: 'string' } } } } } : schema)

/** The fields below a schema, alternatives taken together. */
export function fieldsOf(schema: JsonSchema): Record<string, JsonSchema> {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return Object.assign({}, ...parts.map(fieldsOf), schema.properties ?? {}) as Record<string, JsonSchema>
}

/** The schema at a path such as `fetch.body.items[0]`; undefined where nothing is known. */
export function schemaAt(names: Name[], path: string): JsonSchema | undefined {
  const steps = path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? []
  const [root, ...rest] = steps
  let schema = names.find((one) => one.name === root)?.schema
  for (const step of rest) {
    if (!schema) return undefined
    schema = step.startsWith('[') ? (schema.items ?? schema.anyOf?.find((one) => one.items)?.items) : fieldsOf(schema)[step]
  }
  return schema
}

/** A type in a word or two: `text`, `list of number`. */
export function typeName(schema: JsonSchema | undefined): string {
  if (!schema) return ''
  if (schema.anyOf ?? schema.oneOf) {
    const names = [...new Set((schema.anyOf ?? schema.oneOf)!.map(typeName).filter(Boolean))]
    return names.length > 3 ? 'any' : names.join(' | ')
  }
  if (schema.format === 'file') return 'file'
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type
  if (type === 'array') return schema.items && typeName(schema.items) ? `list of ${typeName(schema.items)}` : 'list'
  return { string: 'text', integer: 'integer', number: 'number', boolean: 'yes/no', object: 'object', null: 'null' }[type ?? ''] ?? type ?? 'any'
}

/** The reference that ends at a place of a text, if the place is within an expression. */
export function referenceBefore(text: string, at: number, kind: 'value' | 'expression' | 'template'): { from: number; path: string } | null {
  const before = text.slice(0, at)
  if (kind !== 'expression') {
    const start = Math.max(before.lastIndexOf('{{'), before.lastIndexOf('{%'))
    const end = Math.max(before.lastIndexOf('}}'), before.lastIndexOf('%}'))
    if (start < 0 || end > start) return null
  }
  const found = /(?:[A-Za-z_]\w*(?:\[[^\]]*\])*\.)*(?:[A-Za-z_]\w*)?$/.exec(before)
  if (!found) return null
  const quoted = (before.slice(Math.max(before.lastIndexOf('{{'), 0)).match(/'/g) ?? []).length % 2 === 1
  return quoted ? null : { from: at - found[0].length, path: found[0] }
}
