import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createUser, linkFor } from '@/api/people'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Toggle } from '@/ui/Toggle'
import { Trouble } from '@/ui/Trouble'

/** Makes a user, and the link that signs them in for the first time. */
export function UserDialog({ onClose, onLink }: { onClose: () => void; onLink: (link: { name: string; url: string }) => void }) {
  const t = useT()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [operator, setOperator] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const create = async () => {
    setBusy(true)
    setError(null)
    try {
      const made = await createUser({ name: name.trim(), operator, ...(email.trim() ? { email: email.trim() } : {}) })
      await client.invalidateQueries({ queryKey: ['users'] })
      onLink({ name: made.name, url: (await linkFor(made.id)).url })
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
      title={t('settings.new_user')}
      description={t('settings.new_user_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!name.trim()} onClick={() => void create()}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('common.name')} required>
          {(ids) => <Input {...ids} autoFocus maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.email')} help={t('settings.email_help')}>
          {(ids) => <Input {...ids} type="email" value={email} onChange={(event) => setEmail(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.operator')} help={t('settings.operator_help')}>
          {(ids) => <Toggle {...ids} checked={operator} onChange={setOperator} />}
        </Labelled>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
