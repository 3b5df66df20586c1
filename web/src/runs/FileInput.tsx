import { useState } from 'react'
import { problemOf, send } from '@/api/client'
import { useT } from '@/i18n/t'
import type { WidgetProps } from '@/schema/context'
import { Spinner } from '@/ui/Spinner'

interface Uploaded {
  name: string
  size: number
}

/** Uploads a file; the value is the reference that the server gives. */
export function FileInput({ value, onChange, ids }: WidgetProps) {
  const t = useT()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState('')
  const upload = async (file: File | undefined) => {
    if (!file) return
    const body = new FormData()
    body.append('file', file)
    setBusy(true)
    setError('')
    try {
      const response = await send('/api/v1/files', { method: 'POST', body })
      if (!response.ok) throw await problemOf(response)
      onChange(await response.json())
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem))
    } finally {
      setBusy(false)
    }
  }
  const known = value as Uploaded | undefined
  return (
    <div className="flex flex-col gap-1">
      <input {...ids} type="file" className="text-[13px] file:mr-3 file:rounded-lg file:border file:border-line file:bg-panel file:px-3 file:py-1.5 file:text-fg" onChange={(event) => void upload(event.target.files?.[0])} />
      {busy && <Spinner />}
      {known && <span className="text-xs text-mute">{t('editor.uploaded', { name: known.name })}</span>}
      {error && <span role="alert" className="text-xs text-danger">{error}</span>}
    </div>
  )
}
