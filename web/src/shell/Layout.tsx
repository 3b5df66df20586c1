import { Menu as MenuIcon, Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useEffect, useState, type ReactNode } from 'react'
import { Link, matchRoute, useLocation, useRouter } from 'wouter'
import { useT } from '@/i18n/t'
import { routes } from '@/pages/routes'
import { Button, IconButton } from '@/ui/Button'
import { useCommands } from './commands'
import { Mark, Navigation } from './Navigation'
import { usePreferences } from './preferences'

/** The frame of every page: navigation at the side, folded into a drawer on small screens. */
export function Layout({ children }: { children: ReactNode }) {
  const t = useT()
  const chosen = usePreferences((state) => state.navigation === 'narrow')
  const { parser } = useRouter()
  const [drawer, setDrawer] = useState(false)
  const [location] = useLocation()
  // Pages that need the room have it: the canvas.
  const wide = routes.some((route) => route.wide && matchRoute(parser, route.path, location)[0])
  const narrow = chosen || wide
  useEffect(() => {
    document.getElementById('content')?.scrollTo(0, 0)
  }, [location])
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-panel focus:px-3 focus:py-2">
        {t('common.skip')}
      </a>
      <div className="hidden md:block">
        <Navigation narrow={narrow} foldable={!wide} />
      </div>
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-panel px-2 md:hidden">
        <Dialog.Root open={drawer} onOpenChange={setDrawer}>
          <Dialog.Trigger asChild>
            <Button look="ghost" aria-label={t('common.menu')} icon={<MenuIcon size={18} />} />
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
            <Dialog.Content aria-describedby={undefined} className="fixed inset-y-0 left-0 z-40">
              <Dialog.Title className="sr-only">{t('common.menu')}</Dialog.Title>
              <Navigation narrow={false} foldable={false} onGo={() => setDrawer(false)} />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
        <Link href="/" className="flex items-center gap-2 font-semibold">
          <Mark /> Interlace
        </Link>
        <span className="flex-1" />
        <IconButton label={t('common.palette')} icon={<Search size={18} />} onClick={() => useCommands.setState({ open: true })} />
      </header>
      <main id="content" tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-y-auto outline-none">
        {children}
      </main>
    </div>
  )
}
