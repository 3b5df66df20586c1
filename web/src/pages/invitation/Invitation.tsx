import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { Link, useLocation } from 'wouter'
import { acceptInvitation, readInvited } from '@/api/people'
import { signOut, useSession } from '@/api/session'
import { dateTime, useT } from '@/i18n/t'
import { Mark } from '@/shell/Navigation'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

/** Where a link into an organisation leads: join as who is signed in, or as a new user. */
export default function Invitation({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const token = params.token!
  const client = useQueryClient()
  const [, go] = useLocation()
  const session = useSession()
  const invited = useQuery({ queryKey: ['invited', token], queryFn: () => readInvited(token), retry: false })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const user = session.data?.authenticated ? session.data.user : null
  const accept = async (as: { name?: string; password?: string }) => {
    setBusy(true)
    setError(null)
    try {
      const { org_id } = await acceptInvitation(token, as)
      await client.invalidateQueries()
      go(`/settings/orgs/${org_id}`, { replace: true })
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const join = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    void accept({ name: String(form.get('name') ?? '').trim(), password: String(form.get('password') ?? '') })
  }
  const other = async () => {
    const url = await signOut()
    if (url !== null) {
      window.location.assign(url)
      return
    }
    client.clear()
    await session.refetch()
  }
  const found = invited.data
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-md rounded-2xl border border-line bg-panel p-2 shadow-card">
        <Page title={found ? t('settings.join', { org: found.org }) : t('settings.invitation')} actions={<Mark />} lead={found && t('settings.join_lead', { by: found.invited_by ?? '—', role: t(`settings.role_${found.role}`), time: dateTime(found.expires_at, { dateStyle: 'medium', timeStyle: 'short' }) })}>
          {invited.error ? (
            <div className="flex flex-col gap-3">
              <Trouble error={invited.error} />
              <p className="text-[13px] text-mute">{t('settings.invitation_gone')}</p>
              <Link href="/" className="text-accent-text underline">{t('common.home')}</Link>
            </div>
          ) : !found || session.isPending ? (
            <Loading label={t('common.loading')} />
          ) : user ? (
            <div className="flex flex-col gap-3">
              <p>{t('settings.join_as', { name: user.name })}</p>
              {error !== null && <Trouble error={error} />}
              <Button look="primary" busy={busy} onClick={() => void accept({})}>
                {t('settings.join', { org: found.org })}
              </Button>
              <Button look="ghost" size="sm" onClick={() => void other()}>
                {t('settings.join_as_other')}
              </Button>
            </div>
          ) : (
            <form onSubmit={join} className="flex flex-col gap-4">
              {found.email && <p className="text-[13px] text-mute">{found.email}</p>}
              <Labelled label={t('settings.your_name')} required>{(ids) => <Input {...ids} name="name" autoComplete="name" autoFocus required maxLength={100} />}</Labelled>
              <Labelled label={t('settings.password_choose')} help={t('settings.password_help')} required>
                {(ids) => <Input {...ids} name="password" type="password" autoComplete="new-password" required minLength={10} />}
              </Labelled>
              {error !== null && <Trouble error={error} />}
              <Button type="submit" look="primary" busy={busy}>
                {t('settings.join', { org: found.org })}
              </Button>
              <Link href={`/login?to=${encodeURIComponent(`/invitations/${token}`)}`} className="text-center text-[13px] text-accent-text hover:underline">
                {t('settings.join_signed_in')}
              </Link>
            </form>
          )}
        </Page>
      </div>
    </main>
  )
}
