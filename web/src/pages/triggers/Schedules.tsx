import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CalendarClock, CalendarDays, Ellipsis, Pause, Pencil, Play, Plus, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { listSchedules, pauseSchedule, removeSchedule, runSchedule, type Schedule } from '@/api/triggers'
import { ago, dateTime, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Menu } from '@/ui/Menu'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { done } from '@/ui/toasts'
import { attempt } from '@/ui/attempt'
import { ScheduleDialog } from './ScheduleDialog'
import { useWorkflowNames } from './useWorkflowNames'

/** What is done with a schedule from a list or its page. */
export function useScheduleActions() {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const fresh = () => client.invalidateQueries({ queryKey: ['schedules'] })
  return {
    pause: (row: Schedule) =>
      attempt(t(row.paused ? 'triggers.resume' : 'triggers.pause'), async () => {
        await pauseSchedule(row.id, !row.paused)
        await fresh()
      }),
    run: (row: Schedule) =>
      attempt(t('triggers.run_now'), async () => {
        const { run_id } = await runSchedule(row.id)
        await fresh()
        done(t('triggers.run_started'), { label: t('common.open'), run: () => go(`/runs/${run_id}`) })
      }),
    remove: (row: Schedule) =>
      attempt(t('common.delete'), async () => {
        if (!(await confirm({ title: t('triggers.delete_schedule', { name: row.name }), text: t('triggers.delete_text'), action: t('common.delete'), danger: true }))) return
        await removeSchedule(row.id)
        go('/schedules')
        await fresh()
      }),
  }
}

/** Workflows that the clock starts. */
export default function Schedules() {
  const t = useT()
  const [, go] = useLocation()
  const [editing, setEditing] = useState<Schedule | 'new' | null>(null)
  const names = useWorkflowNames()
  const { pause, run, remove } = useScheduleActions()
  const schedules = useQuery({ queryKey: ['schedules'], queryFn: () => listSchedules(), refetchInterval: 15_000 })
  const columns: Column<Schedule>[] = [
    {
      id: 'name',
      header: t('common.name'),
      sort: (row) => row.name,
      cell: (row) => (
        <span className="flex flex-col">
          <Link href={`/schedules/${row.id}`} className="font-medium hover:text-accent-text hover:underline">
            {row.name}
          </Link>
          <span className="text-xs text-mute">{names.name(row.workflow_id)}</span>
        </span>
      ),
    },
    {
      id: 'cron',
      header: t('triggers.when'),
      cell: (row) => (
        <span className="flex flex-col">
          <code className="text-[13px]">{row.cron}</code>
          <span className="text-xs text-mute">{row.timezone}</span>
        </span>
      ),
    },
    {
      id: 'next',
      header: t('triggers.next'),
      sort: (row) => row.next_at ?? Infinity,
      cell: (row) =>
        row.paused ? (
          <Badge tone="warn">{t('triggers.paused')}</Badge>
        ) : row.next_at === null ? (
          <span className="text-mute">—</span>
        ) : (
          <span className="flex flex-col">
            <time>{dateTime(row.next_at, { dateStyle: 'medium', timeStyle: 'short', timeZone: row.timezone })}</time>
            <span className="text-xs text-mute">{ago(row.next_at)}</span>
          </span>
        ),
    },
    { id: 'state', header: t('triggers.state'), cell: (row) => (row.error ? <Badge tone="danger">{t('triggers.failed_last')}</Badge> : row.source === 'document' ? <Badge tone="accent">{t('triggers.of_document')}</Badge> : <Badge>{t('triggers.own')}</Badge>) },
    {
      id: 'actions',
      header: '',
      className: 'w-10 text-right',
      cell: (row) => (
        <Menu
          trigger={<IconButton size="sm" label={t('triggers.actions_of', { name: row.name })} icon={<Ellipsis size={16} />} />}
          items={[
            { label: t('triggers.run_now'), icon: <Zap size={14} />, onSelect: () => void run(row) },
            { label: t(row.paused ? 'triggers.resume' : 'triggers.pause'), icon: row.paused ? <Play size={14} /> : <Pause size={14} />, onSelect: () => void pause(row) },
            { label: t('common.edit'), icon: <Pencil size={14} />, disabled: row.source === 'document', onSelect: () => setEditing(row) },
            'line',
            { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, disabled: row.source === 'document', onSelect: () => void remove(row) },
          ]}
        />
      ),
    },
  ]
  const create = (
    <Button look="primary" icon={<Plus size={16} />} disabled={names.known && !names.published.length} onClick={() => setEditing('new')}>
      {t('triggers.new_schedule')}
    </Button>
  )
  return (
    <Page title={t('navigation.schedules')} lead={t('triggers.schedules_lead')} actions={create}>
      <ResourceTable
        label={t('navigation.schedules')}
        rows={schedules.data?.items}
        columns={columns}
        rowKey={(row) => row.id}
        search={(row) => `${row.name} ${names.name(row.workflow_id)} ${row.cron}`}
        error={schedules.error}
        retry={() => void schedules.refetch()}
        empty={
          <Empty icon={<CalendarClock size={24} aria-hidden />} title={t('triggers.no_schedules')} actions={names.published.length ? create : <Button icon={<CalendarDays size={16} />} onClick={() => go('/workflows')}>{t('triggers.to_workflows')}</Button>}>
            {t(names.published.length ? 'triggers.no_schedules_lead' : 'triggers.nothing_published')}
          </Empty>
        }
      />
      {editing && <ScheduleDialog schedule={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </Page>
  )
}
