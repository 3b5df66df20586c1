import { ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { RunEvent } from '@/api/runs'
import { dateTime, number, useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Json } from '@/ui/Json'

const STEP = 200

/** The journal as it stands, one line an event. */
export function Events({ events, choose }: { events: RunEvent[]; choose: (path: string) => void }) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [most, setMost] = useState(STEP)
  const found = useMemo(() => {
    const wanted = query.trim().toLowerCase()
    return events.filter((event) => event.type !== 'node.delta' && (!wanted || `${event.type} ${event.path}`.toLowerCase().includes(wanted)))
  }, [events, query])
  return (
    <div className="flex flex-col gap-3 p-4">
      <Input type="search" className="max-w-72!" aria-label={t('runs.search_events')} placeholder={t('runs.search_events')} value={query} onChange={(event) => setQuery(event.target.value)} />
      <ol className="divide-y divide-line rounded-lg border border-line text-[13px]">
        {found.slice(0, most).map((event) => (
          <li key={event.seq}>
            <details className="group">
              <summary className="flex cursor-pointer list-none flex-wrap items-center gap-x-3 px-3 py-1.5 hover:bg-sunken focus-visible:-outline-offset-2">
                <ChevronRight size={13} aria-hidden className="text-mute group-open:rotate-90" />
                <span className="w-10 text-right text-mute tabular-nums">{event.seq}</span>
                <time className="text-mute tabular-nums">{dateTime(event.at, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })}</time>
                <span className="min-w-36 font-medium">{event.type}</span>
                <code className="min-w-0 flex-1 truncate text-mute">{event.path}</code>
              </summary>
              <div className="px-3 pb-3">
                {event.path && (
                  <Button size="sm" look="ghost" className="mb-2" onClick={() => choose(event.path)}>
                    {t('runs.show_node')}
                  </Button>
                )}
                <Json value={event.data} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      {!found.length && <p className="py-8 text-center text-mute">{t('runs.no_events')}</p>}
      {found.length > most && (
        <Button className="self-center" onClick={() => setMost(most + 1_000)}>
          {t('common.more_entries', { n: number(found.length - most) })}
        </Button>
      )}
    </div>
  )
}
