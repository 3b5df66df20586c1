import { Textarea } from '@/ui/Input'
import { Combobox } from '@/ui/Combobox'
import type { Option } from '@/ui/Choice'
import type { ControlProps } from '../Control'

/** A name of something that exists; anything may be typed, what is there is offered. */
export function Suggest({ value, onChange, ids, shape, options }: ControlProps & { options: Option[] | undefined }) {
  const text = typeof value === 'string' ? value : ''
  if (text.includes('\n')) return <Textarea {...ids} value={text} onChange={(event) => onChange(event.target.value)} />
  const first = shape.schema.examples?.[0]
  return <Combobox {...ids} value={text} options={options ?? []} placeholder={typeof first === 'string' ? first : ''} onChange={(next) => onChange(next === '' ? undefined : next)} />
}
