import { useQuery } from '@tanstack/react-query'
import { Blocks } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewResource } from '@/resources/NewResource'
import { ResourceList } from '@/resources/ResourceList'
import { Choice } from '@/ui/Choice'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Segmented } from '@/ui/Segmented'

interface Program {
  name: string
  description: string
  arguments: Record<string, { description: string; choices: string[] | null; default: string | null }>
  environment: string[]
}

export default function McpServers() {
  const t = useT()
  return (
    <ResourceList
      collection="mcp-servers"
      path="/mcp-servers"
      title={t('navigation.mcp')}
      lead={t('resources.mcp_lead')}
      emptyLead={t('resources.mcp_empty')}
      icon={Blocks}
      createLabel={t('resources.new_mcp')}
      create={(close) => <NewServer onClose={close} />}
      columns={[{ id: 'where', header: t('resources.address'), cell: (row) => <code className="text-xs break-all text-mute">{String(row.definition?.url ?? row.definition?.catalog ?? '')}</code> }]}
    />
  )
}

function NewServer({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [transport, setTransport] = useState<'http' | 'stdio'>('http')
  const [url, setUrl] = useState('')
  const [token, setToken] = useState('')
  const [catalog, setCatalog] = useState('')
  const [given, setGiven] = useState<Record<string, string>>({})
  const [environment, setEnvironment] = useState<Record<string, string>>({})
  const programs = useQuery({ queryKey: ['mcp-catalog'], queryFn: async () => (await api<'get', '/api/v1/mcp-servers/catalog', { items: Program[] }>('get', '/api/v1/mcp-servers/catalog')).items })
  const program = programs.data?.find((one) => one.name === catalog)
  const definition = transport === 'http' ? { transport, url: url.trim(), ...(token ? { headers: { Authorization: `Bearer ${token}` } } : {}) } : { transport, catalog, arguments: given, environment }
  return (
    <NewResource collection="mcp-servers" path="/mcp-servers" title={t('resources.new_mcp')} lead={t('resources.new_mcp_lead')} placeholder="github" onClose={onClose} ready={transport === 'http' ? url.trim() !== '' : catalog !== ''} save={(name) => api('post', '/api/v1/mcp-servers', { body: { name, definition, visibility: 'private' } })}>
      <Segmented label={t('resources.transport')} value={transport} onChange={setTransport} options={[{ value: 'http', label: 'HTTP' }, { value: 'stdio', label: t('resources.program') }]} />
      {transport === 'http' ? (
        <>
          <Labelled label={t('resources.address')} required>{(ids) => <Input {...ids} type="url" value={url} placeholder="https://mcp.example.com/mcp" onChange={(event) => setUrl(event.target.value)} />}</Labelled>
          <Labelled label={t('resources.token')} help={t('resources.token_help')}>{(ids) => <Input {...ids} type="password" autoComplete="new-password" value={token} onChange={(event) => setToken(event.target.value)} />}</Labelled>
        </>
      ) : programs.data?.length ? (
        <>
          <Labelled label={t('resources.program')} help={program?.description} required>
            {(ids) => <Choice {...ids} value={catalog} onChange={setCatalog} options={programs.data.map((one) => ({ value: one.name, label: one.name, help: one.description }))} />}
          </Labelled>
          {Object.entries(program?.arguments ?? {}).map(([name, argument]) => (
            <Labelled key={name} label={name} help={argument.description}>
              {(ids) =>
                argument.choices ? (
                  <Choice {...ids} value={given[name] ?? argument.default ?? ''} options={argument.choices.map((value) => ({ value, label: value }))} onChange={(value) => setGiven({ ...given, [name]: value })} />
                ) : (
                  <Input {...ids} value={given[name] ?? ''} placeholder={argument.default ?? ''} onChange={(event) => setGiven({ ...given, [name]: event.target.value })} />
                )
              }
            </Labelled>
          ))}
          {program?.environment.map((name) => (
            <Labelled key={name} label={name}>{(ids) => <Input {...ids} type="password" autoComplete="new-password" value={environment[name] ?? ''} onChange={(event) => setEnvironment({ ...environment, [name]: event.target.value })} />}</Labelled>
          ))}
        </>
      ) : (
        <p className="rounded-lg bg-sunken p-3 text-[13px] text-mute">{t('resources.no_programs')}</p>
      )}
    </NewResource>
  )
}
