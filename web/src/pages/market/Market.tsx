import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Store, X } from 'lucide-react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { words } from '@/schema/schema'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { failed } from '@/ui/toasts'

interface Offer {
  id: string
  kind: string
  name: string
  owner_name: string | null
  visibility: string
  publish_status: string | null
  subscribed?: boolean
}

/** What others offer to everybody, and what waits for a review. */
export default function Market() {
  const t = useT()
  const client = useQueryClient()
  const offers = useQuery({ queryKey: ['market'], queryFn: async () => (await api<'get', '/api/v1/market', { items: Offer[] }>('get', '/api/v1/market')).items })
  const reviews = useQuery({ queryKey: ['reviews'], queryFn: async () => (await api<'get', '/api/v1/market/reviews', { items: Offer[] }>('get', '/api/v1/market/reviews')).items })
  const acting = async (work: () => Promise<unknown>) => {
    try {
      await work()
      await Promise.all(['market', 'reviews', 'resources'].map((key) => client.invalidateQueries({ queryKey: [key] })))
    } catch (error) {
      failed(t('resources.not_saved'), error)
    }
  }
  const at = (row: Offer) => ({ path: { object_id: row.id } })
  const common: Column<Offer>[] = [
    { id: 'name', header: t('common.name'), sort: (row) => row.name, cell: (row) => <span className="font-medium">{row.name}</span> },
    { id: 'kind', header: t('resources.kind'), sort: (row) => row.kind, cell: (row) => <Badge>{words(row.kind)}</Badge> },
    { id: 'owner', header: t('resources.owner'), cell: (row) => row.owner_name ?? '—' },
  ]
  const subscribe: Column<Offer> = {
    id: 'subscribe', header: '', className: 'text-right',
    cell: (row) =>
      row.subscribed ? (
        <Button size="sm" onClick={() => void acting(() => api('delete', '/api/v1/market/{object_id}/subscription', at(row)))}>
          {t('resources.unsubscribe')}
        </Button>
      ) : (
        <Button size="sm" look="primary" onClick={() => void acting(() => api('put', '/api/v1/market/{object_id}/subscription', at(row)))}>
          {t('resources.subscribe')}
        </Button>
      ),
  }
  const review: Column<Offer> = {
    id: 'review', header: '', className: 'text-right whitespace-nowrap',
    cell: (row) =>
      [true, false].map((approve) => (
        <Button key={String(approve)} size="sm" className="ml-2" look={approve ? 'primary' : 'secondary'} icon={approve ? <Check size={14} /> : <X size={14} />} onClick={() => void acting(() => api('post', '/api/v1/market/{object_id}/review', { ...at(row), body: { approve } }))}>
          {t(approve ? 'chat.action_approve' : 'chat.action_reject')}
        </Button>
      )),
  }
  return (
    <Page title={t('navigation.market')} lead={t('resources.market_lead')}>
      <ResourceTable label={t('navigation.market')} rows={offers.data} columns={[...common, subscribe]} rowKey={(row) => row.id} search={(row) => `${row.name} ${row.kind}`} error={offers.error} retry={() => void offers.refetch()} empty={<Empty icon={<Store size={24} aria-hidden />} title={t('resources.market_none')}>{t('resources.market_empty')}</Empty>} />
      {(reviews.data?.length ?? 0) > 0 && (
        <section className="mt-6">
          <h2 className="mb-2 font-semibold">{t('resources.reviews')}</h2>
          <ResourceTable label={t('resources.reviews')} rows={reviews.data} columns={[...common, review]} rowKey={(row) => row.id} empty={null} />
        </section>
      )}
    </Page>
  )
}
