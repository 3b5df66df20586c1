import { Sun } from 'lucide-react'
import type { Nominal } from '@/api/triggers'
import { ago, number, useLanguage, useT } from '@/i18n/t'
import { cx } from '@/ui/cx'

/** `2026-03-29` of `2026-03-29T03:00:00+02:00`: the day as the clock on the wall of the zone has it. */
const dayOf = (time: Nominal): string => time.local.slice(0, 10)
const offsetOf = (local: string): string => /([+-]\d\d:\d\d|Z)$/.exec(local)?.[1] ?? ''

const utc = (day: string): Date => new Date(`${day}T00:00:00Z`)
const iso = (date: Date): string => date.toISOString().slice(0, 10)

/** The weeks, Monday first, that a month of days needs. */
export function weeksOf(month: string): string[][] {
  const first = utc(`${month}-01`)
  const begin = new Date(first)
  begin.setUTCDate(1 - ((first.getUTCDay() + 6) % 7))
  const weeks: string[][] = []
  for (let at = begin; iso(at).slice(0, 7) <= month; ) {
    weeks.push(Array.from({ length: 7 }, (_, index) => iso(new Date(at.getTime() + index * 86_400_000))))
    at = new Date(at.getTime() + 7 * 86_400_000)
  }
  return weeks
}

/** The next times of a schedule: on a calendar, and one by one, with what clock changes do to them. */
export function Calendar({ times, zone }: { times: Nominal[]; zone: string }) {
  const t = useT()
  const language = useLanguage((state) => state.language)
  const locale = language === 'ja' ? 'ja-JP' : 'en-GB'
  const byDay = Map.groupBy(times, dayOf)
  const months = [...new Set([...byDay.keys()].map((day) => day.slice(0, 7)))].slice(0, 6)
  // A clock change between two times: their offsets differ.
  const changes = new Map(times.flatMap((time, index) => (index > 0 && offsetOf(time.local) !== offsetOf(times[index - 1]!.local) ? [[time.at, `${offsetOf(times[index - 1]!.local)} → ${offsetOf(time.local)}`] as const] : [])))
  if (!times.length) return <p className="py-16 text-center text-mute">{t('triggers.no_times')}</p>
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  const wall = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const marked = (day: string) => byDay.get(day)?.some((time) => time.change !== null || changes.has(time.at)) ?? false
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <h3 className="text-[13px] font-semibold">
        {t('triggers.next_n', { n: times.length })} <span className="font-normal text-mute">{zone}</span>
      </h3>
      <div className="grid items-start gap-4 sm:grid-cols-[repeat(auto-fit,minmax(12rem,1fr))]">
        {months.map((month) => (
          <table key={month} className="w-full table-fixed border-collapse text-center text-xs">
            <caption className="pb-1 text-left font-medium">{new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(utc(`${month}-01`))}</caption>
            <thead>
              <tr>
                {weeksOf(month)[0]!.map((day) => (
                  <th key={day} scope="col" className="pb-1 font-normal text-mute">
                    {weekday.format(utc(day))}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {weeksOf(month).map((week) => (
                <tr key={week[0]}>
                  {week.map((day) => {
                    const own = day.startsWith(month)
                    const count = own ? (byDay.get(day)?.length ?? 0) : 0
                    return (
                      <td key={day} className="p-0.5">
                        {own && (
                          <span className={cx('relative flex h-7 items-center justify-center rounded-md', count > 0 ? 'bg-accent font-medium text-on-accent' : 'text-mute', marked(day) && 'ring-2 ring-warn')}>
                            {Number(day.slice(8))}
                            {count > 0 && <span className="sr-only">{t('triggers.times_on_day', { n: count })}</span>}
                            {count > 1 && <span className="absolute -top-1 -right-1 rounded-full border border-line bg-panel px-1 text-[10px] leading-3.5 text-fg" aria-hidden>{number(count)}</span>}
                            {marked(day) && <Sun size={10} className="absolute bottom-0.5" aria-label={t('triggers.clock_change')} />}
                          </span>
                        )}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <ol tabIndex={0} className="max-h-72 divide-y divide-line overflow-y-auto rounded-lg border border-line text-[13px]" aria-label={t('triggers.next_n', { n: times.length })}>
        {times.map((time) => (
          <li key={time.at} className="flex flex-wrap items-center gap-x-3 px-3 py-1.5">
            <time className="tabular-nums">{wall.format(new Date(`${time.local.slice(0, 19)}Z`))}</time>
            <span className="text-xs text-mute">{offsetOf(time.local)}</span>
            <span className="flex-1 text-right text-xs text-mute">{ago(time.at)}</span>
            {(time.note ?? changes.get(time.at)) && (
              <span className="flex w-full items-start gap-1.5 text-xs text-warn">
                <Sun size={13} aria-hidden className="mt-0.5 shrink-0" />
                {time.note ?? t('triggers.offset_changes', { change: changes.get(time.at)! })}
              </span>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
