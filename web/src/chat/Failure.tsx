import { CircleAlert, KeyRound, RotateCw } from 'lucide-react'
import { useLocation } from 'wouter'
import type { Failed } from '@/api/chat'
import { useT, type Key } from '@/i18n/t'
import { Button } from '@/ui/Button'

const MODELS = new Set(['no_model', 'http_401', 'http_403', 'http_404', 'resource_not_found', 'ambiguous_model', 'missing_credentials', 'budget', 'budget_exceeded'])

function advice(type: string): Key {
  if (type === 'no_model') return 'chat.help_no_model'
  if (type === 'http_401' || type === 'http_403') return 'chat.help_key'
  if (type === 'http_404' || type === 'resource_not_found' || type === 'ambiguous_model') return 'chat.help_model'
  if (type === 'rate_limit' || type === 'http_429' || type === 'overloaded' || type.startsWith('http_5')) return 'chat.help_busy'
  if (type === 'timeout' || type === 'connection') return 'chat.help_connection'
  if (type.startsWith('budget')) return 'chat.help_budget'
  if (type.startsWith('context')) return 'chat.help_context'
  return 'chat.help_other'
}

/** Why there is no answer, and what to do. */
export function Failure({ error, again }: { error: Failed; again?: () => void }) {
  const t = useT()
  const [, go] = useLocation()
  return (
    <div role="alert" className="my-2 rounded-xl border border-danger/40 bg-danger-soft p-4">
      <div className="flex items-start gap-2.5">
        <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-danger" />
        <div className="min-w-0">
          <p className="font-medium">{t(advice(error.type))}</p>
          <p className="mt-0.5 text-[13px] break-words text-mute">{error.message}</p>
        </div>
      </div>
      <div className="mt-3 flex flex-wrap gap-2 pl-7">
        {MODELS.has(error.type) && (
          <Button size="sm" look="primary" icon={<KeyRound size={14} />} onClick={() => go('/models')}>
            {t('chat.open_models')}
          </Button>
        )}
        {again && (
          <Button size="sm" icon={<RotateCw size={14} />} onClick={again}>
            {t('common.try_again')}
          </Button>
        )}
      </div>
    </div>
  )
}
