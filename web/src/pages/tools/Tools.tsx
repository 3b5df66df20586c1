import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { text, useT } from '@/i18n/t'
import { CallForm } from '@/resources/CallForm'
import { words, type JsonSchema } from '@/schema/schema'
import { Badge } from '@/ui/Badge'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Card, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

interface Tool {
  name: string
  category: string
  description: string
  parameters: JsonSchema
  for_agents: boolean
}

/** The tools that come with the installation, by kind; each can be tried. */
export default function Tools() {
  const t = useT()
  const [query, setQuery] = useState('')
  const tools = useQuery({ queryKey: ['tools'], queryFn: async () => (await api<'get', '/api/v1/tools', { items: Tool[] }>('get', '/api/v1/tools')).items })
  const shown = (tools.data ?? []).filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(query.toLowerCase()))
  return (
    <Page title={t('navigation.builtin')} lead={t('resources.builtin_lead')}>
      <Input type="search" className="mb-4 max-w-xs" aria-label={t('common.search_in', { name: t('navigation.builtin') })} placeholder={t('common.search')} value={query} onChange={(event) => setQuery(event.target.value)} />
      {tools.error ? (
        <Trouble error={tools.error} retry={() => void tools.refetch()} />
      ) : !tools.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <div className="flex flex-col gap-5">
          {[...Map.groupBy(shown, (tool) => tool.category)].map(([category, items]) => (
            <section key={category} aria-labelledby={`category-${category}`}>
              <h2 id={`category-${category}`} className="mb-2 text-[13px] font-medium text-mute">
                {text(`resources.category_${category}`) ?? words(category)}
              </h2>
              <Card>
                <ul className="divide-y divide-line">
                  {items.map((tool) => (
                    <ToolRow key={tool.name} tool={tool} />
                  ))}
                </ul>
              </Card>
            </section>
          ))}
          {!shown.length && <p className="py-8 text-center text-mute">{t('common.nothing_found', { query })}</p>}
        </div>
      )}
    </Page>
  )
}

function ToolRow({ tool }: { tool: Tool }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <li>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex w-full items-center gap-2 px-4 py-2.5 text-left hover:bg-sunken/60 focus-visible:-outline-offset-2">
        <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute', open && 'rotate-90')} />
        <span className="w-44 shrink-0 truncate font-mono text-[13px] font-medium">{tool.name}</span>
        <span className="min-w-0 flex-1 truncate text-[13px] text-mute">{tool.description}</span>
        {!tool.for_agents && <Badge>{t('resources.workflows_only')}</Badge>}
      </button>
      {open && (
        <div className="border-t border-line bg-sunken/40 px-4 py-4">
          <p className="mb-3 max-w-3xl text-[13px] whitespace-pre-wrap">{tool.description}</p>
          <div className="max-w-3xl">
            <CallForm schema={tool.parameters} call={(values, confirm) => api('post', '/api/v1/tools/{tool}/run', { path: { tool: tool.name }, body: { arguments: values, confirm } })} />
          </div>
        </div>
      )}
    </li>
  )
}
