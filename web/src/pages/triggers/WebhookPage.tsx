import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Pause, Pencil, Play, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { listDeliveries, pauseWebhook, readWebhook, removeWebhook, rotateSecret, rotateToken, type Webhook } from '@/api/triggers'
import { ago, number, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { CopyText } from '@/ui/CopyText'
import { Facts } from '@/ui/Facts'
import { Modal } from '@/ui/Modal'
import { Card, Page } from '@/ui/Page'
import { Segmented } from '@/ui/Segmented'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { attempt } from '@/ui/attempt'
import { DeliveryLine } from './DeliveryLine'
import { curl } from './signatures'
import { useWorkflowNames } from './useWorkflowNames'
import { WebhookDialog } from './WebhookDialog'

/** One webhook: its address, how to call it, and what came. */
export default function WebhookPage({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const id = params.webhook!
  const client = useQueryClient()
  const [, go] = useLocation()
  const names = useWorkflowNames()
  const [editing, setEditing] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const webhook = useQuery({ queryKey: ['webhooks', id], queryFn: () => readWebhook(id), retry: false, refetchInterval: 15_000 })
  const found = webhook.data
  if (webhook.error) return <Page title={t('triggers.webhook')}><Trouble error={webhook.error} /></Page>
  if (!found) return <Loading label={t('common.loading')} />
  const fresh = () => client.invalidateQueries({ queryKey: ['webhooks'] })
  const pause = () =>
    attempt(t(found.paused ? 'triggers.resume' : 'triggers.pause'), async () => {
      await pauseWebhook(id, !found.paused)
      await fresh()
    })
  const remove = () =>
    attempt(t('common.delete'), async () => {
      if (!(await confirm({ title: t('triggers.delete_webhook', { name: found.name }), text: t('triggers.delete_webhook_text'), action: t('common.delete'), danger: true }))) return
      await removeWebhook(id)
      go('/webhooks')
      await fresh()
    })
  const newAddress = () =>
    attempt(t('triggers.new_address'), async () => {
      if (!(await confirm({ title: t('triggers.new_address'), text: t('triggers.new_address_text'), action: t('triggers.new_address'), danger: true }))) return
      await rotateToken(id)
      await fresh()
      done(t('triggers.new_address_done'))
    })
  const newSecret = () =>
    attempt(t('triggers.new_secret'), async () => {
      const made = await rotateSecret(id)
      setSecret(made.secret)
      await fresh()
    })
  const own = found.source === 'own'
  return (
    <Page
      title={found.name}
      lead={<Link href={`/workflows/${found.workflow_id}`} className="text-accent-text hover:underline">{names.name(found.workflow_id)}</Link>}
      actions={
        <>
          <Button icon={found.paused ? <Play size={15} /> : <Pause size={15} />} onClick={() => void pause()}>
            {t(found.paused ? 'triggers.resume' : 'triggers.pause')}
          </Button>
          {own && (
            <>
              <Button icon={<Pencil size={15} />} onClick={() => setEditing(true)}>
                {t('common.edit')}
              </Button>
              <Button look="danger" icon={<Trash2 size={15} />} onClick={() => void remove()}>
                {t('common.delete')}
              </Button>
            </>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {found.paused && <p className="rounded-lg bg-warn-soft px-4 py-2.5 text-warn">{t('triggers.webhook_paused')}</p>}
        {found.error && (
          <p role="alert" className="rounded-lg bg-danger-soft px-4 py-2.5">
            <span className="font-medium text-danger">{t('triggers.failed_last')}</span> {found.error} {found.error_at !== null && <span className="text-mute">{ago(found.error_at)}</span>}
          </p>
        )}
        {!own && <p className="rounded-lg bg-info-soft px-4 py-2.5 text-[13px]">{t('triggers.document_lead')}</p>}
        <Card className="flex flex-col gap-4 p-4">
          <div>
            <h2 className="mb-1.5 text-[13px] font-semibold">{t('triggers.address')}</h2>
            {found.url && <CopyText text={found.url} label={t('triggers.address')} />}
          </div>
          {found.url && (
            <div>
              <h2 className="mb-1.5 text-[13px] font-semibold">{t('triggers.try_it')}</h2>
              <CopyText block text={curl(found.url, found.methods[0] ?? 'POST', found.signature, example(found))} label={t('triggers.try_it')} />
            </div>
          )}
          <Facts
            facts={[
              [t('triggers.methods'), found.methods.join(', ')],
              [t('triggers.signature'), found.signature ? <span key="s">{t(`triggers.preset_${found.signature.type}` as 'triggers.preset_github')} {!found.secret_set && <Badge tone="danger">{t('triggers.no_secret')}</Badge>}</span> : <Badge key="s" tone="warn">{t('triggers.unsigned')}</Badge>],
              [t('triggers.repeats'), found.idempotency?.header ?? found.idempotency?.key ?? null],
              [t('triggers.answers'), t(found.response.mode === 'wait' ? 'triggers.answer_wait' : 'triggers.answer_immediate')],
              [t('triggers.max_size'), `${number(found.max_size / 1_000_000, { maximumFractionDigits: 1 })} MB`],
              [t('triggers.mapping'), Object.keys(found.inputs).length ? <code key="m">{JSON.stringify(found.inputs)}</code> : null],
            ]}
          />
          <div className="flex flex-wrap gap-2">
            {found.signature && !found.signature.secret && (
              <Button size="sm" icon={<KeyRound size={14} />} onClick={() => void newSecret()}>
                {t(found.secret_set ? 'triggers.new_secret' : 'triggers.make_secret')}
              </Button>
            )}
            <Button size="sm" icon={<RefreshCw size={14} />} onClick={() => void newAddress()}>
              {t('triggers.new_address')}
            </Button>
          </div>
        </Card>
        <Deliveries webhook={id} />
      </div>
      {editing && <WebhookDialog webhook={found} onClose={() => setEditing(false)} />}
      {secret !== null && (
        <Modal open onOpenChange={() => setSecret(null)} title={t('triggers.secret_title')} description={t('triggers.secret_once')} footer={<Button look="primary" onClick={() => setSecret(null)}>{t('triggers.secret_kept')}</Button>}>
          <CopyText text={secret} label={t('triggers.secret')} />
          <p className="mt-3 text-[13px] text-mute">{t('triggers.secret_before')}</p>
        </Modal>
      )}
    </Page>
  )
}

/** A body with the names that the mapping reads, else an empty object. */
function example(webhook: Webhook): Record<string, unknown> {
  const names = [...JSON.stringify(webhook.inputs).matchAll(/trigger\.body\.(\w+)/g)].map((found) => found[1]!)
  return Object.fromEntries([...new Set(names)].map((name) => [name, '…']))
}

function Deliveries({ webhook }: { webhook: string }) {
  const t = useT()
  const [status, setStatus] = useState('all')
  const deliveries = useInfiniteQuery({
    queryKey: ['webhooks', webhook, 'deliveries', status],
    queryFn: ({ pageParam }) => listDeliveries(webhook, status === 'all' ? '' : status, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: 5_000,
  })
  const rows = deliveries.data?.pages.flatMap((page) => page.items)
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{t('triggers.deliveries')}</h2>
        <Segmented
          label={t('triggers.state')}
          value={status}
          onChange={setStatus}
          options={[
            { value: 'all', label: t('triggers.all') },
            { value: 'started', label: t('triggers.delivery_started') },
            { value: 'dead', label: t('triggers.delivery_dead') },
          ]}
        />
      </div>
      {deliveries.error ? (
        <Trouble error={deliveries.error} />
      ) : !rows ? (
        <Loading label={t('common.loading')} />
      ) : !rows.length ? (
        <p className="rounded-xl border border-dashed border-line-strong/50 py-8 text-center text-mute">{t(status === 'dead' ? 'triggers.none_dead' : 'triggers.no_deliveries')}</p>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {rows.map((row) => (
              <DeliveryLine key={row.id} webhook={webhook} delivery={row} />
            ))}
          </ul>
        </Card>
      )}
      {deliveries.hasNextPage && (
        <p className="mt-3 text-center">
          <Button busy={deliveries.isFetchingNextPage} onClick={() => void deliveries.fetchNextPage()}>
            {t('common.load_more')}
          </Button>
        </p>
      )}
    </section>
  )
}
