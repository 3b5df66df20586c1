import type { ChatMessage } from '@/api/chat'
import { useT } from '@/i18n/t'
import { Answer } from './Answer'
import { useLive } from './follow'
import { Question } from './Question'
import { endOf, versionsOf } from './tree'

interface Props {
  messages: ChatMessage[]
  path: ChatMessage[]
  name: string
  editing: string | null
  setEditing: (id: string | null) => void
  onEdit: (message: ChatMessage, text: string) => void
  onAgain: (message: ChatMessage) => void
  onStand: (head: string) => void
}

/** The messages of the branch where a conversation stands, and what those hear who do not see them. */
export function Messages({ messages, path, name, editing, setEditing, onEdit, onAgain, onStand }: Props) {
  const choose = (message: ChatMessage) => onStand(endOf(messages, message).id)
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-5 px-4 py-6">
      {path.map((message) =>
        message.role === 'user' ? (
          <Question key={message.id} message={message} versions={versionsOf(messages, message)} editing={editing === message.id} setEditing={(on) => setEditing(on ? message.id : null)} onEdit={onEdit} onChoose={choose} />
        ) : (
          <Answer key={message.id} message={message} versions={versionsOf(messages, message)} last={message === path.at(-1)} name={name} onAgain={onAgain} onChoose={choose} />
        ),
      )}
      <Spoken message={path.at(-1)} name={name} />
    </div>
  )
}

function Spoken({ message, name }: { message: ChatMessage | undefined; name: string }) {
  const t = useT()
  const waiting = useLive((state) => (message ? (state.turns[message.id]?.waiting ?? false) : false))
  if (message?.role !== 'assistant') return null
  const said = waiting ? t('chat.live_waiting', { name }) : message.status === 'running' ? t('chat.live_running', { name }) : message.status === 'failed' ? t('chat.live_failed', { name }) : t('chat.live_done', { name, text: message.content.slice(0, 400) })
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {said}
    </p>
  )
}
