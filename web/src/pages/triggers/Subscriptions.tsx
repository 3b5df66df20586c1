import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronRight, Ellipsis, KeyRound, Pause, Play, RotateCcw, Send, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { useSession } from '@/api/session'
import { changeSubscription, listMessages, listSubscriptions, resend, rotateSubscription, subscribe, unsubscribe, type Message, type Subscription } from '@/api/triggers'
import { ago, text, useT } from '@/i18n/t'
import { Badge, type Tone } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { confirm } from '@/ui/Confirm'
import { CopyText } from '@/ui/CopyText'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Json } from '@/ui/Json'
import { Labelled } from '@/ui/Labelled'
import { Menu } from '@/ui/Menu'
import { Modal } from '@/ui/Modal'
import { Card, Empty } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { attempt } from '@/ui/attempt'

const EVENTS = ['run.succeeded', 'run.failed', 'run.cancelled', 'run.suspended', 'approval.requested']
const TONES: Record<Message['status'], Tone> = { pending: 'info', delivered: 'ok', dead: 'danger' }

/** Addresses that are told of events. */
export function Subscriptions({ create }: { create: ReactNode }) {
  const t = useT()
  const subscriptions = useQuery({ queryKey: ['subscriptions'], queryFn: listSubscriptions })
  if (subscriptions.error) return <Trouble error={subscriptions.error} retry={() => void subscriptions.refetch()} />
  if (!subscriptions.data) return <Loading label={t('common.loading')} />
  if (!subscriptions.data.items.length) {
    return (
      <Empty icon={<Send size={24} aria-hidden />} title={t('triggers.no_subscriptions')} actions={create}>
        {t('triggers.no_subscriptions_lead')}
      </Empty>
    )
  }
  return (
    <div className="flex flex-col gap-3">
      {subscriptions.data.items.map((one) => (
        <One key={one.id} subscription={one} />
      ))}
    </div>
  )
}

function One({ subscription }: { subscription: Subscription }) {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const [open, setOpen] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const org = session?.user?.orgs.find((one) => one.id === subscription.org_id)?.name
  const fresh = () => client.invalidateQueries({ queryKey: ['subscriptions'] })
  const toggle = () =>
    attempt(t(subscription.active ? 'triggers.pause' : 'triggers.resume'), async () => {
      await changeSubscription(subscription.id, { active: !subscription.active })
      await fresh()
    })
  const remove = () =>
    attempt(t('common.delete'), async () => {
      if (!(await confirm({ title: t('triggers.delete_subscription'), text: t('triggers.delete_subscription_text', { url: subscription.url }), action: t('common.delete'), danger: true }))) return
      await unsubscribe(subscription.id)
      await fresh()
    })
  const rotate = () => attempt(t('triggers.new_secret'), async () => setSecret((await rotateSubscription(subscription.id)).secret))
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-3 p-3">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex min-w-0 flex-1 items-center gap-2 rounded text-left">
          <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute', open && 'rotate-90')} />
          <span className="min-w-0">
            <span className="block truncate font-mono text-[13px]">{subscription.url}</span>
            <span className="mt-1 flex flex-wrap gap-1">
              {subscription.events.map((event) => (
                <Badge key={event}>{event}</Badge>
              ))}
              {org && <Badge tone="accent">{org}</Badge>}
            </span>
          </span>
        </button>
        <Badge tone={subscription.active ? 'ok' : 'warn'}>{t(subscription.active ? 'triggers.active' : 'triggers.paused')}</Badge>
        <Menu
          trigger={<IconButton size="sm" label={t('triggers.actions_of', { name: subscription.url })} icon={<Ellipsis size={16} />} />}
          items={[
            { label: t(subscription.active ? 'triggers.pause' : 'triggers.resume'), icon: subscription.active ? <Pause size={14} /> : <Play size={14} />, onSelect: () => void toggle() },
            { label: t('triggers.new_secret'), icon: <KeyRound size={14} />, onSelect: () => void rotate() },
            'line',
            { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, onSelect: () => void remove() },
          ]}
        />
      </div>
      {open && <Messages subscription={subscription.id} />}
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </Card>
  )
}

