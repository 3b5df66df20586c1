import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronRight, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { deliveryBody, redeliver, type Delivery } from '@/api/triggers'
import { ago, dateTime, number, text, useT } from '@/i18n/t'
import { Badge, type Tone } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { CopyButton } from '@/ui/CopyText'
import { Facts } from '@/ui/Facts'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { attempt } from '@/ui/attempt'

const TONES: Record<Delivery['status'], Tone> = { received: 'info', started: 'ok', dead: 'danger' }
const SHOWN = 100_000

/** One request that came: what became of it, and, opened, its headers and its body as they came. */
export function DeliveryLine({ webhook, delivery }: { webhook: string; delivery: Delivery }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [open, setOpen] = useState(false)
  const { request } = delivery
  const again = () =>
    attempt(t('triggers.redeliver'), async () => {
      const { run_id } = await redeliver(webhook, delivery.id)
      await client.invalidateQueries({ queryKey: ['webhooks', webhook] })
      done(t('triggers.redelivered'), run_id ? { label: t('common.open'), run: () => go(`/runs/${run_id}`) } : undefined)
    })
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex min-w-0 flex-1 items-center gap-3 rounded text-left">
          <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute', open && 'rotate-90')} />
          <Badge tone={TONES[delivery.status]}>{text(`triggers.is_${delivery.status}`) ?? delivery.status}</Badge>
          <span className="font-mono text-[13px]">{String(request.method ?? '')}</span>
          <time className="text-[13px] text-mute" title={dateTime(delivery.received_at)}>
            {ago(delivery.received_at)}
          </time>
          <span className="hidden text-[13px] text-mute sm:inline">{t('triggers.bytes', { n: number(delivery.size) })}</span>
          {delivery.redelivers && <Badge>{t('triggers.again')}</Badge>}
        </button>
        {delivery.run_id && (
          <Link href={`/runs/${delivery.run_id}`} className="font-mono text-xs text-accent-text hover:underline" aria-label={t('triggers.run_of', { run: delivery.run_id.slice(-12) })}>
            {delivery.run_id.slice(-12)}
          </Link>
        )}
        <Button size="sm" icon={<RotateCcw size={13} />} onClick={() => void again()}>
          {t('triggers.redeliver')}
        </Button>
      </div>
      {delivery.error && <p className="px-3 pb-2 pl-11 text-[13px] break-words text-danger">{delivery.error}</p>}
      {open && <Details webhook={webhook} delivery={delivery} />}
    </li>
  )
}

function Details({ webhook, delivery }: { webhook: string; delivery: Delivery }) {
  const t = useT()
  const body = useQuery({ queryKey: ['webhooks', webhook, 'body', delivery.id], queryFn: () => deliveryBody(webhook, delivery.id), staleTime: Infinity, retry: false })
  const headers = Object.entries((delivery.request.headers ?? {}) as Record<string, unknown>)
  const query = delivery.request.query as Record<string, unknown> | undefined
  return (
    <div className="grid gap-4 bg-sunken/60 p-4 md:grid-cols-2">
      <section className="min-w-0">
        <h3 className="mb-1.5 text-[13px] font-semibold">{t('triggers.headers')}</h3>
        <Facts facts={[...headers.map(([name, value]): [string, string] => [name, String(value)]), ...(query && Object.keys(query).length ? [[t('triggers.query'), JSON.stringify(query)] as [string, string]] : [])]} className="[&_dd]:font-mono [&_dd]:text-xs [&_dd]:break-all [&_dt]:font-mono [&_dt]:text-xs" />
        <Facts
          className="mt-3"
          facts={[
            [t('triggers.delivery_id'), <code key="id" className="text-xs">{delivery.id}</code>],
            [t('triggers.key'), delivery.key],
            [t('triggers.attempts'), delivery.attempts || null],
            [t('triggers.next_try'), delivery.next_at === null ? null : ago(delivery.next_at)],
          ]}
        />
      </section>
      <section className="min-w-0">
        <div className="mb-1.5 flex items-center justify-between">
          <h3 className="text-[13px] font-semibold">{t('triggers.body')}</h3>
          {body.data !== undefined && <CopyButton text={body.data} />}
        </div>
        {body.error ? (
          <Trouble error={body.error} />
        ) : (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
          <pre tabIndex={0} role="group" aria-label={t('triggers.body')} className="max-h-72 overflow-auto rounded-lg border border-line bg-panel p-3 font-mono text-xs break-all whitespace-pre-wrap">
            {body.data === undefined ? t('common.loading') : body.data.slice(0, SHOWN) || t('triggers.empty_body')}
          </pre>
        )}
      </section>
    </div>
  )
}
