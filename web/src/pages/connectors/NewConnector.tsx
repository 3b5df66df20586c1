import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { Drop } from '@/resources/Drop'
import { useTrying } from '@/resources/trying'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Segmented } from '@/ui/Segmented'
import { Trouble } from '@/ui/Trouble'

interface Found {
  definition: { name: string; base_url?: string; auth?: { type: string }; actions?: { name: string; method: string; path: string; description?: string }[] }
  operations: number
  imported: number
  report: { level: string; code: string; place: string; message: string }[]
  openapi?: string
  source_url?: string
}

type Way = 'file' | 'url' | 'curl'

/** An API from its OpenAPI description or a curl command: first what would be made, then it is kept. */
export function NewConnector({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [way, setWay] = useState<Way>('file')
  const [url, setUrl] = useState('')
  const [curl, setCurl] = useState('')
  const [name, setName] = useState('')
  const [source, setSource] = useState<{ openapi?: string; curl?: string; source_url?: string }>({})
  const [found, setFound] = useState<Found | null>(null)
  const { busy, error, trying } = useTrying()
  const show = (given: typeof source, work: () => Promise<Found>) =>
    trying(async () => {
      const made = await work()
      setFound(made)
      setName(made.definition.name)
      setSource(made.openapi ? { openapi: made.openapi, ...(made.source_url ? { source_url: made.source_url } : {}) } : given)
    })
  const preview = (given: typeof source) => show(given, () => api('post', '/api/v1/connectors/preview', { body: given }))
  const keep = async () => {
    let id = ''
    const ok = await trying(async () => {
      const made: { id: string } = await api('post', '/api/v1/connectors', { body: { ...source, name: name.trim(), visibility: 'private' } })
      id = made.id
      await client.invalidateQueries({ queryKey: ['resources', 'connectors'] })
    })
    if (ok) go(`/connectors/${id}`)
  }
  const look =
    way === 'url' ? (
      <Button look="primary" busy={busy} disabled={!url.trim()} onClick={() => void show({}, () => api('post', '/api/v1/connectors/fetch', { body: { url: url.trim() } }))}>
        {t('resources.fetch')}
      </Button>
    ) : way === 'curl' ? (
      <Button look="primary" busy={busy} disabled={!curl.trim()} onClick={() => void preview({ curl })}>
        {t('resources.read')}
      </Button>
    ) : null
  return (
    <Modal
      open
      wide={found !== null}
      onOpenChange={(open) => !open && onClose()}
      title={t('resources.new_connector')}
      description={t('resources.new_connector_lead')}
      footer={
        <>
          <Button onClick={found ? () => setFound(null) : onClose}>{t(found ? 'common.back' : 'common.cancel')}</Button>
          {found ? (
            <Button look="primary" busy={busy} disabled={!name.trim()} onClick={() => void keep()}>
              {t('resources.keep_connector')}
            </Button>
          ) : (
            look
          )}
        </>
      }
    >
      {found ? (
        <Preview found={found} name={name} setName={setName} />
      ) : (
        <div className="flex flex-col gap-4">
          <Segmented<Way>
            label={t('resources.from')}
            value={way}
            onChange={setWay}
            options={[
              { value: 'file', label: t('resources.from_file') },
              { value: 'url', label: t('resources.from_url') },
              { value: 'curl', label: 'curl' },
            ]}
          />
          {way === 'file' && <Drop label={t('resources.drop_openapi')} help={t('resources.drop_openapi_help')} accept=".json,.yaml,.yml" onFiles={([file]) => file && void file.text().then((openapi) => preview({ openapi }))} />}
          {way === 'url' && <Labelled label={t('resources.openapi_url')} help={t('resources.openapi_url_help')}>{(ids) => <Input {...ids} type="url" value={url} onChange={(event) => setUrl(event.target.value)} placeholder="https://api.example.com/openapi.json" />}</Labelled>}
          {way === 'curl' && <Labelled label={t('resources.curl')} help={t('resources.curl_help')}>{(ids) => <Textarea {...ids} rows={6} className="font-mono text-[13px]" spellCheck={false} value={curl} onChange={(event) => setCurl(event.target.value)} placeholder={"curl https://api.example.com/orders -H 'Authorization: Bearer …'"} />}</Labelled>}
        </div>
      )}
      {error !== null && <div className="mt-4"><Trouble error={error} /></div>}
    </Modal>
  )
}

function Preview({ found, name, setName }: { found: Found; name: string; setName: (name: string) => void }) {
  const t = useT()
  const { definition } = found
  return (
    <div className="grid gap-5 md:grid-cols-2">
      <div className="flex flex-col gap-4">
        <Labelled label={t('common.name')} required>{(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} />}</Labelled>
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-[13px]">
          <dt className="text-mute">{t('resources.address')}</dt>
          <dd className="break-all">{definition.base_url || '—'}</dd>
          <dt className="text-mute">{t('resources.auth')}</dt>
          <dd>{definition.auth?.type ?? 'none'}</dd>
        </dl>
        <div>
          <h3 className="mb-1.5 font-medium">{t('resources.import_report')}</h3>
          <p className="text-[13px]">
            <Badge tone="ok">{t('resources.imported', { n: found.imported, of: found.operations })}</Badge>
          </p>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
          <ul tabIndex={0} aria-label={t('resources.import_report')} className="mt-2 flex max-h-64 flex-col gap-2 overflow-y-auto text-[13px]">
            {!found.report.length && <li className="text-mute">{t('resources.import_clean')}</li>}
            {found.report.map((entry) => (
              <li key={`${entry.code}${entry.place}${entry.message}`} className="flex items-start gap-2">
                <Badge tone={entry.level === 'error' ? 'danger' : entry.level === 'warning' ? 'warn' : 'info'}>{entry.level}</Badge>
                <span>
                  <code className="text-xs">{entry.place}</code> {entry.message}
                </span>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div className="min-w-0">
        <h3 className="mb-1.5 font-medium">{t('resources.actions')}</h3>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
        <ul tabIndex={0} aria-label={t('resources.actions')} className="max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line">
          {(definition.actions ?? []).map((action) => (
            <li key={action.name} className="flex items-baseline gap-2 px-3 py-2 text-[13px]">
              <span className="w-14 shrink-0 font-mono text-xs font-semibold text-accent-text">{action.method}</span>
              <span className="min-w-0">
                <span className="font-medium">{action.name}</span>
                <span className="block truncate text-mute">{action.description || action.path}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
