import { useState } from 'react'
import { saveProvider, type Provider } from '@/api/models'
import { useT } from '@/i18n/t'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Segmented } from '@/ui/Segmented'
import { Button } from '@/ui/Button'
import { Trouble } from '@/ui/Trouble'
import { useTrying } from '@/resources/trying'

const ORDER = ['name', 'base_url', 'api_key', 'models', 'roles', 'any_model', 'timeout', 'retries', 'max_tokens_parameter', 'headers']
const KNOWN: { id: string; name: string; url: string; model: string }[] = [
  { id: 'openai', name: 'openai', url: 'https://api.openai.com/v1', model: 'gpt-5-mini' },
  { id: 'local', name: 'local', url: 'http://127.0.0.1:11434/v1', model: 'llama3.2' },
  { id: 'other', name: '', url: '', model: '' },
]

/** What is sent for a provider that is there: keys and headers that were not given anew stay as they are. */
function definitionOf(provider: Provider): Record<string, unknown> {
  const { id: _, source: __, org_id: ___, visibility: ____, api_key: _____, headers: ______, ...definition } = provider
  return definition
}

/** A provider: at first only what it takes to get an answer; everything else when it is edited. */
export function ProviderForm({ provider, onClose, onSaved }: { provider: Provider | null; onClose: () => void; onSaved: () => Promise<void> }) {
  const t = useT()
  const [full, setFull] = useState(provider !== null)
  const save = async (definition: Record<string, unknown>) => {
    await saveProvider(provider?.id ?? null, definition)
    await onSaved()
    onClose()
  }
  return (
    <Modal open wide={full} onOpenChange={(open) => !open && onClose()} title={t(provider ? 'resources.edit_provider' : 'resources.new_provider')} description={t('resources.provider_lead')}>
      {full ? <DefinitionForm kind="model-provider" only={ORDER} value={provider ? definitionOf(provider) : { name: '' }} onSave={save} hints={{ api_key: { secret: true } }} /> : <Quick save={save} onFull={() => setFull(true)} />}
    </Modal>
  )
}

function Quick({ save, onFull }: { save: (definition: Record<string, unknown>) => Promise<void>; onFull: () => void }) {
  const t = useT()
  const [which, setWhich] = useState('openai')
  const [given, setGiven] = useState(KNOWN[0]!)
  const [key, setKey] = useState('')
  const { busy, error, trying } = useTrying()
  const put = (part: Partial<typeof given>) => setGiven({ ...given, ...part })
  const submit = () => trying(() => save({ name: given.name.trim(), base_url: given.url.trim(), ...(key ? { api_key: key } : {}), models: [{ name: given.model.trim() }], roles: { general: given.model.trim() }, any_model: true }))
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Segmented
        label={t('resources.provider')}
        value={which}
        onChange={(id) => {
          setWhich(id)
          setGiven(KNOWN.find((one) => one.id === id)!)
        }}
        options={[
          { value: 'openai', label: 'OpenAI' },
          { value: 'local', label: t('resources.provider_local') },
          { value: 'other', label: t('resources.provider_other') },
        ]}
      />
      <Labelled label={t('common.name')} required>{(ids) => <Input {...ids} value={given.name} onChange={(event) => put({ name: event.target.value })} />}</Labelled>
      <Labelled label={t('resources.base_url')} required>{(ids) => <Input {...ids} type="url" value={given.url} placeholder="https://api.example.com/v1" onChange={(event) => put({ url: event.target.value })} />}</Labelled>
      <Labelled label={t('resources.api_key')} help={t('resources.api_key_help')}>{(ids) => <Input {...ids} type="password" autoComplete="new-password" value={key} placeholder="sk-…" onChange={(event) => setKey(event.target.value)} />}</Labelled>
      <Labelled label={t('resources.model')} help={t('resources.model_help')} required>{(ids) => <Input {...ids} value={given.model} onChange={(event) => put({ model: event.target.value })} />}</Labelled>
      {error !== null && <Trouble error={error} />}
      <div className="flex items-center justify-between">
        <Button look="ghost" onClick={onFull}>
          {t('resources.all_settings')}
        </Button>
        <Button type="submit" look="primary" busy={busy} disabled={!given.name.trim() || !given.url.trim() || !given.model.trim()}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  )
}
