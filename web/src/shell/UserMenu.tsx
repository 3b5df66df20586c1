import { useQueryClient } from '@tanstack/react-query'
import { Languages, LogOut, SunMoon, UserRound } from 'lucide-react'
import { useLocation } from 'wouter'
import { signOut, useSession } from '@/api/session'
import { useT } from '@/i18n/t'
import { cx } from '@/ui/cx'
import { Menu, type MenuEntry } from '@/ui/Menu'
import { failed } from '@/ui/toasts'
import { usePreferences, wantedLanguage, type Theme } from './preferences'

const THEMES: Theme[] = ['system', 'light', 'dark']

export function UserMenu({ narrow }: { narrow: boolean }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const { data: session } = useSession()
  const theme = usePreferences((state) => state.theme)
  const name = session?.user?.name ?? '—'
  const leave = async () => {
    try {
      const url = await signOut()
      if (url !== null) {
        window.location.assign(url)
        return
      }
    } catch (error) {
      failed(t('common.sign_out'), error)
      return
    }
    client.clear()
    go('/login')
  }
  const items: MenuEntry[] = [
    {
      label: t('common.theme'),
      icon: <SunMoon size={15} />,
      entries: THEMES.map((one) => ({
        label: t(`common.theme_${one}`),
        checked: theme === one,
        onSelect: () => usePreferences.setState({ theme: one }),
      })),
    },
    {
      label: t('common.language'),
      icon: <Languages size={15} />,
      entries: (['en', 'ja'] as const).map((one) => ({
        label: one === 'en' ? 'English' : '日本語',
        checked: wantedLanguage() === one,
        onSelect: () => usePreferences.setState({ language: one }),
      })),
    },
    'line',
    { label: t('common.sign_out'), icon: <LogOut size={15} />, onSelect: () => void leave() },
  ]
  return (
    <Menu
      align="start"
      items={items}
      trigger={
        <button type="button" aria-label={t('common.account', { name })} className={cx('flex min-w-0 items-center gap-2 rounded-lg p-1.5 text-left hover:bg-sunken', !narrow && 'flex-1')}>
          <span className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-accent-text">
            <UserRound size={14} aria-hidden />
          </span>
          {!narrow && <span className="truncate text-[13px]">{name}</span>}
        </button>
      }
    />
  )
}
