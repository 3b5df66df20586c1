import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, ExternalLink, UserRoundPlus } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { answerApproval, readApproval, tooLate, type Approval } from '@/api/approvals'
import { Problem } from '@/api/client'
import { ago, dateTime, text, useT } from '@/i18n/t'
import type { JsonSchema } from '@/schema/schema'
import { SchemaForm } from '@/schema/SchemaForm'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Facts } from '@/ui/Facts'
import { Textarea } from '@/ui/Input'
import { Json } from '@/ui/Json'
import { Keys } from '@/ui/Keys'
import { Labelled } from '@/ui/Labelled'
import { Card } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { nowSeconds } from '@/ui/clock'
import { ApprovalStatusBadge } from './Approvals'
import { HandOver } from './HandOver'
import { History } from './History'

const Markdown = lazy(() => import('@/ui/Markdown'))

export function actionName(action: string): string {
  const spaced = action.replace(/_/g, ' ')
  return text(`approvals.action_${action}`) ?? spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** One request: what is asked, the form, the answers to choose from, and what happened so far. */
export function Request({ id, onAnswered }: { id: string; onAnswered: (request: Approval) => void }) {
  const t = useT()
  const request = useQuery({ queryKey: ['approvals', 'one', id], queryFn: () => readApproval(id), refetchInterval: (query) => (query.state.data?.status === 'pending' ? 5_000 : false) })
  const found = request.data
  return (
    <Card className="min-w-0">
      <p className="border-b border-line px-4 py-2 lg:hidden">
        <Link href="/approvals" className="flex items-center gap-1 text-[13px] text-accent-text">
          <ArrowLeft size={15} aria-hidden /> {t('approvals.back')}
        </Link>
      </p>
      {request.error ? (
        <div className="p-4">
          <Trouble error={request.error} retry={() => void request.refetch()} />
        </div>
      ) : !found ? (
        <Loading label={t('common.loading')} />
      ) : (
        <Shown request={found} onAnswered={onAnswered} />
      )}
    </Card>
  )
}

function Shown({ request, onAnswered }: { request: Approval; onAnswered: (request: Approval) => void }) {
  const t = useT()
  const [handing, setHanding] = useState(false)
  const pending = request.status === 'pending'
  return (
    <article aria-label={request.title ?? request.path} className="flex flex-col gap-5 p-5">
      <header>
        <div className="flex flex-wrap items-start justify-between gap-3">
          <h2 className="min-w-0 flex-1 text-lg font-semibold break-words">{request.title}</h2>
          <ApprovalStatusBadge status={request.status} />
        </div>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-[13px] text-mute">
          <Link href={`/runs/${request.run_id}?node=${encodeURIComponent(request.path)}`} className="inline-flex items-center gap-1 text-accent-text hover:underline">
            {t('approvals.run')} <ExternalLink size={12} aria-hidden />
          </Link>
          <span>{t('approvals.asked', { time: ago(request.created_at) })}</span>
          {pending && request.until !== null && <span className={cx(request.until - nowSeconds() < 86_400 && 'text-warn')}>{t('approvals.expires_at', { time: dateTime(request.until, { dateStyle: 'medium', timeStyle: 'short' }) })}</span>}
        </p>
      </header>
      {request.message && (
        <Suspense fallback={<p className="whitespace-pre-wrap">{request.message}</p>}>
          <Markdown text={request.message} />
        </Suspense>
      )}
      {request.config && Object.keys(request.config).length > 0 && (
        <section>
          <h3 className="mb-1.5 text-[13px] font-semibold">{t('approvals.would_do')}</h3>
          <Json value={request.config} />
        </section>
      )}
      <Quorum request={request} />
      {pending ? <AnswerForm request={request} onAnswered={onAnswered} /> : <Outcome request={request} />}
      {pending && (
        <div>
          <Button size="sm" look="ghost" icon={<UserRoundPlus size={15} />} onClick={() => setHanding(true)}>
            {t('approvals.hand_over')}
          </Button>
        </div>
      )}
      <History request={request} />
      {handing && <HandOver request={request} onClose={() => setHanding(false)} />}
    </article>
  )
}

function Quorum({ request }: { request: Approval }) {
  const t = useT()
  if (request.quorum <= 1 && !request.assignees.length) return null
  const given = request.answers.length
  return (
    <div className="flex flex-col gap-2 rounded-lg bg-sunken px-4 py-3 text-[13px]">
      {request.assignees.length > 0 && (
        <p>
          <span className="text-mute">{t('approvals.asked_of')}</span> {request.assignees.join(', ')}
        </p>
      )}
      {request.quorum > 1 && (
        <div>
          <p className="mb-1">{t('approvals.quorum', { n: given, of: request.quorum, action: actionName(request.actions?.[0] ?? 'approve') })}</p>
          <div role="progressbar" aria-label={t('approvals.quorum_label')} aria-valuemin={0} aria-valuemax={request.quorum} aria-valuenow={Math.min(given, request.quorum)} className="flex gap-1">
            {Array.from({ length: Math.min(request.quorum, 20) }, (_, index) => (
              <span key={index} className={cx('h-1.5 flex-1 rounded-full', index < given ? 'bg-ok' : 'bg-line-strong/40')} />
            ))}
          </div>
          {given > 0 && <p className="mt-1 text-mute">{request.answers.map((answer) => answer.by ?? answer.name).filter(Boolean).join(', ')}</p>}
        </div>
      )}
    </div>
  )
}

function AnswerForm({ request, onAnswered }: { request: Approval; onAnswered: (request: Approval) => void }) {
  const t = useT()
  const client = useQueryClient()
  const fields = Object.keys(request.form?.properties ?? {}).length > 0
  const [form, setForm] = useState<Record<string, unknown>>(() => defaults(request.form))
  const [comment, setComment] = useState('')
  const [busy, setBusy] = useState('')
  const [error, setError] = useState<unknown>(null)
  // What was on the screen when somebody began: an answer to anything else is refused.
  const [hash] = useState(request.hash)
  const actions = request.actions ?? []
  const send = async (action: string) => {
    setBusy(action)
    setError(null)
    try {
      const found = await answerApproval(request.id, { action, form, comment: comment.trim() || null, shown_hash: hash })
      client.setQueryData(['approvals', 'one', request.id], found)
      done(found.status === 'pending' ? t('approvals.counted', { n: found.answers.length, of: found.quorum }) : t('approvals.answered', { action: actionName(action) }))
      onAnswered(found)
    } catch (problem) {
      setError(problem)
      if (problem instanceof Problem && problem.status === 409) await client.invalidateQueries({ queryKey: ['approvals'] })
    } finally {
      setBusy('')
    }
  }
  const buttons = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A digit goes to the answer; it is sent by Enter alone, as what cannot be taken back should not hang on one key.
    const onKey = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, textarea, select, [role=dialog], [contenteditable=true]')) return
      const button = buttons.current?.querySelectorAll('button')[Number(event.key) - 1]
      if (!button) return
      event.preventDefault()
      button.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <form className="flex flex-col gap-4 border-t border-line pt-4" onSubmit={(event) => event.preventDefault()} aria-label={t('approvals.answer')}>
      {fields && <SchemaForm schema={request.form!} value={form} onChange={setForm} surroundings={error instanceof Problem ? { problems: problemsOf(error) } : {}} />}
      <Labelled label={t('approvals.comment')}>{(ids) => <Textarea {...ids} rows={2} maxLength={10_000} value={comment} onChange={(event) => setComment(event.target.value)} />}</Labelled>
      {error !== null && !(error instanceof Problem && Object.keys(problemsOf(error)).some((name) => name in (request.form?.properties ?? {}))) && <Refused error={error} />}
      <div ref={buttons} role="group" aria-label={t('approvals.actions')} className="flex flex-wrap gap-2">
        {actions.map((action, index) => (
          <Button key={action} look={index === 0 ? 'primary' : /reject|deny|decline|cancel|refuse/.test(action) ? 'danger' : 'secondary'} busy={busy === action} disabled={busy !== ''} onClick={() => void send(action)}>
            {actionName(action)}
            {index < 9 && (
              <span className="hidden opacity-80 lg:inline">
                <Keys keys={String(index + 1)} />
              </span>
            )}
          </Button>
        ))}
      </div>
    </form>
  )
}

