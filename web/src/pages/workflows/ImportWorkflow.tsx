import { useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Problem } from '@/api/client'
import { importText, push, type Imported } from '@/api/workflows'
import { useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Modal } from '@/ui/Modal'
import { Trouble } from '@/ui/Trouble'

const OWN = /^\s*(?:\{[\s\S]*"schema"\s*:\s*"interlace\/|schema:\s*interlace\/|#.*\n)|"nodes"[\s\S]*"type"\s*:\s*"START"|type:\s*START\b/

/** A file of ours, or of another product, as a stored workflow; what could not be carried over is said before it is kept. */
export function ImportWorkflow({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [over, setOver] = useState(false)
  const [busy, setBusy] = useState(false)
  const [found, setFound] = useState<Imported | null>(null)
  const [error, setError] = useState<unknown>(null)

  const read = async (file: File | undefined) => {
    if (!file) return
    setBusy(true)
    setError(null)
    setFound(null)
    try {
      const text = await file.text()
      setFound(OWN.test(text) ? { ok: true, yaml: text, report: [] } : await importText(text, file.name.replace(/\.[^.]*$/, '')))
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const keep = async () => {
    setBusy(true)
    try {
      const made = await push(found!.yaml!)
      await client.invalidateQueries({ queryKey: ['workflows'] })
      onOpenChange(false)
      go(`/workflows/${made.id}`)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      open={open}
      onOpenChange={onOpenChange}
      wide={found !== null}
      title={t('workflows.import')}
      description={t('workflows.import_lead')}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={!found?.yaml} onClick={() => void keep()}>
            {t('workflows.import_keep')}
          </Button>
        </>
      }
    >
      <label
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void read(event.dataTransfer.files[0])
        }}
        className={cx('flex cursor-pointer flex-col items-center gap-2 rounded-xl border border-dashed border-line-strong px-4 py-8 text-center focus-within:outline-2 focus-within:outline-accent-text', over && 'bg-accent-soft')}
      >
        <FileUp size={26} aria-hidden className="text-accent-text" />
        <span className="font-medium">{t('workflows.import_drop')}</span>
        <span className="text-[13px] text-mute">{t('workflows.import_formats')}</span>
        <input type="file" accept=".yaml,.yml,.json" className="sr-only" onChange={(event) => void read(event.target.files?.[0])} />
      </label>
      {error !== null && (
        <div className="mt-4">
          <Trouble error={error} />
          {error instanceof Problem && error.code === 'validation' && <p className="mt-2 text-[13px] text-mute">{t('workflows.import_invalid')}</p>}
        </div>
      )}
      {found && (
        <div className="mt-4 grid gap-4 md:grid-cols-2">
          <div>
            <h3 className="mb-2 font-medium">{t('workflows.import_report', { n: found.report.length })}</h3>
            {!found.report.length && <p className="text-mute">{t('workflows.import_clean')}</p>}
            <ul className="flex max-h-80 flex-col gap-1.5 overflow-y-auto text-[13px]">
              {found.report.map((line, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- the report does not change
                <li key={index} className="flex items-start gap-2">
                  <Badge tone={line.level === 'error' ? 'danger' : line.level === 'warning' ? 'warn' : 'info'}>{line.level}</Badge>
                  <span>
                    {line.node && <code className="mr-1 text-xs">{line.node}</code>}
                    {line.message}
                  </span>
                </li>
              ))}
            </ul>
          </div>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
          <pre tabIndex={0} className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 text-xs">
            {found.yaml ?? t('workflows.import_nothing')}
          </pre>
        </div>
      )}
    </Modal>
  )
}
