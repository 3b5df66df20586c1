import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Building2, Ellipsis, Link2, Plus, ShieldCheck, UserCheck, UserX } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { changeUser, createOrg, disableUser, linkFor, listOrgs, listUsers, type Org, type User } from '@/api/people'
import { useSession } from '@/api/session'
import { ago, dateTime, useT } from '@/i18n/t'
import { attempt } from '@/ui/attempt'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { CopyText } from '@/ui/CopyText'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Menu, type MenuEntry } from '@/ui/Menu'
import { Modal } from '@/ui/Modal'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { Section } from './Section'
import { UserDialog } from './UserDialog'

/** Who uses this installation, and who belongs together. */
export default function People() {
  const t = useT()
  const { data: session } = useSession()
  const operator = session?.user?.operator ?? false
  return (
    <Page title={t('navigation.people')} lead={t('settings.people_lead')}>
      <div className="flex flex-col gap-8">
        <Orgs operator={operator} />
        {operator && <Users me={session?.user?.id ?? ''} />}
      </div>
    </Page>
  )
}

function Orgs({ operator }: { operator: boolean }) {
  const t = useT()
  const [making, setMaking] = useState(false)
  const { data: session } = useSession()
  const orgs = useQuery({ queryKey: ['orgs'], queryFn: listOrgs })
  const role = (org: Org) => session?.user?.orgs.find((one) => one.id === org.id)?.role
  const columns: Column<Org>[] = [
    { id: 'name', header: t('common.name'), sort: (row) => row.name, cell: (row) => <Link href={`/settings/orgs/${row.id}`} className="font-medium hover:text-accent-text hover:underline">{row.name}</Link> },
    { id: 'role', header: t('settings.my_role'), cell: (row) => (role(row) ? <Badge tone="accent">{t(`settings.role_${role(row)!}` as 'settings.role_member')}</Badge> : <span className="text-mute">—</span>) },
    { id: 'created', header: t('settings.created'), sort: (row) => row.created_at, cell: (row) => <time className="text-mute" title={dateTime(row.created_at)}>{ago(row.created_at)}</time> },
  ]
  const create = operator && (
    <Button size="sm" look="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
      {t('settings.new_org')}
    </Button>
  )
  return (
    <Section bare title={t('settings.orgs')} action={create}>
      <ResourceTable
        label={t('settings.orgs')}
        rows={orgs.data}
        columns={columns}
        rowKey={(row) => row.id}
        error={orgs.error}
        empty={
          <Empty icon={<Building2 size={24} aria-hidden />} title={t('settings.no_orgs')}>
            {t('settings.no_orgs_lead')}
          </Empty>
        }
      />
      {making && <OrgDialog onClose={() => setMaking(false)} />}
    </Section>
  )
}

function OrgDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [error, setError] = useState<unknown>(null)
  const create = async () => {
    try {
      await createOrg(name.trim())
      await Promise.all([client.invalidateQueries({ queryKey: ['orgs'] }), client.invalidateQueries({ queryKey: ['session'] })])
      done(t('settings.org_made', { name: name.trim() }))
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.new_org')}
      description={t('settings.new_org_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" disabled={!name.trim()} onClick={() => void create()}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <Labelled label={t('common.name')} required>
        {(ids) => <Input {...ids} autoFocus maxLength={100} value={name} onChange={(event) => setName(event.target.value)} onKeyDown={(event) => event.key === 'Enter' && name.trim() && void create()} />}
      </Labelled>
      {error !== null && <div className="mt-3"><Trouble error={error} /></div>}
    </Modal>
  )
}

function Users({ me }: { me: string }) {
  const t = useT()
  const client = useQueryClient()
  const [making, setMaking] = useState(false)
  const [link, setLink] = useState<{ name: string; url: string } | null>(null)
  const users = useQuery({ queryKey: ['users'], queryFn: listUsers })
  const fresh = () => client.invalidateQueries({ queryKey: ['users'] })
  const change = (what: string, user: User, to: { operator?: boolean; active?: boolean }) =>
    attempt(what, async () => {
      await changeUser(user.id, to)
      await fresh()
    })
  const disable = (user: User) =>
    attempt(t('settings.disable'), async () => {
      if (!(await confirm({ title: t('settings.disable_title', { name: user.name }), text: t('settings.disable_text'), action: t('settings.disable'), danger: true }))) return
      await disableUser(user.id)
      await fresh()
    })
  const makeLink = (user: User) => attempt(t('settings.sign_in_link'), async () => setLink({ name: user.name, url: (await linkFor(user.id)).url }))
  const items = (user: User): MenuEntry[] => [
    { label: t('settings.sign_in_link'), icon: <Link2 size={14} />, disabled: user.disabled_at !== null, onSelect: () => void makeLink(user) },
    { label: t(user.operator ? 'settings.no_operator' : 'settings.make_operator'), icon: <ShieldCheck size={14} />, disabled: user.id === me, onSelect: () => void change(t('settings.operator'), user, { operator: !user.operator }) },
    'line',
    user.disabled_at === null
      ? { label: t('settings.disable'), icon: <UserX size={14} />, danger: true, disabled: user.id === me, onSelect: () => void disable(user) }
      : { label: t('settings.enable'), icon: <UserCheck size={14} />, onSelect: () => void change(t('settings.enable'), user, { active: true }) },
  ]
  const columns: Column<User>[] = [
    {
      id: 'name',
      header: t('common.name'),
      sort: (row) => row.name,
      cell: (row) => (
        <span className="flex flex-col">
          <span className="font-medium">
            {row.name} {row.id === me && <Badge>{t('settings.you')}</Badge>}
          </span>
          <span className="text-xs text-mute">{row.email}</span>
        </span>
      ),
    },
    { id: 'kind', header: t('settings.rights'), cell: (row) => <span className="flex flex-wrap gap-1">{row.operator && <Badge tone="accent">{t('settings.operator')}</Badge>}{row.disabled_at !== null && <Badge tone="danger">{t('settings.disabled')}</Badge>}</span> },
    { id: 'password', header: t('settings.signs_in'), cell: (row) => <span className="text-mute">{t(row.has_password ? 'settings.with_password' : 'settings.without_password')}</span> },
    { id: 'created', header: t('settings.created'), sort: (row) => row.created_at, cell: (row) => <time className="text-mute" title={dateTime(row.created_at)}>{ago(row.created_at)}</time> },
    { id: 'actions', header: '', className: 'w-10 text-right', cell: (row) => <Menu trigger={<IconButton size="sm" label={t('settings.actions_of', { name: row.name })} icon={<Ellipsis size={16} />} />} items={items(row)} /> },
  ]
  return (
    <Section
      bare
      title={t('settings.users')}
      action={
        <Button size="sm" look="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
          {t('settings.new_user')}
        </Button>
      }
    >
      <ResourceTable label={t('settings.users')} rows={users.data} columns={columns} rowKey={(row) => row.id} search={(row) => `${row.name} ${row.email ?? ''}`} error={users.error} empty={null} />
      {making && <UserDialog onClose={() => setMaking(false)} onLink={setLink} />}
      {link && (
        <Modal open onOpenChange={() => setLink(null)} title={t('settings.link_for', { name: link.name })} description={t('settings.link_once')} footer={<Button look="primary" onClick={() => setLink(null)}>{t('common.close')}</Button>}>
          <CopyText text={link.url} label={t('settings.sign_in_link')} />
        </Modal>
      )}
    </Section>
  )
}
