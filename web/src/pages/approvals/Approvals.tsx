import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Inbox } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { answerSeveral, listApprovals, type Approval, type ApprovalStatus } from '@/api/approvals'
import { ago, dateTime, text, useT } from '@/i18n/t'
import { Badge, type Tone } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Keys } from '@/ui/Keys'
import { Card, Empty, Page } from '@/ui/Page'
import { Segmented } from '@/ui/Segmented'
import { Loading } from '@/ui/Spinner'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { nowSeconds } from '@/ui/clock'
import { actionName, Request } from './Request'

const TONES: Record<string, Tone> = { pending: 'warn', answered: 'ok', timed_out: 'mute', cancelled: 'mute' }

export const ApprovalStatusBadge = ({ status }: { status: string }) => <Badge tone={TONES[status] ?? 'mute'}>{text(`approvals.status_${status}`) ?? status}</Badge>

/** The inbox: what waits for people, and each request beside the list. */
export default function Approvals({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [status, setStatus] = useState<ApprovalStatus>('pending')
  const [whose, setWhose] = useState<'mine' | 'all'>('mine')
  const [marked, setMarked] = useState<string[]>([])
  const list = useRef<HTMLUListElement>(null)
  const chosen = params.request
  const requests = useInfiniteQuery({
    queryKey: ['approvals', status, whose],
    queryFn: ({ pageParam }) => listApprovals({ status, mine: whose === 'mine' }, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: 5_000,
  })
  const rows = useMemo(() => requests.data?.pages.flatMap((page) => page.items), [requests.data])
  const go_to = useCallback((id: string) => go(`/approvals/${id}`), [go])
  const move = useCallback(
    (step: number) => {
      if (!rows?.length) return
      const at = rows.findIndex((row) => row.id === chosen)
      const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))]!
      go_to(next.id)
      requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-request="${next.id}"]`)?.focus())
    },
    [rows, chosen, go_to],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, textarea, select, [role=dialog], [contenteditable=true]')) return
      if (event.key === 'j') move(1)
      else if (event.key === 'k') move(-1)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [move])
  const mark = (id: string) => setMarked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]))
  const several = (rows ?? []).filter((row) => marked.includes(row.id) && row.status === 'pending')
  const answered = (request: Approval) => {
    void client.invalidateQueries({ queryKey: ['approvals'] })
    setMarked((before) => before.filter((one) => one !== request.id))
  }
  return (
    <Page
      title={t('navigation.approvals')}
      lead={t('approvals.lead')}
      actions={
        <>
          <Segmented
            label={t('approvals.whose')}
            value={whose}
            onChange={setWhose}
            options={[
              { value: 'mine', label: t('approvals.mine') },
              { value: 'all', label: t('approvals.all') },
            ]}
          />
          <Segmented
            label={t('approvals.status')}
            value={status}
            onChange={setStatus}
            options={[
              { value: 'pending', label: t('approvals.status_pending') },
              { value: 'answered', label: t('approvals.status_answered') },
              { value: 'all', label: t('approvals.any') },
            ]}
          />
        </>
      }
    >
      {requests.error ? (
        <Trouble error={requests.error} retry={() => void requests.refetch()} />
      ) : !rows ? (
        <Loading label={t('common.loading')} />
      ) : !rows.length && !chosen ? (
        <Empty icon={<Inbox size={24} aria-hidden />} title={t(status === 'pending' ? 'approvals.none' : 'approvals.none_match')}>
          {t('approvals.none_lead')}
        </Empty>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)]">
          <Card className={cx('min-w-0', chosen && 'hidden lg:block')}>
            {several.length > 0 && <Batch requests={several} onDone={() => { setMarked([]); void client.invalidateQueries({ queryKey: ['approvals'] }) }} />}
            <ul ref={list} aria-label={t('navigation.approvals')} className="divide-y divide-line">
              {rows.map((row) => (
                <Line key={row.id} request={row} chosen={row.id === chosen} marked={marked.includes(row.id)} onMark={() => mark(row.id)} onOpen={() => go_to(row.id)} />
              ))}
            </ul>
            {!rows.length && <p className="px-4 py-8 text-center text-mute">{t('approvals.none_match')}</p>}
            {requests.hasNextPage && (
              <p className="border-t border-line p-2 text-center">
                <Button size="sm" busy={requests.isFetchingNextPage} onClick={() => void requests.fetchNextPage()}>
                  {t('common.load_more')}
                </Button>
              </p>
            )}
            <p className="hidden border-t border-line px-4 py-2 text-xs leading-6 text-mute lg:block">
              <Keys keys="J" /> <Keys keys="K" /> {t('approvals.keys_move')}
              <br />
              <Keys keys="1" />–<Keys keys="9" /> {t('approvals.keys_answer')}
            </p>
          </Card>
          {chosen ? <Request key={chosen} id={chosen} onAnswered={answered} /> : <p className="hidden py-24 text-center text-mute lg:block">{t('approvals.choose')}</p>}
        </div>
      )}
    </Page>
  )
}

interface LineProps {
  request: Approval
  chosen: boolean
  marked: boolean
  onMark: () => void
  onOpen: () => void
}

function Line({ request, chosen, marked, onMark, onOpen }: LineProps) {
  const t = useT()
  const pending = request.status === 'pending'
  const agreed = request.answers.length
  return (
    <li className={cx('flex items-start gap-2 pl-3', chosen ? 'bg-accent-soft' : 'hover:bg-sunken/60')}>
      <input type="checkbox" className="mt-4 size-4 shrink-0 accent-(--accent)" disabled={!pending} aria-label={t('approvals.mark', { title: request.title ?? request.path })} checked={marked} onChange={onMark} />
      <button type="button" data-request={request.id} aria-current={chosen ? 'true' : undefined} onClick={onOpen} className="flex min-w-0 flex-1 flex-col gap-1 py-3 pr-4 text-left focus-visible:-outline-offset-2">
        <span className="flex w-full items-start justify-between gap-2">
          <span className="line-clamp-2 font-medium">{request.title}</span>
          {!pending && <ApprovalStatusBadge status={request.status} />}
        </span>
        <span className="flex w-full flex-wrap items-center gap-x-2 text-xs text-mute">
          <time title={dateTime(request.created_at)}>{ago(request.created_at)}</time>
          {pending && request.until !== null && <span className={cx(request.until - nowSeconds() < 86_400 && 'font-medium text-warn')}>{t('approvals.expires', { time: ago(request.until) })}</span>}
          {request.quorum > 1 && pending && <span>{t('approvals.quorum_short', { n: agreed, of: request.quorum })}</span>}
          {request.action && <span className="font-medium">{actionName(request.action)}</span>}
          {request.answered_by && <span>{request.answered_by}</span>}
        </span>
      </button>
    </li>
  )
}

/** The same answer to several requests; those with a form that asks for something are answered one by one. */
function Batch({ requests, onDone }: { requests: Approval[]; onDone: () => void }) {
  const t = useT()
  const [busy, setBusy] = useState('')
  const common = requests.map((one) => one.actions ?? []).reduce((all, actions) => all.filter((action) => actions.includes(action)))
  const forms = requests.filter((one) => (one.form?.required ?? []).length > 0).length
  const answer = async (action: string) => {
    setBusy(action)
    try {
      const found = await answerSeveral(requests.map((one) => ({ id: one.id, action, shown_hash: one.hash })))
      if (found.answered) done(t('approvals.batch_done', { n: found.answered }))
      for (const item of found.items) if (item.error) failed(requests.find((one) => one.id === item.id)?.title ?? item.id, new Error(item.error.detail))
      onDone()
    } catch (error) {
      failed(t('approvals.answer'), error)
    } finally {
      setBusy('')
    }
  }
  return (
    <div role="group" aria-label={t('approvals.batch', { n: requests.length })} className="flex flex-wrap items-center gap-2 border-b border-line bg-sunken px-3 py-2">
      <span className="text-[13px] font-medium">{t('approvals.batch', { n: requests.length })}</span>
      <span className="flex-1" />
      {forms > 0 ? (
        <span className="text-xs text-mute">{t('approvals.batch_forms')}</span>
      ) : common.length ? (
        common.map((action) => (
          <Button key={action} size="sm" busy={busy === action} onClick={() => void answer(action)}>
            {actionName(action)}
          </Button>
        ))
      ) : (
        <span className="text-xs text-mute">{t('approvals.batch_nothing')}</span>
      )}
    </div>
  )
}
