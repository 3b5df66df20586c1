import { Plus } from 'lucide-react'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import type { ControlProps } from '../Control'
import { initial } from '../schema'
import { Fields } from '../SchemaForm'

/** The fields of an object within an object; one that may be absent is added by a button. */
export function ObjectValue({ shape, root, value, onChange, path, label, required }: ControlProps) {
  const t = useT()
  const absent = value === undefined || value === null
  if (absent && !required) {
    return (
      <Button size="sm" className="self-start" icon={<Plus size={14} />} onClick={() => onChange(initial(shape.schema, root))}>
        {t('common.add_named', { name: label })}
      </Button>
    )
  }
  return (
    <div className="rounded-lg border border-line p-3">
      <Fields root={root} schema={shape.schema} value={(value ?? {}) as Record<string, unknown>} onChange={onChange} path={path} fold={false} />
    </div>
  )
}
