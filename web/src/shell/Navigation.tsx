import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { useT, type Key } from '@/i18n/t'
import { routes, type Group } from '@/pages/routes'
import { IconButton } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Tip } from '@/ui/Tip'
import { usePreferences } from './preferences'
import { UserMenu } from './UserMenu'

const GROUPS: Group[] = ['build', 'operate', 'resources', 'settings']

export const Mark = () => (
  <svg viewBox="0 0 32 32" className="size-7 shrink-0" aria-hidden>
    <rect width="32" height="32" rx="8" className="fill-accent" />
    <g fill="none" className="stroke-on-accent" strokeWidth="3" strokeLinecap="round">
      <path d="M8 11h6c4 0 4 10 8 10h2" />
      <path d="M8 21h6c4 0 4-10 8-10h2" opacity=".65" />
    </g>
  </svg>
)

/** The pages by group; narrow, it shows icons only. `onGo` is told when a link was followed. */
export function Navigation({ narrow, onGo, foldable = true }: { narrow: boolean; onGo?: () => void; foldable?: boolean }) {
  const t = useT()
  const [location] = useLocation()
  return (
    <nav aria-label={t('common.nav')} className={cx('flex h-full flex-col border-r border-line bg-panel', narrow ? 'w-14' : 'w-56')}>
      <Link href="/" onClick={onGo} className={cx('flex h-13 shrink-0 items-center gap-2.5 font-semibold tracking-tight', narrow ? 'justify-center' : 'px-4')} aria-label="Interlace">
        <Mark />
        {!narrow && <span className="text-[15px]">Interlace</span>}
      </Link>
      <div className="flex-1 overflow-y-auto px-2 py-1">
        {GROUPS.map((group) => {
          const entries = routes.filter((route) => route.nav?.group === group)
          if (!entries.length) return null
          return (
            <div key={group} className="mb-3">
              {narrow ? <hr className="mx-2 my-2" /> : <p className="px-2 pb-1 text-xs font-medium text-mute">{t(`common.group_${group}` as Key)}</p>}
              {entries.map(({ path, nav }) => {
                const Icon = nav!.icon
                const here = location === path || location.startsWith(`${path}/`)
                const link = (
                  <Link
                    key={path}
                    href={path}
                    onClick={onGo}
                    aria-current={here ? 'page' : undefined}
                    aria-label={narrow ? t(nav!.label) : undefined}
                    className={cx('flex h-8.5 items-center gap-2.5 rounded-lg px-2.5', here ? 'bg-accent-soft font-medium text-accent-text' : 'text-fg hover:bg-sunken', narrow && 'justify-center')}
                  >
                    <Icon size={17} aria-hidden className="shrink-0" />
                    {!narrow && <span className="truncate">{t(nav!.label)}</span>}
                  </Link>
                )
                return narrow ? (
                  <Tip key={path} text={t(nav!.label)} side="right">
                    {link}
                  </Tip>
                ) : (
                  link
                )
              })}
            </div>
          )
        })}
      </div>
      <div className={cx('flex shrink-0 items-center gap-1 border-t border-line p-2', narrow && 'flex-col')}>
        <UserMenu narrow={narrow} />
        {foldable && (
          <IconButton
            size="sm"
            side="right"
            label={t(narrow ? 'common.nav_wide' : 'common.nav_narrow')}
            icon={narrow ? <PanelLeftOpen size={16} /> : <PanelLeftClose size={16} />}
            onClick={() => usePreferences.setState({ navigation: narrow ? 'wide' : 'narrow' })}
          />
        )}
      </div>
    </nav>
  )
}
