import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, RotateCcw, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { replayRun, type ReplayWish, type RunReport } from '@/api/runs'
import { useT } from '@/i18n/t'
import { SchemaForm } from '@/schema/SchemaForm'
import type { JsonSchema } from '@/schema/schema'
import { Button, IconButton } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Toggle } from '@/ui/Toggle'
import { Trouble } from '@/ui/Trouble'
import { done } from '@/ui/toasts'
import type { RunData } from './useRun'

interface Edit {
  place: string
  text: string
}

interface Props {
  data: RunData
  run: RunReport
  from: string | null
  onClose: () => void
}

const ALL = '*'

function parsed(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}

/** Starts a new run that takes over what stood before a node, changed where that is wanted, and does the rest again. */
export function ReplayDialog({ data, run, from: first, onClose }: Props) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const outer = data.definition?.nodes.map((node) => node.id) ?? Object.keys(run.nodes).filter((path) => !path.includes('.'))
  const [from, setFrom] = useState(first && outer.includes(first) ? first : ALL)
  const [changed, setChanged] = useState<Record<string, unknown>>({})
  const [edits, setEdits] = useState<Edit[]>([])
  const [offline, setOffline] = useState(false)
  const [version, setVersion] = useState('pinned')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const inputs = data.context.data?.inputs
  const schema = data.definition?.inputs as JsonSchema | undefined
  const places = useMemo(() => {
    const found = Object.values(data.journal.nodes).flatMap((node) => Object.keys(node.outputs ?? {}).map((name) => `${node.path}.${name}`))
    return found.map((value) => ({ value, label: value }))
  }, [data.journal])
  const bad = edits.some((edit) => edit.place && !parsed(edit.text).ok)
  const wish: ReplayWish = {
    ...(from === ALL ? {} : { from }),
    inputs: changed,
    set: Object.fromEntries(edits.filter((edit) => edit.place && parsed(edit.text).ok).map((edit) => [edit.place, (parsed(edit.text) as { value: unknown }).value])),
    offline,
    version,
  }
  const plan = useQuery({ queryKey: ['replay', run.run_id, JSON.stringify(wish)], queryFn: () => replayRun(run.run_id, { ...wish, dry_run: true }), retry: false, placeholderData: (before) => before })
  const start = async () => {
    setBusy(true)
    try {
      const made = await replayRun(run.run_id, wish)
      done(t('runs.replay_started'))
      await client.invalidateQueries({ queryKey: ['runs', 'list'] })
      onClose()
      go(`/runs/${made.run_id}`)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const setEdit = (index: number, change: Partial<Edit>) => setEdits(edits.map((edit, at) => (at === index ? { ...edit, ...change } : edit)))
  const choosePlace = (index: number, place: string) => {
    const path = place.slice(0, place.lastIndexOf('.'))
    const value = data.journal.nodes[path]?.outputs?.[place.slice(place.lastIndexOf('.') + 1)]
    setEdit(index, { place, text: JSON.stringify(value ?? null, null, 2) })
  }
  const names = (list: unknown) => (Array.isArray(list) && list.length ? list.join(', ') : '—')
  return (
    <Modal
      open
      wide
      onOpenChange={(open) => !open && onClose()}
      title={t('runs.replay')}
      description={t('runs.replay_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" icon={<RotateCcw size={15} />} busy={busy} disabled={bad || Boolean(plan.error)} onClick={() => void start()}>
            {t('runs.replay_start')}
          </Button>
        </>
      }
    >
      <div className="grid gap-6 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Labelled label={t('runs.replay_from')} help={t('runs.replay_from_help')}>
            {(ids) => <Choice {...ids} value={from} onChange={setFrom} options={[{ value: ALL, label: t('runs.replay_all') }, ...outer.map((id) => ({ value: id, label: data.specs.get(id)?.label ?? id }))]} />}
          </Labelled>
          {run.workflow_id && (
            <Labelled label={t('runs.version')}>
              {(ids) => <Choice {...ids} value={version} onChange={setVersion} options={['pinned', 'published', 'latest'].map((value) => ({ value, label: t(`runs.version_${value}` as 'runs.version_pinned') }))} />}
            </Labelled>
          )}
          <Labelled label={t('runs.offline')} help={t('runs.offline_help')}>
            {(ids) => <Toggle {...ids} checked={offline} onChange={setOffline} />}
          </Labelled>
          <section className="flex flex-col gap-2">
            <h3 className="text-[13px] font-semibold">{t('runs.edits')}</h3>
            <p className="text-xs text-mute">{t('runs.edits_help')}</p>
            {edits.map((edit, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- rows have no other name, and are only added and removed
              <div key={index} className="flex flex-col gap-1.5 rounded-lg border border-line p-2">
                <div className="flex gap-1">
                  <Choice aria-label={t('runs.edit_place')} value={edit.place || undefined} options={places} placeholder={t('runs.edit_place')} onChange={(place) => choosePlace(index, place)} />
                  <IconButton label={t('common.remove')} icon={<X size={15} />} onClick={() => setEdits(edits.filter((_, at) => at !== index))} />
                </div>
                <Textarea aria-label={t('common.value_of', { name: edit.place || t('runs.edits') })} aria-invalid={edit.place && !parsed(edit.text).ok ? true : undefined} rows={3} className="font-mono text-[13px]" value={edit.text} spellCheck={false} onChange={(event) => setEdit(index, { text: event.target.value })} />
                {edit.place && !parsed(edit.text).ok && <p className="text-xs text-danger">{t('common.bad_json')}</p>}
              </div>
            ))}
            <Button size="sm" className="self-start" icon={<Plus size={14} />} disabled={!places.length} onClick={() => setEdits([...edits, { place: '', text: '' }])}>
              {t('runs.add_edit')}
            </Button>
          </section>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          {schema?.properties && inputs && (
            <section>
              <h3 className="mb-2 text-[13px] font-semibold">{t('runs.inputs')}</h3>
              <SchemaForm schema={schema} value={{ ...inputs, ...changed }} onChange={(next) => setChanged(Object.fromEntries(Object.entries(next).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(inputs[name]))))} />
            </section>
          )}
          <section aria-live="polite" className="rounded-lg border border-line bg-sunken p-3 text-[13px]">
            <h3 className="mb-1 font-semibold">{t('runs.plan')}</h3>
            {plan.error ? (
              <p className="text-danger">{plan.error.message}</p>
            ) : (
              <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-1">
                <dt className="text-mute">{t('runs.plan_reused')}</dt>
                <dd className="break-words">{names(plan.data?.reused)}</dd>
                <dt className="text-mute">{t('runs.plan_again')}</dt>
                <dd className="break-words">{names(plan.data?.again)}</dd>
                {Array.isArray(plan.data?.once) && plan.data.once.length > 0 && (
                  <>
                    <dt className="text-warn">{t('runs.plan_once')}</dt>
                    <dd className="break-words text-warn">{names(plan.data.once)}</dd>
                  </>
                )}
              </dl>
            )}
          </section>
          {error !== null && <Trouble error={error} />}
        </div>
      </div>
    </Modal>
  )
}
