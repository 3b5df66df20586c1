import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { listFirings, previewCron, readSchedule, type Firing } from '@/api/triggers'
import { ago, dateTime, duration, t as translate, text, useT, type Key } from '@/i18n/t'
import { Badge, type Tone } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Facts } from '@/ui/Facts'
import { Json } from '@/ui/Json'
import { Card, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import { Calendar } from './Calendar'
import { ScheduleDialog } from './ScheduleDialog'
import { useScheduleActions } from './Schedules'
import { useWorkflowNames } from './useWorkflowNames'

const TONES: Record<Firing['status'], Tone> = { started: 'ok', queued: 'info', skipped: 'mute', missed: 'warn', refused: 'danger', failed: 'danger' }

/** One schedule: its next times, and what was decided about those before. */
export default function SchedulePage({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const id = params.schedule!
  const names = useWorkflowNames()
  const { pause, run, remove } = useScheduleActions()
  const [editing, setEditing] = useState(false)
  const schedule = useQuery({ queryKey: ['schedules', id], queryFn: () => readSchedule(id), refetchInterval: 15_000, retry: false })
  const found = schedule.data
  const times = useQuery({ queryKey: ['preview', found?.cron, found?.timezone], enabled: found !== undefined, queryFn: () => previewCron(found!.cron, found!.timezone) })
  const firings = useInfiniteQuery({
    queryKey: ['schedules', id, 'firings'],
    queryFn: ({ pageParam }) => listFirings(id, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: 10_000,
  })
  if (schedule.error) return <Page title={t('triggers.schedule')}><Trouble error={schedule.error} /></Page>
  if (!found) return <Loading label={t('common.loading')} />
  const own = found.source === 'own'
  return (
    <Page
      title={found.name}
      lead={<Link href={`/workflows/${found.workflow_id}`} className="text-accent-text hover:underline">{names.name(found.workflow_id)}</Link>}
      actions={
        <>
          <Button icon={found.paused ? <Play size={15} /> : <Pause size={15} />} onClick={() => void pause(found)}>
            {t(found.paused ? 'triggers.resume' : 'triggers.pause')}
          </Button>
          {own && (
            <>
              <Button icon={<Pencil size={15} />} onClick={() => setEditing(true)}>
                {t('common.edit')}
              </Button>
              <Button look="danger" icon={<Trash2 size={15} />} onClick={() => void remove(found)}>
                {t('common.delete')}
              </Button>
            </>
          )}
          <Button look="primary" icon={<Zap size={15} />} onClick={() => void run(found)}>
            {t('triggers.run_now')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {found.paused && <p className="rounded-lg bg-warn-soft px-4 py-2.5 text-warn">{t('triggers.paused_lead')}</p>}
        {found.error && (
          <p role="alert" className="rounded-lg bg-danger-soft px-4 py-2.5">
            <span className="font-medium text-danger">{t('triggers.failed_last')}</span> {found.error} {found.error_at !== null && <span className="text-mute">{ago(found.error_at)}</span>}
          </p>
        )}
        {!own && <p className="rounded-lg bg-info-soft px-4 py-2.5 text-[13px]">{t('triggers.document_lead')}</p>}
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <Card className="p-4">
            <Facts
              facts={[
                [t('triggers.cron'), <code key="cron">{found.cron}</code>],
                [t('triggers.timezone'), found.timezone],
                [t('triggers.next'), found.next_at === null ? '—' : `${dateTime(found.next_at, { dateStyle: 'medium', timeStyle: 'short', timeZone: found.timezone })} (${ago(found.next_at)})`],
                [t('triggers.overlap'), t(`triggers.overlap_${found.overlap}` as Key)],
                [t('triggers.missed'), t(`triggers.missed_${found.missed}` as Key)],
                [t('triggers.grace'), duration(found.grace * 1000)],
                [t('triggers.jitter'), found.jitter ? duration(found.jitter * 1000) : null],
              ]}
            />
            {Object.keys(found.inputs).length > 0 && (
              <div className="mt-4">
                <h2 className="mb-1.5 text-[13px] font-semibold">{t('triggers.inputs')}</h2>
                <Json value={found.inputs} />
              </div>
            )}
          </Card>
          <Card className="p-4">
            <Calendar times={times.data ?? []} zone={found.timezone} />
          </Card>
        </div>
        <section>
          <h2 className="mb-2 font-semibold">{t('triggers.firings')}</h2>
          <ResourceTable
            label={t('triggers.firings')}
            rows={firings.data?.pages.flatMap((page) => page.items)}
            columns={columns()}
            rowKey={(row) => String(row.nominal)}
            error={firings.error}
            more={firings.hasNextPage ? { busy: firings.isFetchingNextPage, load: () => void firings.fetchNextPage() } : undefined}
            empty={<p className="rounded-xl border border-dashed border-line-strong/50 py-8 text-center text-mute">{t('triggers.no_firings')}</p>}
          />
        </section>
      </div>
      {editing && <ScheduleDialog schedule={found} onClose={() => setEditing(false)} />}
    </Page>
  )
}

const columns = (): Column<Firing>[] => [
  { id: 'time', header: translate('triggers.nominal'), cell: (row) => <time className="tabular-nums">{row.local.replace('T', ' ')}</time> },
  { id: 'status', header: translate('triggers.state'), cell: (row) => <Badge tone={TONES[row.status]}>{text(`triggers.firing_${row.status}`) ?? row.status}</Badge> },
  { id: 'run', header: translate('triggers.run'), cell: (row) => (row.run_id ? <Link href={`/runs/${row.run_id}`} className="font-mono text-xs text-accent-text hover:underline">{row.run_id.slice(-12)}</Link> : <span className="text-mute">—</span>) },
  { id: 'note', header: translate('triggers.note'), cell: (row) => <span className="text-[13px] text-mute">{row.note}</span> },
]
