/** A JSON Schema as the server exports it; `ui` holds what only forms read. */
export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  examples?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  properties?: Record<string, JsonSchema>
  patternProperties?: Record<string, JsonSchema>
  additionalProperties?: boolean | JsonSchema
  required?: string[]
  items?: JsonSchema
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  pattern?: string
  format?: string
  ui?: Hints
}

export interface Hints {
  expression?: 'value' | 'expression' | 'template'
  secret?: boolean
  widget?: string
  language?: string
  resource?: string
  unit?: string
  rows?: number
  placeholder?: string
  advanced?: boolean
}

export type Kind = 'const' | 'enum' | 'string' | 'duration' | 'number' | 'boolean' | 'variants' | 'choice' | 'onekey' | 'object' | 'map' | 'list' | 'any'

/** What a field is, with references, `| null` and `| "{{ … }}"` taken off. */
export interface Shape {
  kind: Kind
  schema: JsonSchema
  nullable: boolean
  hints: Hints
  /** Alternatives of `variants` (told apart by a tag) and `choice` (told apart by their form). */
  options: JsonSchema[]
  integer: boolean
}

export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = schema
  for (let depth = 0; found.$ref !== undefined && depth < 20; depth++) {
    const { $ref, ...beside } = found
    const target = root.$defs?.[$ref.replace('#/$defs/', '')] ?? {}
    found = { ...target, ...beside }
  }
  return found
}

const isTemplateText = (schema: JsonSchema): boolean => schema.type === 'string' && schema.pattern === '\\{\\{'
const isDurationText = (schema: JsonSchema): boolean => schema.type === 'string' && (schema.pattern?.includes('(ms|s|m|h|d)') ?? false)

/** Takes `anyOf` apart until one thing, or real alternatives, are left. */
export function shapeOf(given: JsonSchema, root: JsonSchema): Shape {
  let schema = resolve(given, root)
  let nullable = false
  let hints: Hints = { ...schema.ui }
  for (;;) {
    const parts = schema.anyOf?.map((part) => resolve(part, root))
    if (!parts) break
    const left = parts.filter((part) => part.type !== 'null' && !isTemplateText(part))
    nullable ||= parts.some((part) => part.type === 'null')
    const { anyOf: _, ...beside } = schema
    if (left.length !== 1) {
      schema = { ...beside, anyOf: left }
      break
    }
    const { title, description, default: value, ...inner } = left[0]!
    hints = { ...inner.ui, ...hints }
    schema = { ...(title ? { title } : {}), ...(description ? { description } : {}), ...(value === undefined ? {} : { default: value }), ...inner, ...beside }
  }
  hints = { ...schema.ui, ...hints }
  const options = (schema.oneOf ?? schema.anyOf ?? []).map((part) => resolve(part, root))
  return { kind: kindOf(schema, options), schema, nullable, hints, options, integer: schema.type === 'integer' }
}

function kindOf(schema: JsonSchema, options: JsonSchema[]): Kind {
  if ('const' in schema) return 'const'
  if (schema.enum) return 'enum'
  if (options.some(isDurationText) && options.every((part) => part.type === 'number' || isDurationText(part))) return 'duration'
  if (isDurationText(schema)) return 'duration'
  if (schema.oneOf && (schema.discriminator || options.every((option) => tagOf(option) !== undefined))) return 'variants'
  if (options.length > 1) return 'choice'
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return schema.items && Object.keys(schema.items).length ? 'list' : 'any'
    case 'object':
      if (schema.minProperties === 1 && schema.maxProperties === 1 && schema.properties) return 'onekey'
      return schema.properties && Object.keys(schema.properties).length ? 'object' : 'map'
    default:
      return 'any'
  }
}

/** The field that tells a variant, and its value: `type: "bearer"`. */
export function tagOf(option: JsonSchema): { name: string; value: string } | undefined {
  for (const [name, property] of Object.entries(option.properties ?? {})) {
    if (typeof property.const === 'string' && (option.required?.includes(name) || property.const === property.default || 'const' in property)) {
      return { name, value: property.const }
    }
  }
  return undefined
}

/** Which alternative a value is of; the first where it says nothing. */
export function optionOf(value: unknown, options: JsonSchema[], root: JsonSchema): number {
  const found = options.findIndex((option) => fits(value, option, root))
  return Math.max(found, 0)
}

function fits(value: unknown, option: JsonSchema, root: JsonSchema): boolean {
  const { kind, schema } = shapeOf(option, root)
  switch (kind) {
    case 'const':
      return value === schema.const
    case 'enum':
      return schema.enum!.includes(value)
    case 'string':
    case 'duration':
      return typeof value === 'string' || (kind === 'duration' && typeof value === 'number')
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'list':
      return Array.isArray(value)
    case 'object':
    case 'map':
    case 'onekey': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
      const known = schema.properties ?? {}
      const tag = tagOf(schema)
      if (tag && (value as Record<string, unknown>)[tag.name] !== tag.value) return false
      return kind === 'map' || Object.keys(value).every((name) => name in known)
    }
    default:
      return kind === 'any' && (schema.type === 'array' ? Array.isArray(value) : true)
  }
}

/** What a new value of a schema begins with: only what is required, or fixed. */
export function initial(given: JsonSchema, root: JsonSchema): unknown {
  const shape = shapeOf(given, root)
  const { schema } = shape
  if (schema.default !== undefined && schema.default !== null) return schema.default
  switch (shape.kind) {
    case 'const':
      return schema.const
    case 'enum':
      return schema.enum![0]
    case 'string':
      return ''
    case 'duration':
      return '1m'
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    case 'list':
      return Array.from({ length: schema.minItems ?? 0 }, () => initial(schema.items!, root))
    case 'variants':
    case 'choice':
      return initial(shape.options[0]!, root)
    case 'onekey': {
      const [name, first] = Object.entries(schema.properties!)[0]!
      return { [name]: initial(first, root) }
    }
    case 'object':
      return initialObject(schema, root)
    case 'map':
      return {}
    default:
      return schema.type === 'array' ? [] : ''
  }
}

function initialObject(schema: JsonSchema, root: JsonSchema): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) || 'const' in resolve(property, root)) made[name] = initial(property, root)
  }
  return made
}

/** A name of the code as people read it: `max_tokens` → "Max tokens". */
export function words(name: string): string {
  const spaced = name.replace(/_/g, ' ').trim()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const plain = (title: string | undefined, name: string): boolean =>
  title !== undefined && title.toLowerCase().replace(/\s/g, '') === name.toLowerCase().replace(/_/g, '')

/** The label of a field: its title, or its name where the title is only that name in capitals. */
export const labelOf = (schema: JsonSchema, name: string): string =>
  schema.title && !plain(schema.title, name) ? schema.title : words(name)

/** What is wrong with a value as far as its schema says without the server. */
export function quickCheck(value: unknown, schema: JsonSchema): 'required' | 'minimum' | 'maximum' | 'pattern' | 'too_long' | undefined {
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum) return 'minimum'
    if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) return 'minimum'
    if (schema.maximum !== undefined && value > schema.maximum) return 'maximum'
  }
  if (typeof value === 'string' && value && !value.includes('{{')) {
    if (schema.maxLength !== undefined && value.length > schema.maxLength) return 'too_long'
    if (schema.pattern && !safely(schema.pattern, value)) return 'pattern'
  }
  return undefined
}

function safely(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}
