import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { listSecrets, putSecret, removeSecret, type Secret } from '@/api/people'
import { useSession } from '@/api/session'
import { ago, dateTime, useT } from '@/i18n/t'
import { attempt } from '@/ui/attempt'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { confirm } from '@/ui/Confirm'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

/** Secrets by name; a value can be set, and never read again. */
export default function Secrets() {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const [editing, setEditing] = useState<Secret | 'new' | null>(null)
  const secrets = useQuery({ queryKey: ['secrets'], queryFn: listSecrets })
  const org = (id: string | null) => session?.user?.orgs.find((one) => one.id === id)
  const remove = (row: Secret) =>
    attempt(t('common.delete'), async () => {
      if (!(await confirm({ title: t('settings.delete_secret', { name: row.name }), text: t('settings.delete_secret_text'), action: t('common.delete'), danger: true }))) return
      await removeSecret(row.name, row.org_id ?? undefined)
      await client.invalidateQueries({ queryKey: ['secrets'] })
    })
  const mine = (row: Secret) => row.org_id === null || ['admin', 'owner'].includes(org(row.org_id)?.role ?? '')
  const columns: Column<Secret>[] = [
    { id: 'name', header: t('common.name'), sort: (row) => row.name, cell: (row) => <code className="font-medium">{row.name}</code> },
    { id: 'owner', header: t('settings.belongs_to'), cell: (row) => (row.org_id === null ? t('settings.me') : <Badge tone="accent">{org(row.org_id)?.name ?? row.org_id.slice(-8)}</Badge>) },
    { id: 'value', header: t('settings.value'), cell: () => <span className="tracking-widest text-mute" aria-label={t('settings.hidden')}>••••••••</span> },
    { id: 'changed', header: t('settings.changed'), sort: (row) => row.updated_at, cell: (row) => <time className="text-mute" title={dateTime(row.updated_at)}>{ago(row.updated_at)}</time> },
    {
      id: 'actions',
      header: '',
      className: 'text-right whitespace-nowrap',
      cell: (row) =>
        mine(row) && (
          <span className="inline-flex gap-1.5">
            <Button size="sm" onClick={() => setEditing(row)} aria-label={t('settings.set_anew_named', { name: row.name })}>
              {t('settings.set_anew')}
            </Button>
            <Button size="sm" look="danger" onClick={() => void remove(row)} aria-label={t('settings.delete_named', { name: row.name })}>
              {t('common.delete')}
            </Button>
          </span>
        ),
    },
  ]
  const create = (
    <Button look="primary" icon={<Plus size={16} />} onClick={() => setEditing('new')}>
      {t('settings.new_secret')}
    </Button>
  )
  return (
    <Page title={t('navigation.secrets')} lead={t('settings.secrets_lead')} actions={create}>
      <ResourceTable
        label={t('navigation.secrets')}
        rows={secrets.data}
        columns={columns}
        rowKey={(row) => `${row.org_id ?? ''}/${row.name}`}
        search={(row) => row.name}
        error={secrets.error}
        retry={() => void secrets.refetch()}
        empty={
          <Empty icon={<KeyRound size={24} aria-hidden />} title={t('settings.no_secrets')} actions={create}>
            {t('settings.no_secrets_lead')}
          </Empty>
        }
      />
      {editing && <SecretDialog secret={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </Page>
  )
}

function SecretDialog({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const led = session?.user?.orgs.filter((one) => one.role !== 'member') ?? []
  const [name, setName] = useState(secret?.name ?? '')
  const [value, setValue] = useState('')
  const [org, setOrg] = useState(secret?.org_id ?? '')
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setError(null)
    try {
      await putSecret(name.trim(), value, org || undefined)
      await client.invalidateQueries({ queryKey: ['secrets'] })
      done(t('settings.secret_set', { name: name.trim() }))
      onClose()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={secret ? t('settings.set_named', { name: secret.name }) : t('settings.new_secret')}
      description={t('settings.secret_dialog_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!name.trim() || !value} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {!secret && (
          <Labelled label={t('common.name')} help={t('settings.secret_name_help')} required>
            {(ids) => <Input {...ids} autoFocus spellCheck={false} className="font-mono" value={name} placeholder="OPENAI_API_KEY" onChange={(event) => setName(event.target.value)} />}
          </Labelled>
        )}
        <Labelled label={t('settings.value')} required>
          {(ids) => <Textarea {...ids} rows={3} autoComplete="off" spellCheck={false} className="font-mono [-webkit-text-security:disc] focus:[-webkit-text-security:none]" value={value} onChange={(event) => setValue(event.target.value)} />}
        </Labelled>
        {!secret && led.length > 0 && (
          <Labelled label={t('settings.belongs_to')}>{(ids) => <Choice {...ids} value={org} onChange={setOrg} options={[{ value: '', label: t('settings.me') }, ...led.map((one) => ({ value: one.id, label: one.name }))]} />}</Labelled>
        )}
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
