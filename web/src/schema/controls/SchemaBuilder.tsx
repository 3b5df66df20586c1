import { Braces, List, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Input } from '@/ui/Input'
import { Toggle } from '@/ui/Toggle'
import type { JsonSchema } from '../schema'
import { JsonText } from './AnyValue'
import { useFocusOfNew } from './focus'

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'file', 'any'] as const
type PropertyType = (typeof TYPES)[number]

function typeOf(schema: JsonSchema): PropertyType {
  if (schema.format === 'file') return 'file'
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type
  return TYPES.find((one) => one === type) ?? 'any'
}

function withType(schema: JsonSchema, type: PropertyType): JsonSchema {
  const { type: _, format: __, default: ___, items: ____, properties: _____, ...rest } = schema
  if (type === 'any') return rest
  if (type === 'file') return { ...rest, type: 'object', format: 'file' }
  return { ...rest, type }
}

/** Whether rows can show a schema without losing anything of it. */
const isSimple = (schema: JsonSchema): boolean =>
  Object.keys(schema).every((key) => ['type', 'properties', 'required', 'title', 'description', 'additionalProperties'].includes(key))

/** A JSON Schema of an object: its properties in rows, or all of it as JSON. */
export function SchemaBuilder({ value, onChange, label }: { value: JsonSchema | undefined; onChange: (value: JsonSchema | undefined) => void; label: string }) {
  const t = useT()
  const schema = value ?? {}
  const [asJson, setAsJson] = useState(!isSimple(schema))
  const properties = Object.entries(schema.properties ?? {})
  const write = (entries: [string, JsonSchema][], required = schema.required) => {
    const names = entries.map(([name]) => name)
    const kept = required?.filter((name) => names.includes(name)) ?? []
    const { required: _, ...rest } = schema
    onChange(entries.length || value ? { ...rest, type: 'object', properties: Object.fromEntries(entries), ...(kept.length ? { required: kept } : {}) } : undefined)
  }
  const put = (index: number, name: string, next: JsonSchema) => {
    const old = properties[index]![0]
    write(
      properties.map((entry, at) => (at === index ? [name, next] : entry)),
      schema.required?.map((one) => (one === old ? name : one)),
    )
  }
  const { ref, ask } = useFocusOfNew(properties.length)
  const add = () => {
    ask()
    let number = properties.length + 1
    while (schema.properties?.[`field_${number}`]) number++
    write([...properties, [`field_${number}`, { type: 'string' }]])
  }
  const require = (name: string, on: boolean) => write(properties, on ? [...(schema.required ?? []), name] : (schema.required ?? []).filter((one) => one !== name))
  return (
    <div ref={ref} className="flex flex-col gap-2">
      {asJson ? (
        <JsonText value={value} onChange={(next) => onChange(next as JsonSchema | undefined)} label={label} rows={6} />
      ) : (
        properties.map(([name, property], index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the name changes while its row stays
          <div key={index} role="group" aria-label={name} className="flex flex-col gap-1.5 rounded-lg border border-line p-2">
            <div className="flex items-center gap-1.5">
              <PropertyName name={name} taken={properties.map(([one]) => one)} onName={(next) => put(index, next, property)} />
              <Choice className="w-28! shrink-0" aria-label={t('common.type_of', { name })} value={typeOf(property)} options={TYPES.map((type) => ({ value: type, label: t(`common.type_${type}`) }))} onChange={(type) => put(index, name, withType(property, type as PropertyType))} />
              <IconButton size="sm" label={t('common.remove_named', { name })} icon={<Trash2 size={13} />} onClick={() => write(properties.filter((_, at) => at !== index))} />
            </div>
            <div className="flex items-center gap-1.5">
              <Input aria-label={t('common.description_of', { name })} placeholder={t('common.description')} value={property.description ?? ''} onChange={(event) => put(index, name, { ...property, description: event.target.value })} />
              <span className="flex items-center gap-1.5 text-xs text-mute">
                <Toggle aria-label={t('common.required_named', { name })} checked={schema.required?.includes(name) ?? false} onChange={(on) => require(name, on)} />
                {t('common.required')}
              </span>
            </div>
          </div>
        ))
      )}
      <div className="flex gap-1">
        {!asJson && (
          <Button size="sm" icon={<Plus size={14} />} onClick={add}>
            {t('common.add_field')}
          </Button>
        )}
        <Button size="sm" look="ghost" icon={asJson ? <List size={14} /> : <Braces size={14} />} disabled={asJson && !isSimple(schema)} onClick={() => setAsJson(!asJson)}>
          {t(asJson ? 'common.as_rows' : 'common.as_json')}
        </Button>
      </div>
    </div>
  )
}

function PropertyName({ name, taken, onName }: { name: string; taken: string[]; onName: (name: string) => void }) {
  const t = useT()
  const [text, setText] = useState(name)
  const [known, setKnown] = useState(name)
  if (known !== name) {
    setKnown(name)
    setText(name)
  }
  const end = () => {
    const wanted = text.trim()
    if (wanted && wanted !== name && !taken.includes(wanted)) onName(wanted)
    else setText(name)
  }
  return <Input aria-label={t('common.name')} className="font-mono text-[13px]" spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} onBlur={end} onKeyDown={(event) => event.key === 'Enter' && end()} />
}
