import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Control, type ControlProps } from '../Control'
import { shapeOf, type JsonSchema } from '../schema'
import { useFocusOfNew } from './focus'

function valueSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties
  return Object.values(schema.patternProperties ?? {})[0] ?? {}
}

/** Names and values in rows. A name is taken over when its field is left, so that it can be typed in peace. */
export function MapValue({ shape, root, value, onChange, path, label }: ControlProps) {
  const t = useT()
  const entries = Object.entries((typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) as Record<string, unknown>)
  const inner = shapeOf(valueSchema(shape.schema), root)
  if (shape.hints.expression) inner.hints = { ...inner.hints, expression: 'value', ...(shape.hints.secret ? { secret: true } : {}) }
  const write = (next: [string, unknown][]) => onChange(next.length ? Object.fromEntries(next) : undefined)
  const { ref, ask } = useFocusOfNew(entries.length)
  const add = () => {
    ask()
    let number = entries.length + 1
    while (entries.some(([name]) => name === `name_${number}`)) number++
    write([...entries, [`name_${number}`, '']])
  }
  return (
    <div ref={ref} className="flex flex-col gap-2">
      {entries.map(([name, one], index) => (
        // oxlint-disable-next-line react/no-array-index-key -- the name changes while its row stays
        <div key={index} role="group" aria-label={`${label}: ${name}`} className="flex flex-wrap items-start gap-1.5 rounded-lg border border-line p-2">
          <NameInput name={name} taken={entries.map(([other]) => other)} onName={(next) => write(entries.map((entry, at) => (at === index ? [next, one] : entry)))} />
          <div className="order-last w-full min-w-0">
            <Control shape={inner} root={root} value={one} onChange={(next) => write(entries.map((entry, at) => (at === index ? [name, next ?? ''] : entry)))} path={`${path}.${name}`} label={t('common.value_of', { name })} ids={{ id: `${path}.${name}`, ...({ 'aria-label': t('common.value_of', { name }) } as object) }} required />
          </div>
          <IconButton size="sm" className="my-1" label={t('common.remove_named', { name })} icon={<Trash2 size={13} />} onClick={() => write(entries.filter((_, at) => at !== index))} />
        </div>
      ))}
      <Button size="sm" className="self-start" icon={<Plus size={14} />} onClick={add}>
        {t('common.add')}
      </Button>
    </div>
  )
}

function NameInput({ name, taken, onName }: { name: string; taken: string[]; onName: (name: string) => void }) {
  const t = useT()
  const [text, setText] = useState(name)
  const [known, setKnown] = useState(name)
  if (known !== name) {
    setKnown(name)
    setText(name)
  }
  const wanted = text.trim()
  const refused = wanted !== name && (wanted === '' || taken.includes(wanted))
  const end = () => (refused ? setText(name) : wanted !== name && onName(wanted))
  return <Input aria-label={t('common.name')} aria-invalid={refused || undefined} className="min-w-0 flex-1 font-mono text-[13px]" spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} onBlur={end} onKeyDown={(event) => event.key === 'Enter' && end()} />
}
