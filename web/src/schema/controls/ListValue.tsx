import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { Control, isGroup, type ControlProps } from '../Control'
import { Fields } from '../SchemaForm'
import { initial, labelOf, shapeOf } from '../schema'
import { useSurroundings } from '../context'
import { useFocusOfNew } from './focus'

/** Entries in order: added, moved and removed; objects as cards, simple values as rows. */
export function ListValue({ shape, root, value, onChange, path, label }: ControlProps) {
  const t = useT()
  const { problems } = useSurroundings()
  const given = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  const item = shapeOf(shape.schema.items!, root)
  if (shape.hints.expression && !item.hints.expression) item.hints = { ...item.hints, expression: 'value' }
  const put = (index: number, next: unknown) => onChange(given.map((one, at) => (at === index ? next : one)))
  const move = (from: number, to: number) => {
    const next = [...given]
    next.splice(to, 0, ...next.splice(from, 1))
    onChange(next)
  }
  const name = item.schema.title && item.kind === 'object' ? labelOf(item.schema, '') : label
  const full = shape.schema.maxItems !== undefined && given.length >= shape.schema.maxItems
  const required = (shape.schema.minItems ?? 0) >= given.length && given.length > 0
  const { ref, ask } = useFocusOfNew(given.length)
  const tools = (index: number) => (
    <span className="flex shrink-0">
      <IconButton size="sm" label={t('common.move_up')} icon={<ArrowUp size={13} />} disabled={index === 0} onClick={() => move(index, index - 1)} />
      <IconButton size="sm" label={t('common.move_down')} icon={<ArrowDown size={13} />} disabled={index === given.length - 1} onClick={() => move(index, index + 1)} />
      <IconButton size="sm" label={t('common.remove')} icon={<Trash2 size={13} />} disabled={required} onClick={() => onChange(given.length === 1 ? undefined : given.filter((_, at) => at !== index))} />
    </span>
  )
  return (
    <div ref={ref} className="flex flex-col gap-2">
      {given.map((one, index) => {
        const title = `${name} ${index + 1}`
        const where = `${path}[${index}]`
        const error = problems?.[where]
        return (
          // oxlint-disable-next-line react/no-array-index-key -- entries have no other name
          <div key={index} role="group" aria-label={title} className={isGroup(item, one) ? 'rounded-lg border border-line bg-panel p-3' : 'flex items-start gap-1'}>
            {isGroup(item, one) ? (
              <>
                <div className="-mt-1 mb-1 flex items-center justify-between">
                  <span className="text-xs font-medium text-mute">{title}</span>
                  {tools(index)}
                </div>
                {item.kind === 'object' ? (
                  <Fields root={root} schema={item.schema} value={(one ?? {}) as Record<string, unknown>} onChange={(next) => put(index, next)} path={where} fold={false} />
                ) : (
                  <Control shape={item} root={root} value={one} onChange={(next) => put(index, next)} path={where} label={title} ids={{ id: where }} required />
                )}
              </>
            ) : (
              <>
                <div className="min-w-0 flex-1">
                  <Control shape={item} root={root} value={one} onChange={(next) => put(index, next ?? '')} path={where} label={title} ids={{ id: where, ...({ 'aria-label': title } as object) }} required />
                </div>
                {tools(index)}
              </>
            )}
            {error && <p className="mt-1 text-xs text-danger">{error}</p>}
          </div>
        )
      })}
      {!full && (
        <Button size="sm" className="self-start" icon={<Plus size={14} />} onClick={() => {
            ask()
            onChange([...given, initial(shape.schema.items!, root)])
          }}>
          {t('common.add')}
        </Button>
      )}
    </div>
  )
}
