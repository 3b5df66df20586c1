import { useState, type ReactNode } from 'react'
import { useResources } from '@/api/resources'
import { text, useT } from '@/i18n/t'
import { useTrying } from '@/resources/trying'
import { words } from '@/schema/schema'
import { Button } from '@/ui/Button'
import { Toggle } from '@/ui/Toggle'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

const CATEGORIES = ['connector', 'database', 'mcp', 'knowledge', 'skills', 'math', 'time', 'text', 'data', 'files', 'code', 'web', 'mail', 'documents'] as const

interface Named {
  id: string
  name: string
  about: string
}

/** What an agent may use of what its user sees: connectors, databases, knowledge bases and kinds of tools. */
export function ScopePicker({ definition, onSave }: { definition: Record<string, unknown>; onSave: (definition: Record<string, unknown>) => Promise<void> }) {
  const t = useT()
  const [draft, setDraft] = useState(definition)
  const { busy, error, trying } = useTrying()
  const [connectors, databases, bases] = [useResources('connectors'), useResources('databases'), useResources('knowledge-bases')]
  const named = (rows: typeof connectors.data): Named[] => (rows ?? []).map((row) => ({ id: row.id, name: row.name, about: String(row.description ?? row.definition?.description ?? '') }))
  const held = (field: string): string[] => (draft[field] as string[] | undefined) ?? []
  const flip = (field: string, one: Named, on: boolean) => setDraft({ ...draft, [field]: on ? [...held(field), one.id] : held(field).filter((value) => value !== one.id && value !== one.name) })
  const categories = draft.tool_categories as string[] | null | undefined
  return (
    <div className="flex flex-col gap-6">
      <p className="max-w-2xl text-[13px] text-mute">{t('agents.scope_lead')}</p>
      <div className="grid gap-6 md:grid-cols-2">
        <Pick title={t('agents.connectors')} rows={[...named(connectors.data), ...named(databases.data)]} held={held('connector_ids')} onFlip={(one, on) => flip('connector_ids', one, on)} />
        <Pick title={t('navigation.knowledge')} rows={named(bases.data)} held={held('kb_ids')} onFlip={(one, on) => flip('kb_ids', one, on)}>
          <Line label={t('agents.grounded')} about={t('agents.grounded_help')} on={draft.grounded === true} onFlip={(grounded) => setDraft({ ...draft, grounded })} />
        </Pick>
      </div>
      <section aria-label={t('agents.categories')} className="rounded-lg border border-line">
        <Line label={t('agents.all_tools')} about={t('agents.all_tools_help')} on={categories == null} onFlip={(all) => setDraft({ ...draft, tool_categories: all ? null : [...CATEGORIES] })} />
        {categories != null && (
          <div className="grid border-t border-line sm:grid-cols-2 lg:grid-cols-3">
            {CATEGORIES.map((one) => (
              <Line key={one} label={text(`resources.category_${one}`) ?? words(one)} on={categories.includes(one)} onFlip={(on) => setDraft({ ...draft, tool_categories: on ? [...categories, one] : categories.filter((value) => value !== one) })} />
            ))}
          </div>
        )}
      </section>
      {error !== null && <Trouble error={error} />}
      <div>
        <Button look="primary" busy={busy} onClick={() => void trying(() => onSave(draft)).then((ok) => ok && done(t('resources.saved')))}>
          {t('common.save')}
        </Button>
      </div>
    </div>
  )
}

function Pick({ title, rows, held, onFlip, children }: { title: string; rows: Named[]; held: string[]; onFlip: (one: Named, on: boolean) => void; children?: ReactNode }) {
  const t = useT()
  return (
    <section aria-label={title}>
      <h2 className="mb-1.5 text-[13px] font-medium">{title}</h2>
      <div className="divide-y divide-line rounded-lg border border-line">
        {rows.map((row) => (
          <Line key={row.id} label={row.name} about={row.about} on={held.includes(row.id) || held.includes(row.name)} onFlip={(on) => onFlip(row, on)} />
        ))}
        {!rows.length && <p className="p-3 text-[13px] text-mute">{t('agents.none_yet')}</p>}
        {children}
      </div>
    </section>
  )
}

const Line = ({ label, about, on, onFlip }: { label: string; about?: string; on: boolean; onFlip: (on: boolean) => void }) => (
  <label className="flex cursor-pointer items-center gap-3 px-3 py-2">
    <span className="min-w-0 flex-1">
      <span className="text-[13px] font-medium">{label}</span>
      {about && <span className="line-clamp-1 text-xs text-mute">{about}</span>}
    </span>
    <Toggle aria-label={label} checked={on} onChange={onFlip} />
  </label>
)
