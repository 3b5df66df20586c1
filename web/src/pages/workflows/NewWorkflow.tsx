import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { useLocation } from 'wouter'
import { push } from '@/api/workflows'
import { blank } from '@/editor/document'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'

/** Asks for a name and opens the editor on a workflow that already runs: START and END. */
export function NewWorkflow({ open, onOpenChange, taken }: { open: boolean; onOpenChange: (open: boolean) => void; taken: string[] }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState('')
  const create = async (event: FormEvent) => {
    event.preventDefault()
    const wanted = name.trim()
    if (!wanted) return setError(t('workflows.name_needed'))
    // Pushing a name that is there would make a version of that workflow.
    if (taken.includes(wanted)) return setError(t('workflows.name_taken', { name: wanted }))
    setBusy(true)
    try {
      const made = await push(blank(wanted))
      await client.invalidateQueries({ queryKey: ['workflows'] })
      go(`/workflows/${made.id}`)
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      open={open}
      onOpenChange={onOpenChange}
      title={t('workflows.new')}
      description={t('workflows.new_lead')}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>{t('common.cancel')}</Button>
          <Button type="submit" form="new-workflow" look="primary" busy={busy}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <form id="new-workflow" onSubmit={(event) => void create(event)}>
        <Labelled label={t('common.name')} error={error} required>
          {(ids) => <Input {...ids} autoFocus value={name} maxLength={200} onChange={(event) => setName(event.target.value)} placeholder={t('workflows.name_example')} />}
        </Labelled>
      </form>
    </Modal>
  )
}
