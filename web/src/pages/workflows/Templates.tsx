import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '@/api/client'
import { listWorkflows, push } from '@/api/workflows'
import { titleOf, useCatalogue } from '@/editor/catalogue'
import type { WorkflowDocument } from '@/editor/document'
import { KindChip } from '@/editor/icons'
import { text, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Page } from '@/ui/Page'
import { Segmented } from '@/ui/Segmented'
import { Loading } from '@/ui/Spinner'
import { Tip } from '@/ui/Tip'
import { failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

interface Template {
  id: string
  name: string
  description: string | null
  group: string
  needs: string[]
  nodes: string[]
}

const listTemplates = async (): Promise<Template[]> => {
  const found: { items: Template[] } = await api('get', '/api/v1/templates')
  return found.items
}

/** Workflows that run, to start from: one click makes a copy and opens it. */
export default function Templates() {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [query, setQuery] = useState('')
  const [group, setGroup] = useState('all')
  const [busy, setBusy] = useState<string | null>(null)
  const templates = useQuery({ queryKey: ['templates'], queryFn: listTemplates, staleTime: Infinity })
  const groups = useMemo(() => ['all', ...new Set((templates.data ?? []).map((one) => one.group))], [templates.data])
  const shown = (templates.data ?? []).filter((one) => (group === 'all' || one.group === group) && `${one.name} ${one.description} ${one.nodes.join(' ')}`.toLowerCase().includes(query.trim().toLowerCase()))

  const use = async (template: Template) => {
    setBusy(template.id)
    try {
      const taken = new Set((await client.fetchQuery({ queryKey: ['workflows'], queryFn: listWorkflows })).map((one) => one.name))
      const found: { document: WorkflowDocument } = await api('get', '/api/v1/templates/{template}', { path: { template: template.id } })
      let { name } = template
      for (let n = 2; taken.has(name); n++) name = `${template.name} ${n}`
      const { template: _, ...ui } = found.document.ui ?? {}
      const made = await push({ ...found.document, name, ui })
      await client.invalidateQueries({ queryKey: ['workflows'] })
      go(`/workflows/${made.id}`)
    } catch (error) {
      failed(t('workflows.template_failed'), error)
      setBusy(null)
    }
  }
  return (
    <Page title={t('workflows.templates')} lead={t('workflows.templates_lead')}>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Input type="search" className="w-64!" aria-label={t('workflows.search_templates')} placeholder={t('common.search')} value={query} onChange={(event) => setQuery(event.target.value)} />
        <Segmented label={t('workflows.template_groups')} value={group} onChange={setGroup} options={groups.map((one) => ({ value: one, label: text(`workflows.group_${one}`) ?? one }))} />
      </div>
      {templates.error ? (
        <Trouble error={templates.error} retry={() => void templates.refetch()} />
      ) : !templates.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <ul className="grid gap-3.5 sm:grid-cols-2 lg:grid-cols-3">
          {shown.map((one) => (
            <Entry key={one.id} template={one} busy={busy === one.id} onUse={() => void use(one)} />
          ))}
        </ul>
      )}
      {templates.data && !shown.length && <p className="py-10 text-center text-mute">{t('common.nothing_found', { query })}</p>}
    </Page>
  )
}

function Entry({ template, busy, onUse }: { template: Template; busy: boolean; onUse: () => void }) {
  const t = useT()
  const catalogue = useCatalogue().data
  const name = text(`templates.${template.id}`) ?? template.name
  return (
    <li className="flex flex-col gap-2 rounded-xl border border-line bg-panel p-4 shadow-card">
      <div className="flex items-start justify-between gap-2">
        <h2 className="font-semibold">{name}</h2>
        <Badge>{text(`workflows.group_${template.group}`) ?? template.group}</Badge>
      </div>
      <p className="flex-1 text-[13px] text-mute">{text(`templates.${template.id}_about`) ?? template.description}</p>
      <div className="flex items-center gap-1">
        {template.nodes.slice(0, 6).map((kind) => {
          const type = catalogue?.byType.get(kind)
          return (
            <Tip key={kind} text={titleOf(kind)}>
              <span role="img" aria-label={titleOf(kind)}>
                <KindChip small icon={type?.icon} group={type?.group} />
              </span>
            </Tip>
          )
        })}
        <span className="flex-1" />
        {template.needs.includes('model') && (
          <Badge tone="warn">
            <KeyRound size={11} aria-hidden /> {t('workflows.needs_model')}
          </Badge>
        )}
      </div>
      <Button look="primary" size="sm" icon={<Plus size={14} />} busy={busy} onClick={onUse} aria-label={t('workflows.use_named', { name })}>
        {t('workflows.use')}
      </Button>
    </li>
  )
}
