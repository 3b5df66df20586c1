import { useQuery } from '@tanstack/react-query'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { listWebhooks, type Webhook } from '@/api/triggers'
import { useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { CopyButton } from '@/ui/CopyText'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Segmented } from '@/ui/Segmented'
import { SubscribeDialog, Subscriptions } from './Subscriptions'
import { useWorkflowNames } from './useWorkflowNames'
import { WebhookDialog } from './WebhookDialog'

/** Addresses that start workflows, and addresses that are told of runs. */
export default function Webhooks() {
  const t = useT()
  const [search, setSearch] = useSearchParams()
  const [creating, setCreating] = useState(false)
  const names = useWorkflowNames()
  const outgoing = search.get('side') === 'out'
  const webhooks = useQuery({ queryKey: ['webhooks'], queryFn: () => listWebhooks(), refetchInterval: 15_000, enabled: !outgoing })
  const columns: Column<Webhook>[] = [
    {
      id: 'name',
      header: t('common.name'),
      sort: (row) => row.name,
      cell: (row) => (
        <span className="flex flex-col">
          <Link href={`/webhooks/${row.id}`} className="font-medium hover:text-accent-text hover:underline">
            {row.name}
          </Link>
          <span className="text-xs text-mute">{names.name(row.workflow_id)}</span>
        </span>
      ),
    },
    {
      id: 'url',
      header: t('triggers.address'),
      cell: (row) =>
        row.url && (
          <span className="flex min-w-0 items-center gap-1">
            <code className="max-w-72 truncate text-xs">{row.url}</code>
            <CopyButton text={row.url} label={t('triggers.copy_address')} />
          </span>
        ),
    },
    { id: 'signature', header: t('triggers.signature'), cell: (row) => (row.signature ? <Badge tone="ok">{row.signature.type}</Badge> : <Badge tone="warn">{t('triggers.unsigned')}</Badge>) },
    { id: 'answer', header: t('triggers.answers'), cell: (row) => t(row.response.mode === 'wait' ? 'triggers.answer_wait' : 'triggers.answer_immediate') },
    { id: 'state', header: t('triggers.state'), cell: (row) => (row.paused ? <Badge tone="warn">{t('triggers.paused')}</Badge> : row.error ? <Badge tone="danger">{t('triggers.failed_last')}</Badge> : <Badge tone="ok">{t('triggers.active')}</Badge>) },
  ]
  const create = (
    <Button look="primary" icon={<Plus size={16} />} disabled={!outgoing && names.known && !names.published.length} onClick={() => setCreating(true)}>
      {t(outgoing ? 'triggers.new_subscription' : 'triggers.new_webhook')}
    </Button>
  )
  return (
    <Page
      title={t('navigation.webhooks')}
      lead={t(outgoing ? 'triggers.outgoing_lead' : 'triggers.incoming_lead')}
      actions={
        <>
          <Segmented
            label={t('triggers.side')}
            value={outgoing ? 'out' : 'in'}
            onChange={(side) => setSearch(side === 'out' ? { side } : {}, { replace: true })}
            options={[
              { value: 'in', label: t('triggers.incoming') },
              { value: 'out', label: t('triggers.outgoing') },
            ]}
          />
          {create}
        </>
      }
    >
      {outgoing ? (
        <Subscriptions create={create} />
      ) : (
        <ResourceTable
          label={t('navigation.webhooks')}
          rows={webhooks.data?.items}
          columns={columns}
          rowKey={(row) => row.id}
          search={(row) => `${row.name} ${names.name(row.workflow_id)}`}
          error={webhooks.error}
          retry={() => void webhooks.refetch()}
          empty={
            <Empty icon={<WebhookIcon size={24} aria-hidden />} title={t('triggers.no_webhooks')} actions={names.published.length ? create : undefined}>
              {t(names.published.length ? 'triggers.no_webhooks_lead' : 'triggers.nothing_published')}
            </Empty>
          }
        />
      )}
      {creating && !outgoing && <WebhookDialog webhook={null} onClose={() => setCreating(false)} />}
      {creating && outgoing && <SubscribeDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}
