import { KeyRound } from 'lucide-react'
import { useLocation } from 'wouter'
import { useRoles } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Help } from '@/ui/Help'

/** Whether a model answers, as far as is known. */
export function useModelMissing(): string | null {
  const roles = useRoles()
  return roles.data?.find((one) => one.role === 'general')?.error?.message ?? null
}

/** What is missing before anything can be answered, and how it is set. */
export function NoModel() {
  const t = useT()
  const [, go] = useLocation()
  const missing = useModelMissing()
  if (missing === null) return null
  return (
    <section aria-labelledby="no-model" className="w-full rounded-xl border border-warn/50 bg-warn-soft p-4 text-left">
      <h2 id="no-model" className="flex items-center gap-2 font-semibold">
        <KeyRound size={17} aria-hidden className="text-warn" /> {t('chat.no_model')}
      </h2>
      <p className="mt-1 text-[13px]">{t('chat.no_model_how')}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="mt-2 overflow-x-auto rounded-lg border border-line bg-panel p-2.5 font-mono text-xs">{'OPENAI_API_KEY=sk-… interlace serve'}</pre>
      <p className="mt-2 text-xs text-mute">
        <Help of={missing} />
      </p>
      <Button look="primary" className="mt-3" onClick={() => go('/models?new')}>
        {t('chat.set_up_model')}
      </Button>
    </section>
  )
}
