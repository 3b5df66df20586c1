import { useQueryClient } from '@tanstack/react-query'
import { ExternalLink, PlugZap } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useResource, type ResourceRow } from '@/api/resources'
import { useT } from '@/i18n/t'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Detail } from '@/resources/Detail'
import { useTrying } from '@/resources/trying'
import { Button } from '@/ui/Button'
import { Trouble } from '@/ui/Trouble'
import { McpTools, type McpInfo } from './McpTools'

interface Server extends ResourceRow {
  tools: { name: string; definition: Record<string, unknown> }[]
}

export default function McpDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const id = params.server!
  const server = useResource<Server>('mcp-servers', id)
  const [info, setInfo] = useState<McpInfo | null>(null)
  const { busy, error, trying } = useTrying()
  const definition = server.data?.definition ?? {}
  const connect = () => trying(async () => setInfo(await api('post', '/api/v1/mcp-servers/{server}/connect', { path: { server: id } })))
  const accept = (tools: string[] | null) =>
    trying(async () => {
      setInfo(await api('post', '/api/v1/mcp-servers/{server}/accept', { path: { server: id }, body: { tools } }))
      await client.invalidateQueries({ queryKey: ['resource', 'mcp-servers', id] })
    })
  const authorize = () =>
    trying(async () => {
      const { url }: { url: string } = await api('post', '/api/v1/mcp-servers/{server}/authorize', { path: { server: id } })
      window.open(url, '_blank', 'noopener')
    })
  const save = async (next: Record<string, unknown>) => {
    await api('put', '/api/v1/mcp-servers/{server}', { path: { server: id }, body: next })
    await client.invalidateQueries({ queryKey: ['resource', 'mcp-servers', id] })
  }
  const known: McpInfo = info ?? { name: '', version: '', instructions: '', tools: (server.data?.tools ?? []).map((tool) => ({ ...tool.definition, name: tool.name, trust: 'accepted' })) }
  return (
    <Detail
      collection="mcp-servers"
      path="/mcp-servers"
      back={t('navigation.mcp')}
      row={server.data}
      error={server.error}
      retry={() => void server.refetch()}
      lead={String(definition.description ?? '')}
      actions={
        <>
          {Boolean(definition.oauth) && (
            <Button icon={<ExternalLink size={15} />} onClick={() => void authorize()}>
              {t('resources.authorize')}
            </Button>
          )}
          <Button look="primary" icon={<PlugZap size={15} />} busy={busy} onClick={() => void connect()}>
            {t('resources.connect')}
          </Button>
        </>
      }
      tabs={[
        {
          id: 'tools',
          label: t('resources.tools'),
          content: (
            <>
              {error !== null && <div className="mb-4"><Trouble error={error} retry={() => void connect()} /></div>}
              <McpTools server={id} info={known} connected={info !== null} onAccept={accept} />
            </>
          ),
        },
        { id: 'settings', label: t('resources.settings'), content: <DefinitionForm key={server.data?.version} kind={definition.transport === 'stdio' ? 'mcp-stdio' : 'mcp-http'} value={definition} onSave={save} /> },
      ]}
    />
  )
}
