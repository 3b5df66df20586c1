import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { api, send } from '@/api/client'
import { useResource, type ResourceRow } from '@/api/resources'
import { fileName, saveFile } from '@/api/workflows'
import { duration, useT } from '@/i18n/t'
import { CallForm } from '@/resources/CallForm'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Detail } from '@/resources/Detail'
import type { JsonSchema } from '@/schema/schema'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Loading } from '@/ui/Spinner'
import { failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { Credentials } from './Credentials'

interface ActionRow {
  name: string
  method: string
  path: string
  description: string
  requires_confirmation: boolean | null
  deprecated: boolean
}

const LEFT = ['name', 'actions', 'auth', 'secret_headers', 'source', '$schema']

export default function ConnectorDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const id = params.connector!
  const connector = useResource('connectors', id)
  const definition = connector.data?.definition ?? {}
  const save = async (next: Record<string, unknown>) => {
    await api('put', '/api/v1/connectors/{connector}', { path: { connector: id }, body: { definition: next, expected_version: connector.data!.version } })
    await client.invalidateQueries({ queryKey: ['resource', 'connectors', id] })
  }
  const download = async (row: ResourceRow) => {
    try {
      const text = await (await send(`/api/v1/connectors/${id}/export`, {})).text()
      saveFile(fileName(row.name).replace(/yaml$/, 'openapi.json'), text, 'application/json')
    } catch (error) {
      failed(t('resources.export'), error)
    }
  }
  return (
    <Detail
      collection="connectors"
      path="/connectors"
      back={t('navigation.connectors')}
      row={connector.data}
      error={connector.error}
      retry={() => void connector.refetch()}
      lead={<>{String(definition.description ?? '')} <code className="text-xs break-all">{String(connector.data?.base_url ?? '')}</code></>}
      actions={
        <Button icon={<Download size={15} />} onClick={() => void download(connector.data!)}>
          {t('resources.export')}
        </Button>
      }
      tabs={[
        { id: 'actions', label: t('resources.actions'), content: <Actions connector={id} /> },
        { id: 'credentials', label: t('resources.credentials'), content: <Credentials connector={id} auth={(definition.auth ?? { type: 'none' }) as { type: string }} /> },
        { id: 'settings', label: t('resources.settings'), content: <DefinitionForm key={connector.data?.version} kind="connector" value={definition} leave={LEFT} onSave={save} /> },
      ]}
    />
  )
}

function Actions({ connector }: { connector: string }) {
  const t = useT()
  const [chosen, setChosen] = useState<string | null>(null)
  const [words, setWords] = useState('')
  const actions = useQuery({ queryKey: ['actions', connector], queryFn: async () => (await api<'get', '/api/v1/connectors/{connector}/actions', { items: ActionRow[] }>('get', '/api/v1/connectors/{connector}/actions', { path: { connector } })).items })
  const shown = useMemo(() => (actions.data ?? []).filter((one) => `${one.name} ${one.path} ${one.description}`.toLowerCase().includes(words.toLowerCase())), [actions.data, words])
  if (actions.error) return <Trouble error={actions.error} retry={() => void actions.refetch()} />
  if (!actions.data) return <Loading label={t('common.loading')} />
  const current = actions.data.find((one) => one.name === (chosen ?? actions.data[0]?.name))
  return (
    <div className="grid gap-5 lg:grid-cols-[20rem_1fr]">
      <div className="min-w-0">
        <Input type="search" className="mb-2" aria-label={t('common.search_in', { name: t('resources.actions') })} placeholder={t('common.search')} value={words} onChange={(event) => setWords(event.target.value)} />
        <ul aria-label={t('resources.actions')} className="flex max-h-[32rem] flex-col gap-0.5 overflow-y-auto">
          {shown.map((one) => (
            <li key={one.name}>
              <button type="button" aria-pressed={one.name === current?.name} onClick={() => setChosen(one.name)} className={cx('flex w-full items-baseline gap-2 rounded-lg px-2.5 py-1.5 text-left text-[13px] focus-visible:-outline-offset-2', one.name === current?.name ? 'bg-accent-soft' : 'hover:bg-sunken')}>
                <span className="w-12 shrink-0 font-mono text-[11px] font-semibold text-accent-text">{one.method}</span>
                <span className="min-w-0 truncate">{one.name}</span>
              </button>
            </li>
          ))}
          {!shown.length && <li className="px-2.5 py-4 text-center text-[13px] text-mute">{t('common.nothing_found', { query: words })}</li>}
        </ul>
      </div>
      {current && <TryAction key={current.name} connector={connector} action={current} />}
    </div>
  )
}

function TryAction({ connector, action }: { connector: string; action: ActionRow }) {
  const t = useT()
  const path = { connector, action: action.name }
  const details = useQuery({ queryKey: ['action', connector, action.name], queryFn: (): Promise<ActionRow & { parameters: JsonSchema }> => api('get', '/api/v1/connectors/{connector}/actions/{action}', { path }) })
  return (
    <section aria-label={action.name} className="min-w-0">
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        {action.name}
        {action.requires_confirmation && <Badge tone="warn">{t('resources.asks')}</Badge>}
        {action.deprecated && <Badge>{t('resources.deprecated')}</Badge>}
      </h2>
      <p className="mb-1 font-mono text-xs break-all text-mute">
        {action.method} {action.path}
      </p>
      {action.description && <p className="mb-3 text-[13px]">{action.description}</p>}
      {details.error ? (
        <Trouble error={details.error} />
      ) : !details.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <CallForm
          schema={details.data.parameters}
          call={(parameters, confirm) => api('post', '/api/v1/connectors/{connector}/actions/{action}/call', { path, body: { parameters, confirm, paginate: false } })}
          aside={(result) => {
            const { status_code, elapsed_ms } = result as { status_code: number; elapsed_ms: number }
            return `HTTP ${status_code} · ${duration(elapsed_ms)}`
          }}
        />
      )}
    </section>
  )
}
