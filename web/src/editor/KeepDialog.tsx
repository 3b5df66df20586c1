import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Trouble } from '@/ui/Trouble'
import { done } from '@/ui/toasts'
import { DiffList } from './DiffList'
import { documentNow, useEditor } from './store'
import { compare, keep, readVersion } from './versions'

/** Keeps the draft as a version, or publishes it; shows what is new in it before. */
export function KeepDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const { workflow, version, publishedVersion } = useEditor()
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const base = publishedVersion ?? version
  const comparison = useQuery({ queryKey: ['keep', workflow, base], queryFn: async () => compare(await readVersion(workflow, base!), documentNow()), enabled: base !== null, gcTime: 0, staleTime: 0 })
  const submit = async (publish: boolean) => {
    setBusy(true)
    try {
      const made = await keep(note, publish)
      await client.invalidateQueries({ queryKey: ['versions', workflow] })
      await client.invalidateQueries({ queryKey: ['workflows'] })
      done(t(publish ? 'editor.published_done' : 'editor.kept_done', { n: made.version }))
      onClose()
    } catch (problem) {
      setError(problem)
      setBusy(false)
    }
  }
  return (
    <Modal
      open
      wide
      onOpenChange={onClose}
      title={t('editor.keep_title')}
      description={t('editor.keep_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button busy={busy} onClick={() => void submit(false)}>
            {t('editor.keep')}
          </Button>
          <Button look="primary" busy={busy} onClick={() => void submit(true)}>
            {t('editor.publish')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('editor.version_note')}>{(ids) => <Input {...ids} autoFocus value={note} placeholder={t('editor.version_note_hint')} onChange={(event) => setNote(event.target.value)} />}</Labelled>
        {error !== null && <Trouble error={error} />}
        {base !== null && (
          <section>
            <h3 className="mb-1.5 text-[13px] font-semibold">{t('editor.since_version', { n: base })}</h3>
            {comparison.error ? <Trouble error={comparison.error} /> : <DiffList found={comparison.data} />}
          </section>
        )}
      </div>
    </Modal>
  )
}
