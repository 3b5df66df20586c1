import { useCallback, useState } from 'react'
import { upload, type FileRef } from '@/api/chat'
import { t } from '@/i18n/t'
import { failed } from '@/ui/toasts'

export interface Attached {
  id: number
  name: string
  size: number
  done: number
  file: FileRef | null
}

const MOST = 20
let last = 0

/** Files of the next question: they are sent to the server at once, with progress. */
export function useUploads() {
  const [attached, setAttached] = useState<Attached[]>([])
  const change = useCallback((id: number, part: Partial<Attached>) => setAttached((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one))), [])
  const remove = useCallback((id: number) => setAttached((all) => all.filter((one) => one.id !== id)), [])
  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of [...files].slice(0, MOST)) {
        const id = ++last
        setAttached((all) => [...all, { id, name: file.name || 'image.png', size: file.size, done: 0, file: null }].slice(0, MOST))
        upload(file, (done) => change(id, { done }))
          .then((ref) => change(id, { file: ref, done: 1 }))
          .catch((error: unknown) => {
            remove(id)
            failed(t('chat.upload_failed', { name: file.name }), error)
          })
      }
    },
    [change, remove],
  )
  const clear = useCallback(() => setAttached([]), [])
  return { attached, add, remove, clear, busy: attached.some((one) => one.file === null) }
}