function Messages({ subscription }: { subscription: string }) {
  const t = useT()
  const client = useQueryClient()
  const [shown, setShown] = useState<string | null>(null)
  const messages = useQuery({ queryKey: ['subscriptions', subscription, 'messages'], queryFn: () => listMessages(subscription, ''), refetchInterval: 5_000 })
  const again = (message: Message) =>
    attempt(t('triggers.redeliver'), async () => {
      await resend(subscription, message.id)
      await client.invalidateQueries({ queryKey: ['subscriptions', subscription] })
      done(t('triggers.sent_again'))
    })
  if (messages.error) return <div className="p-3"><Trouble error={messages.error} /></div>
  if (!messages.data) return <Loading label={t('common.loading')} />
  if (!messages.data.items.length) return <p className="border-t border-line py-6 text-center text-mute">{t('triggers.no_messages')}</p>
  return (
    <ul className="divide-y divide-line border-t border-line text-[13px]">
      {messages.data.items.map((message) => (
        <li key={message.id} className="px-3 py-2">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <button type="button" aria-expanded={shown === message.id} onClick={() => setShown(shown === message.id ? null : message.id)} className="flex min-w-0 flex-1 items-center gap-3 rounded text-left">
              <Badge tone={TONES[message.status]}>{text(`triggers.message_${message.status}`) ?? message.status}</Badge>
              <span className="font-medium">{message.event}</span>
              <time className="text-mute">{ago(message.created_at)}</time>
              {message.answer !== null && <span className="text-mute">HTTP {message.answer}</span>}
              {message.attempts > 1 && <span className="text-mute">×{message.attempts}</span>}
            </button>
            <Link href={`/runs/${message.run_id}`} className="font-mono text-xs text-accent-text hover:underline">
              {message.run_id.slice(-12)}
            </Link>
            <Button size="sm" icon={<RotateCcw size={13} />} onClick={() => void again(message)}>
              {t('triggers.redeliver')}
            </Button>
          </div>
          {message.error && <p className="mt-1 break-words text-danger">{message.error}</p>}
          {shown === message.id && (
            <div className="mt-2">
              <Json value={message.body} />
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}

function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const t = useT()
  return (
    <Modal open onOpenChange={onClose} title={t('triggers.secret_title')} description={t('triggers.secret_once')} footer={<Button look="primary" onClick={onClose}>{t('triggers.secret_kept')}</Button>}>
      <CopyText text={secret} label={t('triggers.secret')} />
    </Modal>
  )
}

export function SubscribeDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState(['run.failed'])
  const [org, setOrg] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const led = session?.user?.orgs.filter((one) => one.role !== 'member') ?? []
  const save = async () => {
    setBusy(true)
    setError(null)
    try {
      const made = await subscribe({ url: url.trim(), events, ...(org ? { org } : {}) })
      await client.invalidateQueries({ queryKey: ['subscriptions'] })
      setSecret(made.secret)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  if (secret !== null) return <SecretOnce secret={secret} onClose={onClose} />
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('triggers.new_subscription')}
      description={t('triggers.subscribe_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!url.trim() || !events.length} onClick={() => void save()}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('triggers.address')} required>
          {(ids) => <Input {...ids} autoFocus type="url" placeholder="https://example.com/hooks/interlace" value={url} onChange={(event) => setUrl(event.target.value)} />}
        </Labelled>
        <fieldset className="grid gap-1 sm:grid-cols-2">
          <legend className="mb-1 text-[13px] font-medium">{t('triggers.events')}</legend>
          {EVENTS.map((event) => (
            <label key={event} className="flex items-center gap-2 text-[13px]">
              <input type="checkbox" className="size-4 accent-(--accent)" checked={events.includes(event)} onChange={() => setEvents(events.includes(event) ? events.filter((one) => one !== event) : [...events, event])} />
              <code>{event}</code>
            </label>
          ))}
        </fieldset>
        {led.length > 0 && (
          <Labelled label={t('triggers.whose_runs')}>
            {(ids) => <Choice {...ids} value={org} onChange={setOrg} options={[{ value: '', label: t('triggers.my_runs') }, ...led.map((one) => ({ value: one.id, label: one.name }))]} />}
          </Labelled>
        )}
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