/** Only what the form gives by itself: nothing that somebody should decide is chosen beforehand. */
function defaults(form: JsonSchema | null): Record<string, unknown> {
  const given = Object.entries(form?.properties ?? {}).filter(([, property]) => property.default !== undefined && property.default !== null)
  return Object.fromEntries(given.map(([name, property]) => [name, property.default]))
}

/** Problems of single fields, by the path that the form knows them by. */
function problemsOf(problem: Problem): Record<string, string> {
  const found = problem.problems.filter((one) => one.field).map((one) => [one.field!.replace(/^form\./, ''), one.message] as const)
  return { ...Object.fromEntries(found), ...Object.fromEntries(Object.entries(problem.fields).map(([name, message]) => [name.replace(/^form\./, ''), message])) }
}

function Refused({ error }: { error: unknown }) {
  const t = useT()
  const late = error instanceof Problem ? tooLate(error) : null
  if (!late) return <Trouble error={error} />
  return (
    <p role="alert" className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
      {late.by ? t('approvals.too_late', { by: late.by, action: late.action ? actionName(late.action) : late.ended, time: late.at === null ? '' : ago(late.at) }) : (error as Problem).message}
    </p>
  )
}

function Outcome({ request }: { request: Approval }) {
  const t = useT()
  return (
    <section className="flex flex-col gap-3 border-t border-line pt-4">
      <Facts
        facts={[
          [t('approvals.answer'), request.action ? <b>{actionName(request.action)}</b> : (text(`approvals.status_${request.status}`) ?? request.status)],
          [t('approvals.by'), request.answered_by],
          [t('approvals.at'), request.answered_at === null ? null : dateTime(request.answered_at)],
          [t('approvals.comment'), request.comment],
        ]}
      />
      {Object.keys(request.filled).length > 0 && <Json value={request.filled} />}
    </section>
  )
}
