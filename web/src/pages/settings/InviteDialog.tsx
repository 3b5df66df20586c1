import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invite, ROLES, setMember, type Role } from '@/api/people'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { CopyText } from '@/ui/CopyText'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

const useRoles = () => {
  const t = useT()
  return ROLES.map((value) => ({ value, label: t(`settings.role_${value}`), help: t(`settings.role_${value}_help`) }))
}

/** Makes a link into an organisation; where mail is set up it goes out at once. */
export function InviteDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const roles = useRoles()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [error, setError] = useState<unknown>(null)
  const [made, setMade] = useState<{ url: string; mailed: boolean } | null>(null)
  const create = async () => {
    setError(null)
    try {
      setMade(await invite(org, { role, ...(email.trim() ? { email: email.trim() } : {}) }))
      await client.invalidateQueries({ queryKey: ['orgs', org, 'invitations'] })
    } catch (problem) {
      setError(problem)
    }
  }
  if (made) {
    return (
      <Modal open onOpenChange={onClose} title={t('settings.invited_title')} description={t(made.mailed ? 'settings.invited_mailed' : 'settings.invited_link')} footer={<Button look="primary" onClick={onClose}>{t('common.close')}</Button>}>
        <CopyText text={made.url} label={t('settings.invitation_link')} />
      </Modal>
    )
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.invite')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" onClick={() => void create()}>
            {t('settings.invite')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('settings.email')} help={t('settings.invite_help')}>
          {(ids) => <Input {...ids} autoFocus type="email" value={email} onChange={(event) => setEmail(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.role')}>{(ids) => <Choice {...ids} value={role} options={roles} onChange={(value) => setRole(value as Role)} />}</Labelled>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}

/** Takes somebody in who is a user already. */
export function AddMember({ org, onClose }: { org: string; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const roles = useRoles()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [error, setError] = useState<unknown>(null)
  const add = async () => {
    setError(null)
    try {
      await setMember(org, name.trim(), role)
      await client.invalidateQueries({ queryKey: ['orgs', org] })
      done(t('settings.member_added', { name: name.trim() }))
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.add_member')}
      description={t('settings.add_member_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" disabled={!name.trim()} onClick={() => void add()}>
            {t('common.add')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('settings.user_name')} required>
          {(ids) => <Input {...ids} autoFocus value={name} onChange={(event) => setName(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.role')}>{(ids) => <Choice {...ids} value={role} options={roles} onChange={(value) => setRole(value as Role)} />}</Labelled>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
