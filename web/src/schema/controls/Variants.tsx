import { useT } from '@/i18n/t'
import { Choice } from '@/ui/Choice'
import { Control, type ControlProps } from '../Control'
import { Fields } from '../SchemaForm'
import { initial, optionOf, shapeOf, tagOf, words, type JsonSchema } from '../schema'

/** One of several forms: a choice, and the fields of what is chosen. The tag itself is not shown. */
export function Variants(props: ControlProps) {
  const { shape, root, value, onChange, path, label, required } = props
  const t = useT()
  const { options, schema } = shape
  const absent = value === undefined || value === null
  const free = !required && (absent || schema.default === undefined || schema.default === null)
  const index = absent && free && schema.default == null ? -1 : optionOf(absent ? schema.default : value, options, root)
  const chosen = index < 0 ? undefined : options[index]
  const names = options.map((option, at) => ({ value: String(at), label: nameOf(option, root, t('common.text'), t('common.number')) }))
  const all = free ? [{ value: '-1', label: t('common.by_default') }, ...names] : names
  const inner = chosen && { ...shapeOf(chosen, root) }
  if (inner && shape.hints.expression && !inner.hints.expression) inner.hints = { ...inner.hints, expression: shape.hints.expression }
  const select = (next: string) => {
    const at = Number(next)
    onChange(at < 0 ? undefined : initial(options[at]!, root))
  }
  return (
    <div className="flex flex-col gap-3">
      <Choice aria-label={label} value={String(index)} options={all} onChange={select} />
      {inner?.kind === 'object' && Object.keys(inner.schema.properties!).some((name) => !('const' in inner.schema.properties![name]!)) && (
        <div className="rounded-lg border border-line p-3">
          <Fields root={root} schema={inner.schema} value={(absent ? (initial(chosen!, root) as object) : value) as Record<string, unknown>} onChange={onChange} path={path} fold={false} />
        </div>
      )}
      {inner && inner.kind !== 'object' && inner.kind !== 'const' && (
        <Control {...props} shape={inner} ids={{ id: path, ...({ 'aria-label': label } as object) }} required />
      )}
    </div>
  )
}

function nameOf(option: JsonSchema, root: JsonSchema, text: string, number: string): string {
  const tag = tagOf(option)
  if (tag) return words(tag.value)
  const { kind, schema } = shapeOf(option, root)
  if (kind === 'const') return String(schema.const)
  if (kind === 'string') return text
  if (kind === 'number') return number
  if (schema.title) return words(schema.title.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase())
  return words(kind)
}
