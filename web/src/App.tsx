import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { unauthorized } from './api/client'
import { useSession } from './api/session'
import { useT } from './i18n/t'
import { routes } from './pages/routes'
import { useCommands, usePaletteKey } from './shell/commands'
import { Failsafe } from './shell/Failsafe'
import { Layout } from './shell/Layout'
import { Confirm } from './ui/Confirm'
import { Empty, Page } from './ui/Page'
import { Loading } from './ui/Spinner'
import { Toasts } from './ui/Toasts'
import { Trouble } from './ui/Trouble'

const CommandPalette = lazy(() => import('./shell/CommandPalette').then(({ CommandPalette }) => ({ default: CommandPalette })))

function Missing() {
  const t = useT()
  const [location] = useLocation()
  return (
    <Page title={t('common.not_found')}>
      <Empty title={t('common.not_found_lead', { path: location })} />
    </Page>
  )
}

function Pages() {
  const t = useT()
  const [location] = useLocation()
  const session = useSession()
  const palette = useCommands((state) => state.open)
  usePaletteKey()
  const shown = (
    <Failsafe key={location}>
      <Suspense fallback={<Loading label={t('common.loading')} />}>
        <Switch>
          {routes.map(({ path, page: Page }) => (
            <Route key={path} path={path}>
              {(params) => <Page params={params as Record<string, string | undefined>} />}
            </Route>
          ))}
          <Route component={Missing} />
        </Switch>
      </Suspense>
    </Failsafe>
  )
  if (location === '/login' || location.startsWith('/invitations/')) return shown
  if (session.isPending) return <Loading label={t('common.loading')} />
  if (session.error && session.error.status !== 401) {
    return (
      <main className="mx-auto max-w-xl p-8">
        <Trouble error={session.error} retry={() => void session.refetch()} />
      </main>
    )
  }
  if (!session.data?.authenticated) return <Redirect to={`/login?to=${encodeURIComponent(location + window.location.search)}`} replace />
  return (
    <>
      <Layout>{shown}</Layout>
      <Suspense>{palette && <CommandPalette />}</Suspense>
    </>
  )
}

export function App() {
  const client = useQueryClient()
  useEffect(() => {
    const onUnauthorized = () => void client.invalidateQueries({ queryKey: ['session'] })
    unauthorized.addEventListener('unauthorized', onUnauthorized)
    return () => unauthorized.removeEventListener('unauthorized', onUnauthorized)
  }, [client])
  return (
    <>
      <Pages />
      <Toasts />
      <Confirm />
    </>
  )
}
