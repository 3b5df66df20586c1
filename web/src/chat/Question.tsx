import { Copy, FileText, Pencil } from 'lucide-react'
import { memo, useState } from 'react'
import type { ChatMessage } from '@/api/chat'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { Textarea } from '@/ui/Input'
import { done } from '@/ui/toasts'
import { Versions } from './Versions'

interface Props {
  message: ChatMessage
  versions: ChatMessage[]
  editing: boolean
  setEditing: (editing: boolean) => void
  onEdit: (message: ChatMessage, text: string) => void
  onChoose: (message: ChatMessage) => void
}

/** What a person asked; it can be asked in other words, which is another branch. */
export const Question = memo(function Question({ message, versions, editing, setEditing, onEdit, onChoose }: Props) {
  const t = useT()
  const [words, setWords] = useState(message.content)
  const save = () => {
    if (!words.trim()) return
    setEditing(false)
    if (words.trim() !== message.content) onEdit(message, words.trim())
  }
  if (editing) {
    return (
      <div className="ml-auto w-full max-w-2xl rounded-2xl bg-sunken p-3">
        <Textarea
          autoFocus
          aria-label={t('chat.edit_question')}
          rows={Math.min(10, words.split('\n').length + 1)}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setEditing(false)
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault()
              save()
            }
          }}
        />
        <div className="mt-2 flex items-center justify-end gap-2">
          <span className="mr-auto text-xs text-mute">{t('chat.edit_note')}</span>
          <Button size="sm" onClick={() => setEditing(false)}>
            {t('common.cancel')}
          </Button>
          <Button size="sm" look="primary" onClick={save}>
            {t('chat.send')}
          </Button>
        </div>
      </div>
    )
  }
  return (
    <article aria-label={t('chat.you')} className="group flex flex-col items-end">
      {message.files.length > 0 && (
        <ul className="mb-1.5 flex max-w-[85%] flex-wrap justify-end gap-1.5">
          {message.files.map((file) => (
            <li key={file.ref}>
              <a href={`/api/v1/files/${file.ref}`} className="flex items-center gap-1.5 rounded-lg border border-line bg-panel px-2.5 py-1.5 text-[13px] hover:bg-sunken">
                <FileText size={14} aria-hidden className="text-mute" /> {file.name}
              </a>
            </li>
          ))}
        </ul>
      )}
      {message.content && <div className="max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 break-words whitespace-pre-wrap">{message.content}</div>}
      <div className="mt-0.5 -mb-3 flex h-7 items-center opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <Versions message={message} versions={versions} onChoose={onChoose} />
        <IconButton
          size="sm"
          label={t('common.copy')}
          icon={<Copy size={14} />}
          onClick={() => void navigator.clipboard.writeText(message.content).then(() => done(t('common.copied')))}
        />
        <IconButton
          size="sm"
          label={t('chat.edit_question')}
          icon={<Pencil size={14} />}
          onClick={() => {
            setWords(message.content)
            setEditing(true)
          }}
        />
      </div>
    </article>
  )
})
