import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, LogOut, Monitor, Plus } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { changeUser, endLogin, endOtherLogins, listKeys, listLogins, readMe, revokeKey, setPassword, type ApiKey, type Login } from '@/api/people'
import { allows, useSession } from '@/api/session'
import { ago, dateTime, text, useT } from '@/i18n/t'
import { attempt } from '@/ui/attempt'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { nowSeconds } from '@/ui/clock'
import { KeyDialog } from './KeyDialog'
import { Section } from './Section'

/** What belongs to whoever is signed in: address, password, browsers and keys. */
export default function Account() {
  const t = useT()
  const { data: session } = useSession()
  const me = useQuery({ queryKey: ['me'], queryFn: readMe, retry: false })
  return (
    <Page title={t('navigation.account')} lead={t('settings.account_lead', { name: session?.user?.name ?? '' })}>
      {me.error ? (
        <Trouble error={me.error} retry={() => void me.refetch()} />
      ) : !me.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <div className="flex flex-col gap-5">
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <Address email={me.data.email} />
            <Password has={me.data.has_password} byLink={session?.session?.method === 'link'} email={me.data.email} />
          </div>
          <Logins />
          {allows(session, 'admin') && <Keys />}
        </div>
      )}
    </Page>
  )
}

function Address({ email }: { email: string | null }) {
  const t = useT()
  const client = useQueryClient()
  const [value, setValue] = useState(email ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    void attempt(t('settings.email'), async () => {
      await changeUser('me', { email: value.trim() })
      await client.invalidateQueries({ queryKey: ['me'] })
      done(t('settings.saved'))
    })
  }
  return (
    <Section title={t('settings.email')}>
      <form onSubmit={save} className="flex flex-col gap-3">
        <Labelled label={t('settings.email')} help={t('settings.email_help')}>
          {(ids) => <Input {...ids} type="email" autoComplete="email" value={value} onChange={(event) => setValue(event.target.value)} />}
        </Labelled>
        <Button type="submit" className="self-start" disabled={value.trim() === (email ?? '')}>
          {t('common.save')}
        </Button>
      </form>
    </Section>
  )
}

const SHORTEST = 10

function Password({ has, byLink, email }: { has: boolean; byLink: boolean; email: string | null }) {
  const t = useT()
  const client = useQueryClient()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const ask = has && !byLink
  const differs = again !== '' && again !== next
  const short = next !== '' && next.length < SHORTEST
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await setPassword(next, ask ? current : undefined)
      await Promise.all(['me', 'session', 'logins'].map((key) => client.invalidateQueries({ queryKey: [key] })))
      for (const clear of [setCurrent, setNext, setAgain]) clear('')
      done(t('settings.password_set'))
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Section title={t(has ? 'settings.password_change' : 'settings.password_choose')}>
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-3">
        {!has && <p className="text-[13px] text-mute">{t('settings.password_none')}</p>}
        <input type="text" autoComplete="username" value={email ?? ''} readOnly hidden aria-hidden tabIndex={-1} />
        {ask && <Labelled label={t('settings.password_current')}>{(ids) => <Input {...ids} type="password" autoComplete="current-password" value={current} onChange={(event) => setCurrent(event.target.value)} />}</Labelled>}
        <Labelled label={t('settings.password_new')} help={t('settings.password_help')} error={short ? t('settings.password_short') : undefined}>
          {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={next} onChange={(event) => setNext(event.target.value)} />}
        </Labelled>
        <Labelled label={t('settings.password_again')} error={differs ? t('settings.password_differs') : undefined}>
          {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={again} onChange={(event) => setAgain(event.target.value)} />}
        </Labelled>
        {error !== null && <Trouble error={error} />}
        <Button type="submit" className="self-start" busy={busy} disabled={!next || short || again !== next || (ask && !current)}>
          {t(has ? 'settings.password_change' : 'settings.password_choose')}
        </Button>
      </form>
    </Section>
  )
}

/** `Mozilla/5.0 (X11; Linux x86_64) … Chrome/130 …` → "Chrome, Linux". */
export function browserName(agent: string): string {
  const program = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(agent)?.[1] ?? agent.split(/[\s/]/)[0]
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  return [{ Edg: 'Edge', OPR: 'Opera' }[program ?? ''] ?? program, system].filter(Boolean).join(', ') || '—'
}

