import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createKey } from '@/api/people'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { CopyText } from '@/ui/CopyText'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Toggle } from '@/ui/Toggle'
import { Trouble } from '@/ui/Trouble'

const SCOPES = ['runs:read', 'runs:write', 'workflows:read', 'workflows:write', 'approvals:read', 'approvals:answer', 'sessions:read', 'sessions:write', 'triggers:read', 'triggers:write', 'files:read', 'files:write', 'resources:read', 'resources:write', 'resources:use', 'admin']
const LENGTHS = ['30d', '90d', '365d', '']

/** Makes a key, and shows it this once. */
export function KeyDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [lasts, setLasts] = useState('90d')
  const [all, setAll] = useState(false)
  const [scopes, setScopes] = useState(['runs:read', 'runs:write', 'workflows:read'])
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [key, setKey] = useState<string | null>(null)
  const create = async () => {
    setBusy(true)
    setError(null)
    try {
      const made = await createKey({ name: name.trim() || 'api', ...(all ? {} : { scopes }), ...(lasts ? { expires_in: lasts } : {}) })
      await client.invalidateQueries({ queryKey: ['keys'] })
      setKey(made.key)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  if (key !== null) {
    return (
      <Modal open onOpenChange={onClose} title={t('settings.key_made')} description={t('settings.key_once')} footer={<Button look="primary" onClick={onClose}>{t('settings.key_kept')}</Button>}>
        <CopyText text={key} label={t('settings.key')} />
      </Modal>
    )
  }
  const toggle = (scope: string) => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.new_key')}
      description={t('settings.new_key_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!all && !scopes.length} onClick={() => void create()}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('common.name')} help={t('settings.key_name_help')}>
          {(ids) => <Input {...ids} autoFocus maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.lasts')}>{(ids) => <Choice {...ids} value={lasts} onChange={setLasts} options={LENGTHS.map((value) => ({ value, label: value ? t('settings.days', { n: Number.parseInt(value, 10) }) : t('settings.forever') }))} />}</Labelled>
        <Labelled label={t('settings.all_scopes')} help={t('settings.all_scopes_help')}>
          {(ids) => <Toggle {...ids} checked={all} onChange={setAll} />}
        </Labelled>
        {!all && (
          <fieldset className="grid gap-x-4 gap-y-1.5 sm:grid-cols-2">
            <legend className="mb-1.5 text-[13px] font-medium">{t('settings.scopes')}</legend>
            {SCOPES.map((scope) => (
              <label key={scope} className="flex items-center gap-2 text-[13px]">
                <input type="checkbox" className="size-4 accent-(--accent)" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
                <code>{scope}</code>
              </label>
            ))}
          </fieldset>
        )}
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
