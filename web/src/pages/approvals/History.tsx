import { BellRing, CircleAlert, CircleCheck, CircleDot, UserRoundPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Approval, HistoryEntry } from '@/api/approvals'
import { dateTime, t as translate, useT } from '@/i18n/t'
import { actionName } from './Request'

interface Line {
  at: number
  icon: ReactNode
  text: string
  note?: string | null
}

/** Whom a hand-over brought in. */
function added(entry: HistoryEntry): string[] {
  const found = (entry.to ?? []).filter((name) => !entry.from?.includes(name))
  return found.length ? found : (entry.to ?? [])
}

/** What happened with a request so far, oldest first. */
export function History({ request }: { request: Approval }) {
  const t = useT()
  const lines: Line[] = [
    { at: request.created_at, icon: <CircleDot size={15} aria-hidden />, text: t('approvals.history_asked') },
    ...request.history.map((entry): Line =>
      entry.event === 'assigned'
        ? { at: entry.at, icon: <UserRoundPlus size={15} aria-hidden />, text: translate('approvals.history_assigned', { from: entry.by ?? '', to: added(entry).join(', ') }), note: entry.comment ?? null }
        : entry.error
          ? { at: entry.at, icon: <CircleAlert size={15} className="text-danger" aria-hidden />, text: translate('approvals.history_not_announced', { channel: entry.channel ?? '' }), note: entry.error }
          : { at: entry.at, icon: <BellRing size={15} aria-hidden />, text: translate(entry.reminder ? 'approvals.history_reminded' : 'approvals.history_announced', { channel: entry.channel ?? '' }) },
    ),
    ...request.answers.map((answer): Line => ({ at: Number(answer.at ?? request.created_at), icon: <CircleCheck size={15} className="text-ok" aria-hidden />, text: translate('approvals.history_answer', { by: String(answer.by ?? answer.name ?? ''), action: actionName(String(answer.action ?? '')) }), note: answer.comment ?? null })),
    ...(request.answered_at !== null && !request.answers.some((answer) => answer.at === request.answered_at)
      ? [{ at: request.answered_at, icon: <CircleCheck size={15} className="text-ok" aria-hidden />, text: t('approvals.history_answer', { by: request.answered_by ?? '', action: actionName(request.action ?? '') }), note: request.comment }]
      : []),
  ].toSorted((a, b) => a.at - b.at)
  return (
    <section className="border-t border-line pt-4">
      <h3 className="mb-2 text-[13px] font-semibold">{t('approvals.history')}</h3>
      <ol className="flex flex-col gap-2">
        {lines.map((line) => (
          <li key={`${line.at}-${line.text}`} className="flex gap-2.5 text-[13px]">
            <span className="mt-0.5 text-mute">{line.icon}</span>
            <span className="min-w-0 flex-1">
              {line.text}
              {line.note && <span className="block break-words text-mute">{line.note}</span>}
            </span>
            <time className="shrink-0 text-mute">{dateTime(line.at, { dateStyle: 'medium', timeStyle: 'short' })}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}
