import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { Redirect, useLocation, useSearchParams } from 'wouter'
import { signIn, useSession } from '@/api/session'
import { text, useT } from '@/i18n/t'
import { Mark } from '@/shell/Navigation'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Page } from '@/ui/Page'

/** Only a path of this server is gone to after signing in. */
const target = (wanted: string | null): string => (wanted?.startsWith('/') && !wanted.startsWith('//') && !wanted.includes('\\') ? wanted : '/')

/** Longer places are refused by the sign-in through a provider. */
const LONGEST_NEXT = 500

/** The forms are pages of the server, not of this application. */
const isForm = (path: string): boolean => path.startsWith('/forms/')

/** Goes on to where somebody was going. */
function Onward({ to }: { to: string }) {
  useEffect(() => {
    if (isForm(to)) window.location.replace(to)
  }, [to])
  return isForm(to) ? null : <Redirect to={to} replace />
}

export default function Login() {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [search] = useSearchParams()
  const session = useSession()
  const ways = session.data?.ways
  const [wanted, setBy] = useState<'password' | 'key' | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState(text(`common.sign_in_error_${search.get('error')}`) ?? '')
  const to = target(search.get('to'))
  const by = wanted ?? (ways && !ways.password ? 'key' : 'password')

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = (name: string) => String(form.get(name) ?? '').trim()
    setBusy(true)
    try {
      await signIn(by === 'key' ? { key: given('key') } : { email: given('email'), password: String(form.get('password')) })
      await client.invalidateQueries({ queryKey: ['session'] })
      if (!isForm(to)) go(to, { replace: true })
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem))
    } finally {
      setBusy(false)
    }
  }

  if (session.data?.authenticated) return <Onward to={to} />
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-2xl border border-line bg-panel p-2 shadow-card">
        <Page title={t('common.sign_in')} lead={t(session.data?.first_start ? 'common.first_start_lead' : 'common.sign_in_lead')} actions={<Mark />}>
          <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4" noValidate>
            {by === 'password' ? (
              <>
                <Labelled label={t('common.sign_in_email')}>{(ids) => <Input {...ids} name="email" autoComplete="username" autoFocus required />}</Labelled>
                <Labelled label={t('common.sign_in_password')}>
                  {(ids) => <Input {...ids} name="password" type="password" autoComplete="current-password" required />}
                </Labelled>
              </>
            ) : (
              <Labelled label={t('common.sign_in_key')} help={t('common.sign_in_key_help')}>
                {(ids) => <Input {...ids} name="key" type="password" autoComplete="off" autoFocus required />}
              </Labelled>
            )}
            {error && (
              <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-[13px] text-danger">
                {error}
              </p>
            )}
            <Button type="submit" look="primary" busy={busy}>
              {t('common.sign_in')}
            </Button>
            <Button look="ghost" size="sm" onClick={() => setBy(by === 'key' ? 'password' : 'key')}>
              {t(by === 'key' ? 'common.sign_in_with_password' : 'common.sign_in_with_key')}
            </Button>
            {ways?.oidc.map((provider) => (
              <a key={provider.name} href={to === '/' || to.length > LONGEST_NEXT ? provider.url : `${provider.url}?next=${encodeURIComponent(to)}`} className="rounded-lg border border-line px-3 py-2 text-center font-medium hover:bg-sunken">
                {provider.title}
              </a>
            ))}
          </form>
        </Page>
      </div>
    </main>
  )
}
