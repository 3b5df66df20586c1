import { X } from 'lucide-react'
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import type { RunFilter } from '@/api/runs'
import type { WorkflowRow } from '@/api/workflows'
import { text, useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { nowSeconds } from '@/ui/clock'

const STATUSES = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'cancelled']
const TRIGGERS = ['manual', 'api', 'cron', 'webhook', 'event', 'sub_workflow', 'chat', 'test']
const TIMES: Record<string, number> = { hour: 3_600, day: 86_400, week: 604_800, month: 2_592_000 }
const NAMES = ['status', 'workflow', 'trigger', 'time'] as const
type Name = (typeof NAMES)[number]

/** The filters stand in the address, so that a list can be sent to somebody. */
export function useFilters() {
  const [search, setSearch] = useSearchParams()
  const given = (name: Name) => search.get(name) ?? ''
  const key = NAMES.map(given).join('\0')
  const filter = useMemo<RunFilter & { time: string }>(() => {
    const [status, workflow, trigger, time] = key.split('\0') as [string, string, string, string]
    const length = TIMES[time]
    return {
      time,
      ...(status ? { status: [status] } : {}),
      ...(workflow ? { workflow_id: workflow } : {}),
      ...(trigger ? { trigger } : {}),
      ...(length ? { since: Math.floor(nowSeconds()) - length } : {}),
    }
  }, [key])
  const set = (name: Name, value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        if (value) next.set(name, value)
        else next.delete(name)
        return next
      },
      { replace: true },
    )
  const clear = () => setSearch(new URLSearchParams(), { replace: true })
  return { filter, set, clear, active: NAMES.some((name) => search.has(name)) }
}

interface Props {
  filter: RunFilter & { time: string }
  set: (name: Name, value: string) => void
  clear: () => void
  active: boolean
  workflows: WorkflowRow[]
}

export function Filters({ filter, set, clear, active, workflows }: Props) {
  const t = useT()
  const one = (name: Name, label: string, value: string, options: { value: string; label: string }[]) => (
    <Choice aria-label={label} className="w-full! sm:w-44!" value={value} options={[{ value: '', label }, ...options]} onChange={(next) => set(name, next)} />
  )
  return (
    <div role="group" aria-label={t('runs.filters')} className="mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      {one('status', t('runs.any_status'), filter.status?.[0] ?? '', STATUSES.map((value) => ({ value, label: text(`common.status_${value}`) ?? value })))}
      {one('workflow', t('runs.any_workflow'), filter.workflow_id ?? '', workflows.map((row) => ({ value: row.id, label: row.name })))}
      {one('trigger', t('runs.any_trigger'), filter.trigger ?? '', TRIGGERS.map((value) => ({ value, label: text(`runs.trigger_${value}`) ?? value })))}
      {one('time', t('runs.any_time'), filter.time, Object.keys(TIMES).map((value) => ({ value, label: text(`runs.time_${value}`) ?? value })))}
      {active && (
        <Button look="ghost" icon={<X size={15} />} onClick={clear}>
          {t('runs.clear_filters')}
        </Button>
      )}
    </div>
  )
}
