import { Choice } from '@/ui/Choice'
import { useT } from '@/i18n/t'
import { type ControlProps } from '../Control'
import { Field } from '../Field'
import { initial, labelOf, resolve } from '../schema'

/** An object of exactly one key, such as a step: which one, and its settings. */
export function OneKey({ shape, root, value, onChange, path, label }: ControlProps) {
  const t = useT()
  const properties = shape.schema.properties!
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const key = Object.keys(given)[0] ?? ''
  const known = properties[key]
  return (
    <div className="flex flex-col gap-3">
      <Choice
        aria-label={t('common.kind_of', { name: label })}
        value={key}
        options={Object.entries(properties).map(([name, schema]) => ({ value: name, label: labelOf(resolve(schema, root), name) }))}
        onChange={(next) => onChange({ [next]: initial(properties[next]!, root) })}
      />
      {known && <Field key={key} name={key} root={root} schema={known} value={given[key]} required path={`${path}.${key}`} onChange={(next) => onChange({ [key]: next ?? '' })} />}
    </div>
  )
}
