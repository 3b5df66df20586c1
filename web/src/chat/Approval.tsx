import { Check, ShieldQuestion, X } from 'lucide-react'
import { useState } from 'react'
import { answerRequest } from '@/api/chat'
import { dateTime, text, useT } from '@/i18n/t'
import { SchemaForm } from '@/schema/SchemaForm'
import type { JsonSchema } from '@/schema/schema'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Trouble } from '@/ui/Trouble'
import type { AskPart } from './turn'

const PLAIN = /\*\*(.+?)\*\*/g

/** A request of the turn at work: what would be done, exactly, and the answer of a person. */
export function Approval({ part }: { part: AskPart }) {
  const t = useT()
  const [busy, setBusy] = useState<string | null>(null)
  const [given, setGiven] = useState<string | null>(null)
  const [comment, setComment] = useState('')
  const [form, setForm] = useState<Record<string, unknown>>({})
  const [error, setError] = useState<unknown>(null)
  const answered = part.answer ?? given
  const answer = async (action: string) => {
    setBusy(action)
    setError(null)
    try {
      // The hash binds the answer to what is shown here: nothing else can be agreed to by it.
      await answerRequest(part.id, { action, shown_hash: part.hash, form, ...(comment ? { comment } : {}) })
      setGiven(action)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(null)
    }
  }
  const label = (action: string) => text(`chat.action_${action}`) ?? action
  return (
    <section aria-label={t('chat.approval')} className={cx('my-3 rounded-xl border p-4', answered ? 'border-line bg-panel' : 'border-warn/50 bg-warn-soft')}>
      <div className="flex items-start gap-2.5">
        <ShieldQuestion size={19} aria-hidden className={cx('mt-0.5 shrink-0', answered ? 'text-mute' : 'text-warn')} />
        <div className="min-w-0 flex-1">
          <h3 className="font-semibold break-words">{part.title || t('chat.approval')}</h3>
          <p className="mt-0.5 text-[13px] text-mute">{part.message.replaceAll(PLAIN, '$1')}</p>
        </div>
      </div>
      {part.arguments !== undefined && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <pre tabIndex={0} aria-label={t('chat.tool_arguments')} role="region" className="mt-3 max-h-64 overflow-auto rounded-lg border border-line bg-panel p-3 font-mono text-xs whitespace-pre-wrap break-words">
          {JSON.stringify(part.arguments, null, 2)}
        </pre>
      )}
      {answered ? (
        <p className="mt-3 flex items-center gap-1.5 text-[13px] font-medium">
          {answered === 'approve' ? <Check size={15} className="text-ok" aria-hidden /> : <X size={15} className="text-danger" aria-hidden />}
          {part.by ? t('chat.answered_by', { action: label(answered), name: part.by }) : label(answered)}
        </p>
      ) : (
        <>
          {part.form && (
            <div className="mt-3">
              <SchemaForm schema={part.form as JsonSchema} value={form} onChange={setForm} />
            </div>
          )}
          <Input className="mt-3" aria-label={t('chat.comment')} placeholder={t('chat.comment_hint')} value={comment} onChange={(event) => setComment(event.target.value)} />
          <div className="mt-3 flex flex-wrap items-center gap-2">
            {part.actions.map((action, index) => (
              <Button key={action} look={index === 0 ? 'primary' : 'secondary'} busy={busy === action} disabled={busy !== null} icon={action === 'approve' ? <Check size={15} /> : action === 'reject' ? <X size={15} /> : undefined} onClick={() => void answer(action)}>
                {label(action)}
              </Button>
            ))}
            {part.until && <span className="ml-auto text-xs text-mute">{t('chat.until', { at: dateTime(part.until) })}</span>}
          </div>
        </>
      )}
      {error !== null && <div className="mt-3"><Trouble error={error} /></div>}
    </section>
  )
}
