import { create } from 'zustand'
import { persist } from 'zustand/middleware'
import { setLanguage, type Language } from '@/i18n/t'

export type Theme = 'system' | 'light' | 'dark'

interface Preferences {
  theme: Theme
  language: Language | null
  navigation: 'wide' | 'narrow'
}

/** What somebody chose for this browser; `public/theme.js` reads the theme of it before the first paint. */
export const usePreferences = create<Preferences>()(
  persist((): Preferences => ({ theme: 'system', language: null, navigation: 'wide' }), { name: 'interlace.preferences' }),
)

const dark = matchMedia('(prefers-color-scheme: dark)')

function paint(): void {
  const { theme } = usePreferences.getState()
  document.documentElement.classList.toggle('dark', theme === 'dark' || (theme === 'system' && dark.matches))
}

export const wantedLanguage = (): Language =>
  usePreferences.getState().language ?? (navigator.language.startsWith('ja') ? 'ja' : 'en')

/** Makes the page follow the preferences and the system. */
export function followPreferences(): void {
  paint()
  dark.addEventListener('change', paint)
  usePreferences.subscribe((now, before) => {
    if (now.theme !== before.theme) paint()
    if (now.language !== before.language) void setLanguage(wantedLanguage())
  })
}

export function useDark(): boolean {
  const theme = usePreferences((state) => state.theme)
  return theme === 'dark' || (theme === 'system' && dark.matches)
}
