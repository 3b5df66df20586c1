import { X } from 'lucide-react'
import { useT, type Key } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { Labelled } from '@/ui/Labelled'
import { Control, isGroup } from './Control'
import { useSurroundings } from './context'
import { Group } from './Group'
import { labelOf, quickCheck, resolve, shapeOf, type JsonSchema } from './schema'

export interface FieldProps {
  name: string
  root: JsonSchema
  schema: JsonSchema
  value: unknown
  onChange: (value: unknown) => void
  path: string
  required?: boolean
  label?: string
}

/** One property with its label, help, errors and, where it may be empty, a way to clear it. */
export function Field({ name, root, schema, value, onChange, path, required, label }: FieldProps) {
  const t = useT()
  const { problems } = useSurroundings()
  const shape = shapeOf(schema, root)
  if (shape.kind === 'const' || shape.hints.widget === 'hidden') return null
  const described = resolve(schema, root)
  const title = label ?? labelOf(described.title ? described : shape.schema, name)
  const unit = shape.hints.unit ? ` (${shape.hints.unit})` : ''
  const found = quickCheck(value, shape.schema)
  const quick = found && t(`common.check_${found}` as Key, { limit: String(shape.schema.minimum ?? shape.schema.maximum ?? shape.schema.maxLength ?? '') })
  const error = problems?.[path] ?? quick
  const set = value !== undefined && value !== null && value !== ''
  const aside =
    set && !required ? (
      <IconButton size="sm" className="-my-1 size-6!" label={t('common.clear_field', { name: title })} icon={<X size={13} />} onClick={() => onChange(undefined)} />
    ) : undefined
  const help = described.description ?? shape.schema.description
  const control = { shape, root, value, onChange, path, label: title, required: required ?? false }
  if (isGroup(shape, value)) {
    return (
      <Group label={title + unit} help={help} error={error} aside={aside} required={required ?? false}>
        <Control {...control} ids={{ id: '' }} />
      </Group>
    )
  }
  return (
    <Labelled label={title + unit} help={help} error={error} required={required ?? false} aside={aside}>
      {(ids) => <Control {...control} ids={ids} />}
    </Labelled>
  )
}
