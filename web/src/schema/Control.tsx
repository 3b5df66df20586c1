import { lazy, Suspense, useReducer, useRef } from 'react'
import { useT } from '@/i18n/t'
import { Choice } from '@/ui/Choice'
import { Input, Textarea } from '@/ui/Input'
import type { Ids } from '@/ui/Labelled'
import { Toggle } from '@/ui/Toggle'
import { AnyValue } from './controls/AnyValue'
import { ListValue } from './controls/ListValue'
import { MapValue } from './controls/MapValue'
import { ObjectValue } from './controls/ObjectValue'
import { OneKey } from './controls/OneKey'
import { SchemaBuilder } from './controls/SchemaBuilder'
import { Suggest } from './controls/Suggest'
import { Variants } from './controls/Variants'
import { useSurroundings } from './context'
import { type JsonSchema, type Shape, words } from './schema'

const Code = lazy(() => import('@/ui/Code'))

export interface ControlProps {
  shape: Shape
  root: JsonSchema
  value: unknown
  onChange: (value: unknown) => void
  path: string
  label: string
  ids: Ids
  required: boolean
}

const isExpressionText = (value: unknown): value is string => typeof value === 'string' && value.includes('{{')
const SUGGESTED = new Set(['resource', 'model', 'workflow', 'variable', 'tool', 'action', 'mcp_tool'])
const LONG = new Set(['textarea', 'markdown', 'template', 'code'])

/** Whether a field consists of several controls, each with a label of its own. */
export function isGroup(shape: Shape, value: unknown): boolean {
  if (shape.hints.widget === 'schema') return true
  if (isTextField(shape, value)) return false
  return ['object', 'map', 'list', 'variants', 'choice', 'onekey'].includes(shape.kind) || (shape.kind === 'any' && value !== undefined && value !== null && typeof value === 'object')
}

/** Whether a field is one text field. What somebody types must not change that: the field would lose the focus. */
function isTextField(shape: Shape, value: unknown): boolean {
  if (!shape.hints.expression) return false
  if (shape.kind === 'string' || shape.hints.expression === 'expression') return true
  return isExpressionText(value) && shape.kind !== 'any' && !takesText(shape)
}

const takesText = (shape: Shape): boolean => shape.kind === 'choice' && shape.options.some((option) => option.type === 'string')

/** The control of a value, by the rules of the contract: widget, expression, then the kind of its schema. */
export function Control(props: ControlProps) {
  const { shape, value, onChange, ids, label, path } = props
  const { schema, hints } = shape
  const { widgets, options, disabled } = useSurroundings()
  const own = hints.widget ? widgets?.[hints.widget] : undefined
  if (own) return own({ value, onChange, shape, label, ids, path })
  if (hints.widget === 'schema') return <SchemaBuilder value={value as JsonSchema | undefined} onChange={onChange} label={label} />
  if (hints.widget && SUGGESTED.has(hints.widget) && shape.kind === 'string') {
    return <Suggest {...props} options={options?.(hints.widget, hints.resource)} />
  }
  if (hints.widget === 'code') return <CodeControl {...props} />
  if (isTextField(shape, value)) return <Text {...props} />
  switch (shape.kind) {
    case 'enum':
      return <EnumControl {...props} />
    case 'boolean':
      return <Toggle {...ids} checked={value === undefined || value === null ? schema.default === true : value === true} onChange={onChange} {...(disabled ? { disabled } : {})} />
    case 'number':
      return hints.expression ? <Text {...props} numeric /> : <NumberControl {...props} />
    case 'duration':
      return <DurationControl {...props} />
    case 'variants':
    case 'choice':
      return <Variants {...props} />
    case 'onekey':
      return <OneKey {...props} />
    case 'object':
      return <ObjectValue {...props} />
    case 'map':
      return <MapValue {...props} />
    case 'list':
      return <ListValue {...props} />
    case 'string':
      return <Text {...props} />
    default:
      return <AnyValue {...props} />
  }
}

const seconds = (value: unknown): string => (typeof value === 'number' ? `${value}s` : typeof value === 'string' ? value : '30s')

