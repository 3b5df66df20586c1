import { ArrowUp, CornerDownRight, FileText, Paperclip, Square, X } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from 'react'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { Spinner } from '@/ui/Spinner'
import type { useUploads } from './uploads'

interface Props {
  draft: string
  setDraft: (text: string) => void
  running: boolean
  busy: boolean
  uploads: ReturnType<typeof useUploads>
  onSend: () => void
  onStop: () => void
  onEditLast: () => void
  field: RefObject<HTMLTextAreaElement | null>
  below?: ReactNode
}

/** Where questions are written. While an answer is made, what is sent is said to the turn at work. */
export function Composer({ draft, setDraft, running, busy, uploads, onSend, onStop, onEditLast, field, below }: Props) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const [stopping, setStopping] = useState(false)
  useEffect(() => {
    if (!running) setStopping(false)
  }, [running])
  useLayoutEffect(() => {
    const box = field.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, 240)}px`
  }, [draft, field])
  const empty = !draft.trim() && !uploads.attached.length
  const onKey = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      if (!empty && !uploads.busy && !busy) onSend()
    } else if (event.key === 'Escape' && running) {
      setStopping(true)
      onStop()
    } else if (event.key === 'ArrowUp' && !draft) {
      event.preventDefault()
      onEditLast()
    }
  }
  return (
    <form
      className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!empty && !uploads.busy) onSend()
      }}
    >
      <div className="rounded-2xl border border-line-strong/60 bg-panel shadow-card focus-within:border-accent-text">
        {uploads.attached.length > 0 && (
          <ul aria-label={t('chat.attachments')} className="flex flex-wrap gap-2 px-3 pt-3">
            {uploads.attached.map((one) => (
              <li key={one.id} className="relative flex items-center gap-1.5 overflow-hidden rounded-lg border border-line bg-sunken py-1 pr-1 pl-2 text-[13px]">
                {one.file ? <FileText size={14} aria-hidden className="text-mute" /> : <Spinner size={14} />}
                <span className="max-w-44 truncate">{one.name}</span>
                <IconButton size="sm" className="size-6!" label={t('common.remove_named', { name: one.name })} icon={<X size={13} />} onClick={() => uploads.remove(one.id)} />
                {!one.file && <span className="absolute bottom-0 left-0 h-0.5 bg-accent" style={{ width: `${one.done * 100}%` }} />}
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={field}
          rows={1}
          aria-label={t(running ? 'chat.say_more' : 'chat.message')}
          placeholder={t(running ? 'chat.say_more' : 'chat.message_hint')}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKey}
          onPaste={(event) => {
            if (event.clipboardData.files.length && !running) {
              event.preventDefault()
              uploads.add(event.clipboardData.files)
            }
          }}
          className="block max-h-60 w-full resize-none bg-transparent px-4 pt-3 pb-1 outline-none placeholder:text-mute focus-visible:outline-none"
        />
        <div className="flex items-center gap-1 px-2 pb-2">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={t('chat.attach')}
            onChange={(event) => {
              uploads.add(event.target.files ?? [])
              event.target.value = ''
            }}
          />
          <IconButton label={t('chat.attach')} size="sm" className="size-8!" disabled={running} icon={<Paperclip size={16} />} onClick={() => picker.current?.click()} />
          <div className="flex min-w-0 flex-1 items-center gap-1">{below}</div>
          {running && (
            <IconButton
              label={t('chat.stop')}
              size="sm"
              look="secondary"
              className="size-8! rounded-full!"
              busy={stopping}
              icon={<Square size={12} fill="currentColor" />}
              onClick={() => {
                setStopping(true)
                onStop()
              }}
            />
          )}
          {(!running || !empty) && (
            <IconButton type="submit" label={t(running ? 'chat.say_more' : 'chat.send')} size="sm" look="primary" className="size-8! rounded-full!" disabled={empty || uploads.busy} busy={busy} icon={running ? <CornerDownRight size={16} /> : <ArrowUp size={17} />} />
          )}
        </div>
      </div>
    </form>
  )
}
