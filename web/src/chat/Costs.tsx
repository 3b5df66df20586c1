import { Link } from 'wouter'
import type { ChatMessage } from '@/api/chat'
import { duration, number, useT } from '@/i18n/t'
import type { TurnState } from './turn'

export const money = (cost: number, currency: string | null | undefined): string =>
  number(cost, { style: 'currency', currency: currency || 'USD', minimumFractionDigits: 2, maximumFractionDigits: cost < 0.1 ? 4 : 2 })

/** Tokens, money, time and model of an answer in a line, with the way to its run. */
export function Costs({ message, state }: { message: ChatMessage; state: TurnState }) {
  const t = useT()
  const { usage } = message.data
  const time = message.finished_at === null ? null : (message.finished_at - message.created_at) * 1000
  const parts = [
    usage?.input_tokens === undefined ? null : t('chat.tokens', { input: number(usage.input_tokens), output: number(usage.output_tokens ?? 0) }),
    usage?.cost == null ? null : money(usage.cost, usage.currency),
    time === null ? null : duration(Math.round(time / 10) * 10),
    state.model,
  ].filter(Boolean)
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 pl-1 tabular-nums">
      {parts.join(' · ')}
      {message.run_id && (
        <Link href={`/runs/${message.run_id}`} className="rounded hover:text-fg hover:underline">
          {t('chat.how_made')}
        </Link>
      )}
    </span>
  )
}