function example(shape: Shape): string | undefined {
  const { schema, hints } = shape
  if (hints.placeholder) return hints.placeholder
  if (typeof schema.default === 'string' && schema.default) return schema.default
  const first = schema.examples?.[0]
  return typeof first === 'string' && !first.includes('\n') ? first : undefined
}

const NUMBER = /^-?\d+(\.\d+)?$/
const DURATION = /^\d+(\.\d+)?$/

/** The text of a field whose value may be a number. What was typed stays as it is while it stands for the value: `1.0` on the way to `1.05` is no `1`. */
function useTyped(value: unknown, onChange: (value: unknown) => void, numbers: RegExp | null): [string, (next: string) => void] {
  const shown = value === undefined || value === null ? '' : String(value)
  // Not a state: what holds the value may draw first, and an editor would then be given the text from before.
  const typed = useRef(shown)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const read = (text: string) => (text === '' ? undefined : numbers?.test(text) ? Number(text) : text)
  const change = (next: string) => {
    typed.current = next
    redraw()
    onChange(read(next))
  }
  return [read(typed.current) === value ? typed.current : shown, change]
}

/** A text; where the page offers it, with completion and preview of expressions. */
export function Text({ shape, value, onChange, ids, label, path, numeric }: ControlProps & { numeric?: boolean }) {
  const { expressionField, disabled } = useSurroundings()
  const [text, change] = useTyped(value, onChange, numeric ? NUMBER : null)
  const multiline = LONG.has(shape.hints.widget ?? '') || shape.hints.expression === 'template' || text.includes('\n')
  const placeholder = example(shape)
  if (shape.hints.expression && expressionField) {
    return expressionField({ value: text, onChange: change, shape, ids, label, path, multiline, placeholder })
  }
  const common = { ...ids, value: text, placeholder, disabled, spellCheck: false }
  if (multiline) return <Textarea {...common} rows={shape.hints.rows ?? 4} onChange={(event) => change(event.target.value)} />
  return <Input {...common} type={shape.hints.secret && !shape.hints.expression ? 'password' : 'text'} onChange={(event) => change(event.target.value)} />
}

function DurationControl({ shape, value, onChange, ids }: ControlProps) {
  const [text, change] = useTyped(value, onChange, DURATION)
  return <Input {...ids} value={text} placeholder={seconds(shape.schema.default)} onChange={(event) => change(event.target.value)} />
}

function NumberControl({ shape, value, onChange, ids }: ControlProps) {
  const { schema } = shape
  return (
    <Input
      {...ids}
      type="number"
      min={schema.minimum}
      max={schema.maximum}
      step={shape.integer ? 1 : 'any'}
      value={typeof value === 'number' ? value : ''}
      placeholder={schema.default === undefined || schema.default === null ? undefined : String(schema.default)}
      onChange={(event) => onChange(event.target.value === '' ? undefined : Number(event.target.value))}
    />
  )
}

function EnumControl({ shape, value, onChange, ids, required }: ControlProps) {
  const t = useT()
  const { schema } = shape
  const symbols = schema.enum!.some((one) => /[^\w\s-]/.test(String(one)) || String(one).toUpperCase() === String(one))
  const options = schema.enum!.map((one) => ({ value: String(one), label: symbols ? String(one) : words(String(one)) }))
  const free = !required && (schema.default === undefined || schema.default === null)
  const all = free ? [{ value: '', label: t('common.by_default') }, ...options] : options
  const current = value ?? schema.default
  return <Choice {...ids} value={current === undefined || current === null ? (free ? '' : undefined) : String(current)} options={all} onChange={(next) => onChange(next === '' ? undefined : schema.enum!.find((one) => String(one) === next))} />
}

function CodeControl({ shape, value, onChange, ids, label, path }: ControlProps) {
  const text = typeof value === 'string' ? value : ''
  return (
    <Suspense fallback={<Textarea {...ids} rows={8} value={text} onChange={(event) => onChange(event.target.value)} className="font-mono text-[13px]" />}>
      <Code value={text} onChange={onChange} language={(shape.hints.language ?? 'text') as 'python'} label={label} describedBy={ids['aria-describedby']} id={path} />
    </Suspense>
  )
}
