import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { GitCompareArrows, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { pageOfRuns, took, type RunRow } from '@/api/runs'
import { listWorkflows } from '@/api/workflows'
import { ago, dateTime, duration, text, useT } from '@/i18n/t'
import { Badge, Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Filters, useFilters } from './Filters'

export const triggerName = (kind: string): string => text(`runs.trigger_${kind}`) ?? kind

/** All runs, the newest first; the list follows what happens. */
export default function Runs() {
  const t = useT()
  const [, go] = useLocation()
  const { filter, set, active, clear } = useFilters()
  const { time: _, ...wanted } = filter
  const [chosen, setChosen] = useState<string[]>([])
  const workflows = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows })
  const runs = useInfiniteQuery({
    queryKey: ['runs', 'list', filter],
    queryFn: ({ pageParam }) => pageOfRuns(wanted, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 1) > 3 ? false : 4_000),
  })
  const rows = useMemo(() => runs.data?.pages.flatMap((page) => page.items), [runs.data])
  const choose = (id: string) => setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)))
  const columns: Column<RunRow>[] = [
    {
      id: 'choose',
      header: t('runs.compare'),
      className: 'w-8 hidden sm:table-cell',
      cell: (run) => <input type="checkbox" className="size-4 accent-(--accent) align-middle" aria-label={t('runs.choose', { name: run.workflow })} checked={chosen.includes(run.id)} onChange={() => choose(run.id)} />,
    },
    { id: 'status', header: t('runs.status'), className: 'w-32', cell: (run) => <Status status={run.status} /> },
    {
      id: 'workflow',
      header: t('runs.workflow'),
      cell: (run) => (
        <span className="flex min-w-0 flex-wrap items-center gap-x-2">
          <Link href={`/runs/${run.id}`} className="font-medium hover:text-accent-text hover:underline">
            {run.workflow}
          </Link>
          {run.version !== null && <span className="text-xs text-mute">v{run.version}</span>}
          {run.test && <Badge>{t('runs.test')}</Badge>}
          {run.replayed_from && <Badge tone="accent">{t('runs.replay_of_short')}</Badge>}
          <span className="w-full font-mono text-xs text-mute">{run.id.slice(-12)}</span>
        </span>
      ),
    },
    { id: 'trigger', header: t('runs.trigger'), className: 'hidden sm:table-cell', cell: (run) => <span className="whitespace-nowrap">{triggerName(run.trigger.kind)}</span> },
    { id: 'created', header: t('runs.started'), cell: (run) => <time className="whitespace-nowrap text-mute" title={dateTime(run.created_at)}>{ago(run.created_at)}</time> },
    {
      id: 'took',
      header: t('runs.took'),
      className: 'text-right whitespace-nowrap tabular-nums',
      cell: (run) => {
        const time = took(run)
        return time === null ? <span className="text-mute">—</span> : duration(time)
      },
    },
  ]
  return (
    <Page
      title={t('navigation.runs')}
      lead={t('runs.lead')}
      actions={
        <Button icon={<GitCompareArrows size={16} />} disabled={chosen.length !== 2} title={t('runs.compare_help')} onClick={() => go(`/compare/${chosen[1]}/${chosen[0]}`)}>
          {t('runs.compare_two', { n: chosen.length })}
        </Button>
      }
    >
      <Filters filter={filter} set={set} workflows={workflows.data ?? []} active={active} clear={clear} />
      <ResourceTable
        label={t('navigation.runs')}
        rows={rows}
        columns={columns}
        rowKey={(run) => run.id}
        error={runs.error}
        retry={() => void runs.refetch()}
        more={runs.hasNextPage ? { busy: runs.isFetchingNextPage, load: () => void runs.fetchNextPage() } : undefined}
        empty={
          <Empty icon={<Play size={24} aria-hidden />} title={t(active ? 'runs.none_match' : 'runs.none')} actions={active ? <Button onClick={clear}>{t('runs.clear_filters')}</Button> : undefined}>
            {t(active ? 'runs.none_match_lead' : 'runs.none_lead')}
          </Empty>
        }
      />
    </Page>
  )
}