function Logins() {
  const t = useT()
  const client = useQueryClient()
  const logins = useQuery({ queryKey: ['logins'], queryFn: listLogins })
  const fresh = () => client.invalidateQueries({ queryKey: ['logins'] })
  const end = (login: Login) =>
    attempt(t('settings.end_session'), async () => {
      await endLogin(login.id)
      await fresh()
    })
  const endOthers = () =>
    attempt(t('settings.end_others'), async () => {
      if (!(await confirm({ title: t('settings.end_others'), text: t('settings.end_others_text'), action: t('settings.end_others'), danger: true }))) return
      await endOtherLogins()
      await fresh()
      done(t('settings.ended_others'))
    })
  const columns: Column<Login>[] = [
    {
      id: 'browser',
      header: t('settings.browser'),
      cell: (row) => (
        <span className="flex items-center gap-2" title={row.agent}>
          <Monitor size={15} aria-hidden className="shrink-0 text-mute" /> {browserName(row.agent)} {row.current && <Badge tone="ok">{t('settings.this_browser')}</Badge>}
        </span>
      ),
    },
    { id: 'method', header: t('settings.by'), cell: (row) => text(`settings.method_${row.method}`) ?? row.method },
    { id: 'address', header: t('settings.from'), cell: (row) => <code className="text-xs">{row.address}</code> },
    { id: 'seen', header: t('settings.seen'), cell: (row) => <time className="text-mute" title={dateTime(row.seen_at)}>{ago(row.seen_at)}</time> },
    { id: 'end', header: '', className: 'text-right', cell: (row) => !row.current && <Button size="sm" onClick={() => void end(row)}>{t('settings.end_session')}</Button> },
  ]
  return (
    <Section
      bare
      title={t('settings.sessions')}
      action={
        (logins.data?.length ?? 0) > 1 && (
          <Button size="sm" icon={<LogOut size={14} />} onClick={() => void endOthers()}>
            {t('settings.end_others')}
          </Button>
        )
      }
    >
      <ResourceTable label={t('settings.sessions')} rows={logins.data} columns={columns} rowKey={(row) => row.id} error={logins.error} empty={<p className="text-mute">{t('settings.no_sessions')}</p>} />
    </Section>
  )
}

function Keys() {
  const t = useT()
  const client = useQueryClient()
  const [making, setMaking] = useState(false)
  const keys = useQuery({ queryKey: ['keys'], queryFn: listKeys })
  const revoke = (key: ApiKey) =>
    attempt(t('settings.revoke'), async () => {
      if (!(await confirm({ title: t('settings.revoke_title', { name: key.name }), text: t('settings.revoke_text'), action: t('settings.revoke'), danger: true }))) return
      await revokeKey(key.id)
      await client.invalidateQueries({ queryKey: ['keys'] })
    })
  const now = nowSeconds()
  const counts = (key: ApiKey) => key.revoked_at === null && (key.expires_at === null || key.expires_at > now)
  const columns: Column<ApiKey>[] = [
    { id: 'name', header: t('common.name'), sort: (row) => row.name, cell: (row) => <span className="font-medium">{row.name}</span> },
    { id: 'prefix', header: t('settings.key'), cell: (row) => <code className="text-xs">il_{row.prefix}…</code> },
    { id: 'scopes', header: t('settings.scopes'), cell: (row) => <span className="line-clamp-2 text-[13px]">{row.scopes.includes('*') ? t('settings.all_scopes') : row.scopes.join(', ')}</span> },
    { id: 'used', header: t('settings.used'), sort: (row) => row.last_used_at ?? 0, cell: (row) => <span className="text-mute">{row.last_used_at === null ? t('settings.never') : ago(row.last_used_at)}</span> },
    { id: 'expires', header: t('settings.expires'), cell: (row) => (row.revoked_at !== null ? <Badge tone="danger">{t('settings.revoked')}</Badge> : row.expires_at === null ? <span className="text-mute">{t('settings.never')}</span> : counts(row) ? <time title={dateTime(row.expires_at)}>{ago(row.expires_at)}</time> : <Badge tone="warn">{t('settings.expired')}</Badge>) },
    { id: 'actions', header: '', className: 'text-right', cell: (row) => counts(row) && <Button size="sm" look="danger" onClick={() => void revoke(row)} aria-label={t('settings.revoke_named', { name: row.name })}>{t('settings.revoke')}</Button> },
  ]
  const create = (
    <Button size="sm" look="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
      {t('settings.new_key')}
    </Button>
  )
  return (
    <Section bare title={t('settings.keys')} action={create}>
      <ResourceTable
        label={t('settings.keys')}
        rows={keys.data}
        columns={columns}
        rowKey={(row) => row.id}
        error={keys.error}
        empty={
          <Empty icon={<KeyRound size={24} aria-hidden />} title={t('settings.no_keys')}>
            {t('settings.no_keys_lead')}
          </Empty>
        }
      />
      {making && <KeyDialog onClose={() => setMaking(false)} />}
    </Section>
  )
}
