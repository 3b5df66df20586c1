import { Link } from 'wouter'
import { took, type RunRow } from '@/api/runs'
import { ago, duration, useT } from '@/i18n/t'
import { Status } from '@/ui/Badge'

/** A few runs that belong to something else. */
export function RunsTable({ runs, empty, compareWith }: { runs: (RunRow & { parent_path?: string | null })[]; empty: string; compareWith?: string }) {
  const t = useT()
  if (!runs.length) return <p className="text-[13px] text-mute">{empty}</p>
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {runs.map((run) => {
        const time = took(run)
        return (
          <li key={run.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <Status status={run.status} />
            <Link href={`/runs/${run.id}`} className="min-w-0 flex-1 truncate font-medium hover:text-accent-text hover:underline">
              {run.workflow} <span className="font-mono text-xs font-normal text-mute">{run.id.slice(-8)}</span>
            </Link>
            {run.parent_path && <code className="text-xs text-mute">{run.parent_path}</code>}
            <span className="text-[13px] text-mute">{ago(run.created_at)}</span>
            <span className="w-20 text-right text-[13px] tabular-nums">{time === null ? '—' : duration(time)}</span>
            {compareWith && (
              <Link href={`/compare/${compareWith}/${run.id}`} className="text-[13px] text-accent-text hover:underline">
                {t('runs.compare')}
              </Link>
            )}
          </li>
        )
      })}
    </ul>
  )
}
