import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import type { JsonSchema } from '@/schema/schema'
import { Input } from '@/ui/Input'
import { fieldsOf, typeName, type Name } from './scope'

const NESTED = 5

/** A tree of everything that may be read here, with its types; a click takes the reference. */
export function VariablePicker({ names, onPick }: { names: () => Name[]; onPick: (reference: string) => void }) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [shown] = useState(names)
  const wanted = query.trim().toLowerCase()
  return (
    <div className="flex w-80 max-w-[90vw] flex-col">
      <div className="border-b border-line p-2">
        <Input type="search" autoFocus className="h-8!" aria-label={t('editor.search_variables')} placeholder={t('editor.search_variables')} value={query} onChange={(event) => setQuery(event.target.value)} />
      </div>
      <ul className="max-h-80 overflow-y-auto p-1.5">
        {shown.map((one) => (
          <Entry key={one.name} path={one.name} label={one.name} schema={one.schema} detail={one.detail} wanted={wanted} depth={0} onPick={onPick} />
        ))}
        {!shown.length && <li className="p-4 text-center text-mute">{t('common.none')}</li>}
      </ul>
    </div>
  )
}

const holds = (path: string, schema: JsonSchema, wanted: string, depth = 0): boolean =>
  path.toLowerCase().includes(wanted) || (depth < NESTED && Object.entries(fieldsOf(schema)).some(([name, inner]) => holds(`${path}.${name}`, inner, wanted, depth + 1)))

function Entry({ path, label, schema, detail, wanted, depth, onPick }: { path: string; label: string; schema: JsonSchema; detail?: string; wanted: string; depth: number; onPick: (reference: string) => void }) {
  const t = useT()
  const fields = Object.entries(fieldsOf(schema))
  const [open, setOpen] = useState(depth === 0 && fields.length > 0 && fields.length <= 8)
  if (wanted && !holds(path, schema, wanted)) return null
  const expanded = open || (wanted !== '' && fields.some(([name, inner]) => holds(`${path}.${name}`, inner, wanted)))
  return (
    <li>
      <div className="flex items-center rounded-md hover:bg-accent-soft" style={{ paddingLeft: depth * 14 }}>
        <button type="button" aria-label={t(expanded ? 'editor.fold' : 'editor.unfold')} aria-expanded={expanded} disabled={!fields.length} className="p-1 text-mute disabled:invisible" onClick={() => setOpen(!open)}>
          <ChevronRight size={13} className={expanded ? 'rotate-90' : ''} />
        </button>
        <button type="button" className="flex min-w-0 flex-1 items-baseline gap-2 py-1 pr-2 text-left" onClick={() => onPick(path)} title={schema.description}>
          <code className="truncate text-[12.5px]">{label}</code>
          <span className="truncate text-xs text-mute">{[typeName(schema), depth === 0 && detail !== label ? detail : ''].filter(Boolean).join(' · ')}</span>
        </button>
      </div>
      {expanded && depth < NESTED && (
        <ul>
          {fields.map(([name, inner]) => (
            <Entry key={name} path={/^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}['${name}']`} label={name} schema={inner} wanted={wanted} depth={depth + 1} onPick={onPick} />
          ))}
        </ul>
      )}
    </li>
  )
}
