import { Copy, Download } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { saveFile } from '@/api/workflows'
import { Button, IconButton } from '@/ui/Button'
import { done, failed } from '@/ui/toasts'
import { isReference, readPayload, useRun, type Reference } from './store'

const LONGEST = 20_000

/** A value as people read it: texts as they are, the rest as JSON; large ones are fetched on demand. */
export function Value({ value, label }: { value: unknown; label: string }) {
  const t = useT()
  if (isFile(value)) return <FileValue file={value} />
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const copy = () => void navigator.clipboard.writeText(text ?? '').then(() => done(t('common.copied')), (error: unknown) => failed(t('common.copy'), error))
  return (
    <div className="group/value relative">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} aria-label={label} className="max-h-80 overflow-auto rounded-lg bg-sunken p-2.5 pr-10 font-mono text-xs break-words whitespace-pre-wrap">
        {text === undefined ? '—' : text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text}
      </pre>
      <IconButton size="sm" side="left" className="absolute! top-1 right-1" label={t('common.copy')} icon={<Copy size={13} />} onClick={copy} />
    </div>
  )
}

interface FileReference {
  name: string
  media_type: string
  size: number
  ref: string
}

const isFile = (value: unknown): value is FileReference => typeof value === 'object' && value !== null && 'ref' in value && 'media_type' in value && 'sha256' in value

function FileValue({ file }: { file: FileReference }) {
  return (
    <a href={`/api/v1/files/${encodeURIComponent(file.ref)}`} download={file.name} className="inline-flex items-center gap-2 rounded-lg border border-line px-3 py-2 hover:bg-sunken">
      <Download size={15} aria-hidden /> {file.name} <span className="text-xs text-mute">{file.media_type}</span>
    </a>
  )
}

/** The outputs of a node by name. */
export function Outputs({ outputs }: { outputs: Record<string, unknown> }) {
  return (
    <div className="flex flex-col gap-2.5">
      {Object.entries(outputs).map(([name, value]) => (
        <div key={name}>
          <div className="mb-0.5 text-xs font-medium">
            <code>{name}</code>
          </div>
          {isReference(value) ? <Large reference={value} label={name} /> : <Value value={value} label={name} />}
        </div>
      ))}
    </div>
  )
}

function Large({ reference, label }: { reference: Reference; label: string }) {
  const t = useT()
  const runId = useRun((state) => state.runId)
  const [value, setValue] = useState<{ value: unknown } | null>(null)
  const [busy, setBusy] = useState(false)
  if (value) {
    return (
      <div className="flex flex-col gap-1">
        <Value value={value.value} label={label} />
        <Button size="sm" className="self-start" icon={<Download size={13} />} onClick={() => saveFile(`${label}.json`, JSON.stringify(value.value, null, 2), 'application/json')}>
          {t('common.download')}
        </Button>
      </div>
    )
  }
  const load = async () => {
    setBusy(true)
    try {
      setValue({ value: await readPayload(runId!, reference.$payload) })
    } catch (error) {
      failed(t('editor.load_value'), error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button size="sm" busy={busy} onClick={() => void load()}>
      {t('editor.load_value_of', { size: `${Math.ceil(reference.size / 1024)} KB` })}
    </Button>
  )
}
