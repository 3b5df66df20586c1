import { useQuery } from '@tanstack/react-query'
import { BookOpen, Copy, RotateCw, WifiOff } from 'lucide-react'
import { memo, useCallback, useMemo, useState } from 'react'
import type { ChatMessage } from '@/api/chat'
import { text as textOf, useT } from '@/i18n/t'
import { Mark } from '@/shell/Navigation'
import { IconButton } from '@/ui/Button'
import { done } from '@/ui/toasts'
import { Costs } from './Costs'
import { Failure } from './Failure'
import { readTurn, useLive } from './follow'
import { Parts } from './Parts'
import { SourceModal } from './Source'
import { ofMessage, type Citation, type Part, type TurnState } from './turn'
import { Versions } from './Versions'

interface Props {
  message: ChatMessage
  versions: ChatMessage[]
  last: boolean
  name: string
  onAgain: (message: ChatMessage) => void
  onChoose: (message: ChatMessage) => void
}

const spoken = (part: Part): boolean => part.kind !== 'text' || part.text.trim() !== '' || part.reasoning !== ''

/** An answer: how it was made, what it says, what it stands on and what it cost. */
export const Answer = memo(function Answer({ message, versions, last, name, onAgain, onChoose }: Props) {
  const t = useT()
  const running = message.status === 'running'
  const live = useLive((state) => state.turns[message.id])
  const broken = useLive((state) => state.broken[message.id] ?? false)
  const cites = /\[\d{1,3}\]/.test(message.content)
  const made = (message.data.tool_calls?.length ?? 0) > 0 || cites || message.status === 'failed' || message.status === 'cancelled'
  const past = useQuery({
    queryKey: ['turn', message.run_id],
    queryFn: () => readTurn(message.run_id!),
    enabled: !running && !live && made && message.run_id !== null,
    staleTime: Infinity,
    retry: false,
  })
  const state: TurnState = live ?? past.data ?? ofMessage(message)
  const parts = useMemo(() => state.parts.filter(spoken), [state.parts])
  const [source, setSource] = useState<Citation | null>(null)
  const citations = state.citations
  const cite = useCallback((n: number) => setSource(citations.find((one) => one.n === n) ?? null), [citations])
  const cited = citations.filter((one) => message.content.includes(`[${one.n}]`))
  const silent = running && !parts.length
  return (
    <article aria-label={t('chat.answer_of', { name })} aria-busy={running} className="group flex gap-3">
      <div className="mt-0.5 hidden shrink-0 sm:block [&_svg]:size-6">
        <Mark />
      </div>
      <div className="min-w-0 flex-1">
        <p className="mb-1 flex items-center gap-2 text-[13px] font-semibold">
          {name}
          {broken && running && (
            <span className="inline-flex items-center gap-1 font-normal text-warn">
              <WifiOff size={13} aria-hidden /> {t('chat.reconnecting')}
            </span>
          )}
        </p>
        <Parts parts={parts} onCite={cite} />
        {running && !state.waiting && (
          <p className="flex h-6 items-center gap-1" aria-hidden>
            {[0, 150, 300].map((delay) => (
              <span key={delay} className="size-1.5 animate-pulse rounded-full bg-mute" style={{ animationDelay: `${delay}ms` }} />
            ))}
            {silent && <span className="ml-1.5 text-[13px] text-mute">{t('chat.thinking')}</span>}
          </p>
        )}
        {message.status === 'failed' && message.data.error && <Failure error={message.data.error} {...(last ? { again: () => onAgain(message) } : {})} />}
        {message.status === 'cancelled' && <p className="my-1 text-[13px] text-mute">{t('chat.stopped')}</p>}
        {message.data.stop_reason && message.data.stop_reason !== 'answer' && (
          <p className="my-2 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">{textOf(`chat.stop_${message.data.stop_reason}`) ?? t('chat.stop_other', { reason: message.data.stop_reason })}</p>
        )}
        {cited.length > 0 && (
          <ul aria-label={t('chat.sources')} className="mt-2 flex flex-wrap gap-1.5">
            {cited.map((one) => (
              <li key={one.n}>
                <button type="button" onClick={() => setSource(one)} className="flex max-w-72 items-center gap-1.5 rounded-lg border border-line bg-panel px-2.5 py-1 text-[13px] hover:bg-sunken">
                  <BookOpen size={13} aria-hidden className="shrink-0 text-mute" />
                  <span className="font-semibold text-accent-text">{one.n}</span>
                  <span className="truncate">{one.title || one.source}</span>
                  {one.where && <span className="shrink-0 text-mute">{one.where.split(',')[0]}</span>}
                </button>
              </li>
            ))}
          </ul>
        )}
        {!running && (
          <footer className="mt-1 flex min-h-7 flex-wrap items-center gap-x-1 text-xs text-mute">
            <IconButton size="sm" className="-ml-1.5" label={t('common.copy')} icon={<Copy size={14} />} disabled={!message.content} onClick={() => void navigator.clipboard.writeText(message.content).then(() => done(t('common.copied')))} />
            <IconButton size="sm" label={t('chat.again')} icon={<RotateCw size={14} />} onClick={() => onAgain(message)} />
            <Versions message={message} versions={versions} onChoose={onChoose} />
            <Costs message={message} state={state} />
          </footer>
        )}
      </div>
      {source && <SourceModal citation={source} onClose={() => setSource(null)} />}
    </article>
  )
})
