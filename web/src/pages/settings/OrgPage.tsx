import { useQuery, useQueryClient } from '@tanstack/react-query'
import { MailPlus, Pencil, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { listInvitations, listMembers, readOrg, removeMember, renameOrg, revokeInvitation, ROLES, setMember, type Invitation, type Member, type Role } from '@/api/people'
import { useSession } from '@/api/session'
import { ago, dateTime, text, useT } from '@/i18n/t'
import { attempt } from '@/ui/attempt'
import { Badge, type Tone } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { confirm } from '@/ui/Confirm'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { AddMember, InviteDialog } from './InviteDialog'
import { Section } from './Section'

const TONES: Record<Invitation['status'], Tone> = { pending: 'info', accepted: 'ok', revoked: 'mute', expired: 'warn' }

/** One organisation: its members with their roles, and who is invited. */
export default function OrgPage({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const id = params.org!
  const { data: session } = useSession()
  const [renaming, setRenaming] = useState(false)
  const org = useQuery({ queryKey: ['orgs', id], queryFn: () => readOrg(id), retry: false })
  const role = session?.user?.orgs.find((one) => one.id === id)?.role
  const leads = session?.user?.operator === true || role === 'admin' || role === 'owner'
  if (org.error) return <Page title={t('settings.org')}><Trouble error={org.error} /></Page>
  if (!org.data) return <Loading label={t('common.loading')} />
  return (
    <Page
      title={org.data.name}
      lead={<Link href="/settings/people" className="text-accent-text hover:underline">{t('navigation.people')}</Link>}
      actions={
        (role === 'owner' || session?.user?.operator) && (
          <Button icon={<Pencil size={15} />} onClick={() => setRenaming(true)}>
            {t('settings.rename')}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-8">
        <Members org={id} leads={leads} me={session?.user?.id ?? ''} />
        {leads && <Invitations org={id} />}
      </div>
      {renaming && <Rename org={id} name={org.data.name} onClose={() => setRenaming(false)} />}
    </Page>
  )
}

function Members({ org, leads, me }: { org: string; leads: boolean; me: string }) {
  const t = useT()
  const client = useQueryClient()
  const [adding, setAdding] = useState(false)
  const members = useQuery({ queryKey: ['orgs', org, 'members'], queryFn: () => listMembers(org) })
  const fresh = () => client.invalidateQueries({ queryKey: ['orgs', org] })
  const change = (member: Member, role: Role) =>
    attempt(t('settings.role'), async () => {
      await setMember(org, member.user_id, role)
      await fresh()
      done(t('settings.role_changed', { name: member.name }))
    })
  const remove = (member: Member) =>
    attempt(t('common.remove'), async () => {
      if (!(await confirm({ title: t('settings.remove_member', { name: member.name }), text: t('settings.remove_member_text'), action: t('common.remove'), danger: true }))) return
      await removeMember(org, member.user_id)
      await fresh()
    })
  const columns: Column<Member>[] = [
    { id: 'name', header: t('common.name'), sort: (row) => row.name, cell: (row) => <span className="font-medium">{row.name} {row.user_id === me && <Badge>{t('settings.you')}</Badge>}</span> },
    {
      id: 'role',
      header: t('settings.role'),
      className: 'w-44',
      cell: (row) => (leads ? <Choice aria-label={t('settings.role_of', { name: row.name })} value={row.role} options={ROLES.map((value) => ({ value, label: t(`settings.role_${value}`), help: t(`settings.role_${value}_help`) }))} onChange={(value) => void change(row, value as Role)} /> : t(`settings.role_${row.role}`)),
    },
    { id: 'since', header: t('settings.since'), sort: (row) => row.since, cell: (row) => <time className="text-mute" title={dateTime(row.since)}>{ago(row.since)}</time> },
    { id: 'remove', header: '', className: 'text-right', cell: (row) => leads && <Button size="sm" look="danger" aria-label={t('common.remove_named', { name: row.name })} onClick={() => void remove(row)}>{t('common.remove')}</Button> },
  ]
  return (
    <Section
      bare
      title={t('settings.members')}
      action={
        leads && (
          <Button size="sm" icon={<UserPlus size={14} />} onClick={() => setAdding(true)}>
            {t('settings.add_member')}
          </Button>
        )
      }
    >
      <ResourceTable label={t('settings.members')} rows={members.data} columns={columns} rowKey={(row) => row.user_id} error={members.error} empty={<p className="text-mute">{t('settings.no_members')}</p>} />
      {adding && <AddMember org={org} onClose={() => setAdding(false)} />}
    </Section>
  )
}

function Invitations({ org }: { org: string }) {
  const t = useT()
  const client = useQueryClient()
  const [inviting, setInviting] = useState(false)
  const invitations = useQuery({ queryKey: ['orgs', org, 'invitations'], queryFn: () => listInvitations(org) })
  const revoke = (row: Invitation) =>
    attempt(t('settings.revoke'), async () => {
      await revokeInvitation(org, row.id)
      await client.invalidateQueries({ queryKey: ['orgs', org, 'invitations'] })
    })
  const columns: Column<Invitation>[] = [
    { id: 'email', header: t('settings.invited'), cell: (row) => row.email ?? <span className="text-mute">{t('settings.whoever_has_link')}</span> },
    { id: 'role', header: t('settings.role'), cell: (row) => t(`settings.role_${row.role}`) },
    { id: 'status', header: t('settings.state'), cell: (row) => <Badge tone={TONES[row.status]}>{text(`settings.invitation_${row.status}`) ?? row.status}</Badge> },
    { id: 'expires', header: t('settings.expires'), cell: (row) => <time className="text-mute" title={dateTime(row.expires_at)}>{ago(row.expires_at)}</time> },
    { id: 'revoke', header: '', className: 'text-right', cell: (row) => row.status === 'pending' && <Button size="sm" look="danger" onClick={() => void revoke(row)}>{t('settings.revoke')}</Button> },
  ]
  return (
    <Section
      bare
      title={t('settings.invitations')}
      action={
        <Button size="sm" look="primary" icon={<MailPlus size={14} />} onClick={() => setInviting(true)}>
          {t('settings.invite')}
        </Button>
      }
    >
      <ResourceTable label={t('settings.invitations')} rows={invitations.data} columns={columns} rowKey={(row) => row.id} error={invitations.error} empty={<p className="rounded-xl border border-dashed border-line-strong/50 py-8 text-center text-mute">{t('settings.no_invitations')}</p>} />
      {inviting && <InviteDialog org={org} onClose={() => setInviting(false)} />}
    </Section>
  )
}

function Rename({ org, name, onClose }: { org: string; name: string; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [value, setValue] = useState(name)
  const save = () =>
    attempt(t('settings.rename'), async () => {
      await renameOrg(org, value.trim())
      await Promise.all([client.invalidateQueries({ queryKey: ['orgs'] }), client.invalidateQueries({ queryKey: ['session'] })])
      onClose()
    })
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.rename')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" disabled={!value.trim() || value.trim() === name} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <Labelled label={t('common.name')}>{(ids) => <Input {...ids} autoFocus maxLength={100} value={value} onChange={(event) => setValue(event.target.value)} />}</Labelled>
    </Modal>
  )
}
