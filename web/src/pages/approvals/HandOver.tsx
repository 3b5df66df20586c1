import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { assignApproval, type Approval } from '@/api/approvals'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

/** Hands a request that asks the caller to somebody else. */
export function HandOver({ request, onClose }: { request: Approval; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [to, setTo] = useState('')
  const [comment, setComment] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const hand = async () => {
    setBusy(true)
    try {
      client.setQueryData(['approvals', 'one', request.id], await assignApproval(request.id, to.trim(), comment.trim() || null))
      await client.invalidateQueries({ queryKey: ['approvals'] })
      done(t('approvals.handed', { to: to.trim() }))
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
      title={t('approvals.hand_over')}
      description={t('approvals.hand_over_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!to.trim()} onClick={() => void hand()}>
            {t('approvals.hand_over')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('approvals.hand_to')} help={t('approvals.hand_to_help')} required>
          {(ids) => <Input {...ids} autoFocus value={to} maxLength={200} onChange={(event) => setTo(event.target.value)} />}
        </Labelled>
        <Labelled label={t('approvals.comment')}>{(ids) => <Textarea {...ids} value={comment} maxLength={10_000} onChange={(event) => setComment(event.target.value)} />}</Labelled>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
