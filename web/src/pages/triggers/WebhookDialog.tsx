import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addWebhook, changeWebhook, type Webhook } from '@/api/triggers'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { HEADERS, PRESETS, REPEATS, type Preset } from './signatures'
import { useWorkflowNames } from './useWorkflowNames'

const NONE = 'none'
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE']

/** Makes or changes a webhook; presets know how senders sign. */
export function WebhookDialog({ webhook, onClose }: { webhook: Webhook | null; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const names = useWorkflowNames()
  const [workflow, setWorkflow] = useState(webhook?.workflow_id ?? '')
  const [name, setName] = useState('')
  const [preset, setPreset] = useState<string>(webhook?.signature?.type ?? NONE)
  const [header, setHeader] = useState(webhook?.signature?.header ?? HEADERS.hmac)
  const [prefix, setPrefix] = useState(webhook?.signature?.prefix ?? '')
  const [encoding, setEncoding] = useState(webhook?.signature?.encoding ?? 'hex')
  const [algorithm, setAlgorithm] = useState(webhook?.signature?.algorithm ?? 'sha256')
  const [secret, setSecret] = useState('')
  const [methods, setMethods] = useState(webhook?.methods ?? ['POST'])
  const [repeats, setRepeats] = useState(webhook?.idempotency?.header ?? '')
  const [mode, setMode] = useState(webhook?.response.mode ?? 'immediate')
  const [timeout, setTime] = useState(String(webhook?.response.timeout ?? 30))
  const [inputs, setInputs] = useState(JSON.stringify(webhook?.inputs ?? {}, null, 2))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const mapped = ((): Record<string, unknown> | null => {
    try {
      const found: unknown = JSON.parse(inputs.trim() || '{}')
      return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : null
    } catch {
      return null
    }
  })()
  const choosePreset = (value: string) => {
    setPreset(value)
    const known = REPEATS[value as Preset]
    if (known && (!repeats || Object.values(REPEATS).includes(repeats))) setRepeats(known)
  }
  const save = async () => {
    setBusy(true)
    setError(null)
    const signature = preset === NONE ? undefined : preset === 'hmac' ? { type: preset, header, prefix, encoding, algorithm } : { type: preset }
    const fields = {
      methods,
      ...(signature ? { signature } : {}),
      ...(repeats.trim() ? { idempotency: { header: repeats.trim() } } : {}),
      response: { mode, ...(mode === 'wait' ? { timeout: Number(timeout) || 30 } : {}) },
      inputs: mapped ?? {},
    }
    try {
      if (webhook) await changeWebhook(webhook.id, fields)
      else {
        const made = await addWebhook({ workflow, ...(name.trim() ? { name: name.trim() } : {}), ...(secret ? { secret } : {}), ...fields })
        go(`/webhooks/${made.id}`)
      }
      await client.invalidateQueries({ queryKey: ['webhooks'] })
      done(t(webhook ? 'triggers.webhook_changed' : 'triggers.webhook_made'))
      onClose()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={webhook ? t('triggers.edit_webhook', { name: webhook.name }) : t('triggers.new_webhook')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!workflow || !methods.length || mapped === null} onClick={() => void save()}>
            {t(webhook ? 'common.save' : 'common.create')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {!webhook && (
          <>
            <Labelled label={t('triggers.workflow')} required>
              {(ids) => <Choice {...ids} value={workflow || undefined} placeholder={t('triggers.choose_workflow')} options={names.published.map((row) => ({ value: row.id, label: row.name }))} onChange={setWorkflow} />}
            </Labelled>
            <Labelled label={t('common.name')} help={t('triggers.name_help')}>
              {(ids) => <Input {...ids} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />}
            </Labelled>
          </>
        )}
        <Labelled label={t('triggers.signature')} help={preset === NONE ? t('triggers.unsigned_help') : t('triggers.signed_help', { header: preset === 'hmac' ? header : HEADERS[preset as Preset] })}>
          {(ids) => <Choice {...ids} value={preset} onChange={choosePreset} options={[...(webhook?.signature ? [] : [{ value: NONE, label: t('triggers.unsigned') }]), ...PRESETS.map((value) => ({ value, label: t(`triggers.preset_${value}`) }))]} />}
        </Labelled>
        {preset === 'hmac' && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Labelled label={t('triggers.header')}>{(ids) => <Input {...ids} value={header} onChange={(event) => setHeader(event.target.value)} />}</Labelled>
            <Labelled label={t('triggers.prefix')}>{(ids) => <Input {...ids} value={prefix} placeholder="sha256=" onChange={(event) => setPrefix(event.target.value)} />}</Labelled>
            <Labelled label={t('triggers.algorithm')}>{(ids) => <Choice {...ids} value={algorithm} options={['sha256', 'sha1', 'sha512'].map((value) => ({ value, label: value }))} onChange={setAlgorithm} />}</Labelled>
            <Labelled label={t('triggers.encoding')}>{(ids) => <Choice {...ids} value={encoding} options={['hex', 'base64'].map((value) => ({ value, label: value }))} onChange={setEncoding} />}</Labelled>
          </div>
        )}
        {!webhook && preset !== NONE && (
          <Labelled label={t('triggers.secret')} help={t('triggers.secret_help')}>
            {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={secret} onChange={(event) => setSecret(event.target.value)} />}
          </Labelled>
        )}
        <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
          <legend className="mb-1 text-[13px] font-medium">{t('triggers.methods')}</legend>
          {METHODS.map((method) => (
            <label key={method} className="flex items-center gap-1.5 text-[13px]">
              <input type="checkbox" className="size-4 accent-(--accent)" checked={methods.includes(method)} onChange={() => setMethods(methods.includes(method) ? methods.filter((one) => one !== method) : [...methods, method])} />
              {method}
            </label>
          ))}
        </fieldset>
        <Labelled label={t('triggers.repeats')} help={t('triggers.repeats_help')}>
          {(ids) => <Input {...ids} value={repeats} placeholder="X-Request-Id" onChange={(event) => setRepeats(event.target.value)} />}
        </Labelled>
        <div className="grid gap-4 sm:grid-cols-2">
          <Labelled label={t('triggers.answers')}>
            {(ids) => <Choice {...ids} value={mode} onChange={(value) => setMode(value as Webhook['response']['mode'])} options={(['immediate', 'wait'] as const).map((value) => ({ value, label: t(`triggers.answer_${value}`), help: t(`triggers.answer_${value}_help`) }))} />}
          </Labelled>
          {mode === 'wait' && <Labelled label={t('triggers.timeout')}>{(ids) => <Input {...ids} type="number" min={1} max={600} value={timeout} onChange={(event) => setTime(event.target.value)} />}</Labelled>}
        </div>
        <Labelled label={t('triggers.mapping')} help={t('triggers.mapping_help')} error={mapped === null ? t('common.bad_json') : undefined}>
          {(ids) => <Textarea {...ids} rows={4} spellCheck={false} className="font-mono text-[13px]" value={inputs} onChange={(event) => setInputs(event.target.value)} />}
        </Labelled>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
