import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { addSchedule, changeSchedule, previewCron, type Schedule } from '@/api/triggers'
import { api } from '@/api/client'
import type { WorkflowDocument } from '@/editor/document'
import { useT, type Key } from '@/i18n/t'
import type { JsonSchema } from '@/schema/schema'
import { SchemaForm } from '@/schema/SchemaForm'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Combobox } from '@/ui/Combobox'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { ownTimeZone } from '@/ui/clock'
import { Calendar } from './Calendar'
import { useWorkflowNames } from './useWorkflowNames'

const EXAMPLES = ['*/15 * * * *', '0 * * * *', '0 9 * * MON-FRI', '0 0 * * *', '0 8 1 * *', '@weekly']
const OVERLAPS: Schedule['overlap'][] = ['allow', 'skip', 'queue', 'cancel_previous']
const MISSED: Schedule['missed'][] = ['latest', 'all', 'skip']

const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** Makes or changes a schedule; its next times are shown while it is written. */
export function ScheduleDialog({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const names = useWorkflowNames()
  const [workflow, setWorkflow] = useState(schedule?.workflow_id ?? '')
  const [name, setName] = useState('')
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * MON-FRI')
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownTimeZone())
  const [overlap, setOverlap] = useState<Schedule['overlap']>(schedule?.overlap ?? 'allow')
  const [missed, setMissed] = useState<Schedule['missed']>(schedule?.missed ?? 'latest')
  const [inputs, setInputs] = useState<Record<string, unknown>>(schedule?.inputs ?? {})
  const [jitter, setJitter] = useState(schedule?.jitter ? String(schedule.jitter) : '')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [asked, zone] = [useDeferredValue(cron.trim()), useDeferredValue(timezone.trim())]
  const preview = useQuery({ queryKey: ['preview', asked, zone], queryFn: () => previewCron(asked, zone || 'UTC'), enabled: asked !== '', retry: false, placeholderData: (before) => before })
  const document = useQuery({
    queryKey: ['workflows', workflow, 'published'],
    enabled: workflow !== '',
    retry: false,
    queryFn: () => api<'get', '/api/v1/workflows/{workflow}', { document: WorkflowDocument }>('get', '/api/v1/workflows/{workflow}', { path: { workflow }, query: { version: 'published' } as never }),
  })
  const schema = document.data?.document.inputs as JsonSchema | undefined
  const save = async () => {
    setBusy(true)
    setError(null)
    const fields = { cron: asked, timezone: zone || 'UTC', overlap, missed, inputs, ...(jitter.trim() ? { jitter: jitter.trim() } : {}) }
    try {
      if (schedule) await changeSchedule(schedule.id, fields)
      else await addSchedule({ workflow, ...(name.trim() ? { name: name.trim() } : {}), ...fields })
      await client.invalidateQueries({ queryKey: ['schedules'] })
      done(t(schedule ? 'triggers.schedule_changed' : 'triggers.schedule_made'))
      onClose()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const says = (prefix: string, values: readonly string[]) => values.map((value) => ({ value, label: t(`triggers.${prefix}_${value}` as Key), help: t(`triggers.${prefix}_${value}_help` as Key) }))
  return (
    <Modal
      open
      wide
      onOpenChange={(open) => !open && onClose()}
      title={schedule ? t('triggers.edit_schedule', { name: schedule.name }) : t('triggers.new_schedule')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!workflow || Boolean(preview.error) || !asked} onClick={() => void save()}>
            {t(schedule ? 'common.save' : 'common.create')}
          </Button>
        </>
      }
    >
      <div className="grid gap-6 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          {!schedule && (
            <>
              <Labelled label={t('triggers.workflow')} required>
                {(ids) => <Choice {...ids} value={workflow || undefined} placeholder={t('triggers.choose_workflow')} options={names.published.map((row) => ({ value: row.id, label: row.name }))} onChange={setWorkflow} />}
              </Labelled>
              <Labelled label={t('common.name')} help={t('triggers.name_help')}>
                {(ids) => <Input {...ids} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />}
              </Labelled>
            </>
          )}
          <Labelled label={t('triggers.cron')} help={t('triggers.cron_help')} error={preview.error?.message} required>
            {(ids) => <Combobox {...ids} value={cron} onChange={setCron} options={EXAMPLES.map((value, index) => ({ value, label: value, help: t(`triggers.cron_example_${index + 1}` as Key) }))} />}
          </Labelled>
          <Labelled label={t('triggers.timezone')}>
            {(ids) => <Combobox {...ids} value={timezone} onChange={setTimezone} options={zones().map((value) => ({ value, label: value }))} />}
          </Labelled>
          <Labelled label={t('triggers.overlap')}>{(ids) => <Choice {...ids} value={overlap} options={says('overlap', OVERLAPS)} onChange={(value) => setOverlap(value as Schedule['overlap'])} />}</Labelled>
          <Labelled label={t('triggers.missed')}>{(ids) => <Choice {...ids} value={missed} options={says('missed', MISSED)} onChange={(value) => setMissed(value as Schedule['missed'])} />}</Labelled>
          <Labelled label={t('triggers.jitter')} help={t('triggers.jitter_help')}>
            {(ids) => <Input {...ids} value={jitter} placeholder="5m" onChange={(event) => setJitter(event.target.value)} />}
          </Labelled>
          {schema?.properties && Object.keys(schema.properties).length > 0 && (
            <section>
              <h3 className="mb-2 text-[13px] font-semibold">{t('triggers.inputs')}</h3>
              <SchemaForm schema={schema} value={inputs} onChange={setInputs} />
            </section>
          )}
          {error !== null && <Trouble error={error} />}
        </div>
        <Calendar times={preview.error ? [] : (preview.data ?? [])} zone={zone || 'UTC'} />
      </div>
    </Modal>
  )
}
