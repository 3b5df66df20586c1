import { ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useT } from '@/i18n/t'
import { Surroundings, type FormSurroundings } from './context'
import { Field } from './Field'
import type { JsonSchema } from './schema'

interface Props {
  schema: JsonSchema
  value: Record<string, unknown>
  onChange: (value: Record<string, unknown>) => void
  surroundings?: FormSurroundings
  /** Before every path: `config` in the inspector. */
  path?: string
  /** Fields that stand first and are always shown; all others go below "More" where there are many. */
  leave?: string[]
}

const NONE: FormSurroundings = {}
const MANY = 7

/** A form for an object of a JSON Schema. It holds nothing itself: each change gives the whole new object. */
export function SchemaForm({ schema, value, onChange, surroundings = NONE, path = '', leave }: Props) {
  return (
    <Surroundings value={surroundings}>
      <Fields root={schema} schema={schema} value={value} onChange={onChange} path={path} {...(leave ? { leave } : {})} />
    </Surroundings>
  )
}

interface FieldsProps {
  root: JsonSchema
  schema: JsonSchema
  value: Record<string, unknown>
  onChange: (value: Record<string, unknown>) => void
  path: string
  leave?: string[]
  fold?: boolean
}

/** The fields of an object; what is neither required nor set is folded away where there is much of it. */
export function Fields({ root, schema, value, onChange, path, leave, fold = true }: FieldsProps) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const names = useMemo(() => Object.keys(schema.properties ?? {}).filter((name) => !leave?.includes(name)), [schema, leave])
  // Decided when the form opens: a field must not move while somebody types in it.
  const [first] = useState(() => (fold && names.length > MANY ? names.filter((name, index) => index < 4 || schema.required?.includes(name) || value[name] !== undefined) : names))
  const shown = names.filter((name) => first.includes(name))
  const rest = names.filter((name) => !first.includes(name))
  const field = (name: string) => (
    <Field
      key={name}
      name={name}
      root={root}
      schema={schema.properties![name]!}
      value={value[name]}
      required={schema.required?.includes(name) ?? false}
      path={path ? `${path}.${name}` : name}
      onChange={(next) => {
        const { [name]: _, ...others } = value
        onChange(next === undefined ? others : { ...value, [name]: next })
      }}
    />
  )
  return (
    <div className="flex flex-col gap-4">
      {shown.map(field)}
      {rest.length > 0 && (
        <div className="flex flex-col gap-4">
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex items-center gap-1 self-start rounded text-[13px] font-medium text-accent-text">
            <ChevronRight size={15} aria-hidden className={open ? 'rotate-90' : ''} />
            {t('common.more_fields', { n: rest.length })}
          </button>
          {open && rest.map(field)}
        </div>
      )}
    </div>
  )
}
