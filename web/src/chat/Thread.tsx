import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, Upload } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { answerAgain, ask, changeSession, editQuestion, newSession, readConversation, sayMore, stopTurn, type ChatMessage, type Turn } from '@/api/chat'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { Loading } from '@/ui/Spinner'
import { failed, inform } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { AgentPicker, useAgentName } from './AgentPicker'
import { Composer } from './Composer'
import { followTurn, keep } from './follow'
import { Messages } from './Messages'
import { useSticky } from './sticky'
import { pathTo } from './tree'
import { useUploads } from './uploads'
import { Welcome } from './Welcome'

/** Plain HTTP beyond loopback has no `crypto.randomUUID`. */
const randomKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

interface Props {
  session: string | null
  /** With whom a session that is not there yet talks. */
  agent: string | null
  onBegun: (session: string) => void
  /** A question that is asked at once. */
  first?: string
  /** Not given: the agent stays. */
  onAgent?: (agent: string | null) => void
}

/** A conversation with its composer; without a session it begins one with the first question. */
export function Thread({ session, agent, first, onBegun, onAgent }: Props) {
  const t = useT()
  const client = useQueryClient()
  const [draft, setDraft] = useState('')
  const [busy, setBusy] = useState(false)
  const [over, setOver] = useState(false)
  const [editing, setEditing] = useState<string | null>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  /** A question whose answer did not come: sent again it is the same one, in the same session. */
  const sending = useRef<{ about: string; key: string; session: string | null } | null>(null)
  const uploads = useUploads()
  const conversation = useQuery({ queryKey: ['conversation', session], queryFn: () => readConversation(session!), enabled: session !== null })
  const who = conversation.data ? conversation.data.agent_id : agent
  const name = useAgentName(who)
  const messages = conversation.data?.messages ?? []
  const path = pathTo(messages, conversation.data?.head ?? null)
  const current = path.at(-1)
  const running = current?.status === 'running'
  const { box, content, pinned, toEnd } = useSticky(session)

  useEffect(() => {
    if (session && current && current.status === 'running') followTurn(client, session, current.id)
  }, [client, session, current])
  useEffect(() => {
    // Beside something else it does not take the focus.
    if (onAgent) field.current?.focus({ preventScroll: true })
    // oxlint-disable-next-line react/exhaustive-deps -- when another session is opened, not when the page draws again
  }, [session])

  const trying = useCallback(
    async (work: () => Promise<void>) => {
      setBusy(true)
      try {
        await work()
        return true
      } catch (error) {
        failed(t('chat.failed'), error)
        if (session) await client.invalidateQueries({ queryKey: ['conversation', session] })
        return false
      } finally {
        setBusy(false)
      }
    },
    [client, session, t],
  )
  const shown = useCallback(
    async (turn: Turn) => {
      followTurn(client, turn.session, turn.answer)
      await client.invalidateQueries({ queryKey: ['conversation', turn.session] })
      toEnd()
    },
    [client, toEnd],
  )
  const submit = (words = draft) =>
    trying(async () => {
      if (running && session) {
        await sayMore(session, words.trim())
        setDraft('')
        return inform(t('chat.said'))
      }
      const files = uploads.attached.flatMap((one) => (one.file ? [one.file.ref] : []))
      const about = JSON.stringify([session, agent, words.trim(), files])
      if (sending.current?.about !== about) sending.current = { about, key: randomKey(), session }
      const now = sending.current
      now.session ??= (await newSession(agent)).id
      const at = now.session
      const turn = await ask(at, words.trim(), files, now.key)
      sending.current = null
      setDraft('')
      uploads.clear()
      await client.fetchQuery({ queryKey: ['conversation', at], queryFn: () => readConversation(at) })
      void client.invalidateQueries({ queryKey: ['sessions'] })
      if (!session) onBegun(at)
      await shown(turn)
    })
  const begun = useRef(false)
  useEffect(() => {
    if (!first || begun.current) return
    begun.current = true
    void submit(first)
  })
  const stop = () => void trying(async () => session ? keep(client, session, await stopTurn(session)) : undefined)
  const again = useCallback((message: ChatMessage) => void trying(async () => shown(await answerAgain(session!, message.id))), [session, shown, trying])
  const edit = useCallback((message: ChatMessage, words: string) => void trying(async () => shown(await editQuestion(session!, message.id, words))), [session, shown, trying])
  const stand = useCallback(
    (head: string) =>
      void trying(async () => {
        await changeSession(session!, { head })
        await client.invalidateQueries({ queryKey: ['conversation', session] })
      }),
    [client, session, trying],
  )
  const editLast = () => setEditing(path.findLast((message) => message.role === 'user')?.id ?? null)

  return (
    <div
      className="relative flex h-full min-h-0 min-w-0 flex-1 flex-col"
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files') || running) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (!running) uploads.add(event.dataTransfer.files)
      }}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div ref={box} tabIndex={0} role="region" aria-label={t('chat.conversation')} className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
        <div ref={content} className={path.length ? '' : 'h-full'}>
          {conversation.error ? (
            <div className="mx-auto max-w-xl p-6">
              <Trouble error={conversation.error} retry={() => void conversation.refetch()} />
            </div>
          ) : session && !conversation.data ? (
            <Loading label={t('common.loading')} />
          ) : path.length ? (
            <Messages messages={messages} path={path} name={name} editing={editing} setEditing={setEditing} onEdit={edit} onAgain={again} onStand={stand} />
          ) : (
            <Welcome name={name} compact={!onAgent} onPick={(words) => void submit(words)} />
          )}
        </div>
      </div>
      {!pinned && path.length > 0 && (
        <div className="pointer-events-none absolute inset-x-0 bottom-28 flex justify-center">
          <IconButton look="secondary" className="pointer-events-auto rounded-full! shadow-card" label={t('chat.to_end')} icon={<ArrowDown size={16} />} onClick={toEnd} />
        </div>
      )}
      {over && (
        <div className="pointer-events-none absolute inset-3 z-10 flex flex-col items-center justify-center gap-2 rounded-2xl border-2 border-dashed border-accent-text bg-accent-soft/95 font-medium text-accent-text">
          <Upload size={26} aria-hidden /> {t('chat.drop')}
        </div>
      )}
      <Composer
        draft={draft}
        setDraft={setDraft}
        running={running}
        busy={busy}
        uploads={uploads}
        onSend={() => void submit()}
        onStop={stop}
        onEditLast={editLast}
        field={field}
        below={onAgent && <AgentPicker agent={who} begun={session !== null} onChoose={onAgent} />}
      />
    </div>
  )
}
