import type { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import type { ChatMessage, Conversation } from '@/api/chat'
import { send } from '@/api/client'
import { follow } from '@/api/events'
import type { RunEvent } from '@/api/runs'
import { fold, NOTHING, type TurnState } from './turn'

interface Live {
  turns: Record<string, TurnState>
  /** Answers whose stream broke off and is being resumed. */
  broken: Record<string, boolean>
}

export const useLive = create<Live>(() => ({ turns: {}, broken: {} }))
const followed = new Map<string, AbortController>()

/** Puts an answer in the place of what the conversation held of it. */
export function keep(client: QueryClient, session: string, message: ChatMessage): void {
  client.setQueryData<Conversation>(['conversation', session], (known) =>
    known && { ...known, messages: known.messages.map((one) => (one.id === message.id ? message : one)) },
  )
}

/** Follows an answer that is being made, once, until it is finished; the pieces of one moment are shown together. */
export function followTurn(client: QueryClient, session: string, answer: string): void {
  if (followed.has(answer)) return
  const control = new AbortController()
  followed.set(answer, control)
  // A stream begins with the first event again: what an earlier one said of the answer is not added to.
  let state = NOTHING
  let waiting: RunEvent[] = []
  let planned = false
  const show = () => {
    planned = false
    state = waiting.reduce(fold, state)
    waiting = []
    useLive.setState(({ turns }) => ({ turns: { ...turns, [answer]: state } }))
  }
  void follow(`/api/v1/sessions/${session}/events?message=${encodeURIComponent(answer)}`, {
    signal: control.signal,
    isLast: (event) => event.type === 'message',
    onState: (connected) => useLive.setState(({ broken }) => ({ broken: { ...broken, [answer]: !connected } })),
    onEvent: (event) => {
      if (event.type === 'message') {
        show()
        keep(client, session, event.data as ChatMessage)
        useLive.setState(({ broken }) => ({ broken: { ...broken, [answer]: false } }))
        return
      }
      waiting.push(event.data as RunEvent)
      if (!planned) {
        planned = true
        setTimeout(show, 40)
      }
    },
  })
    .catch(() => undefined) // the session was removed meanwhile
    .finally(() => {
      followed.delete(answer)
      void client.invalidateQueries({ queryKey: ['conversation', session] })
      void client.invalidateQueries({ queryKey: ['sessions'] })
      // A better title comes a moment after the answer.
      setTimeout(() => void client.invalidateQueries({ queryKey: ['sessions'] }), 2_500)
    })
}

/** Ends following the answers of a session that goes away. */
export function forget(answers: string[]): void {
  for (const answer of answers) followed.get(answer)?.abort()
}

/** How an answer of the past was made. */
export async function readTurn(run: string): Promise<TurnState> {
  let state = NOTHING
  for (let after = 0; ; ) {
    // oxlint-disable-next-line no-await-in-loop -- pages follow each other
    const page = (await (await send(`/api/v1/runs/${run}/events?after=${after}&limit=1000`, { headers: { accept: 'application/json' } })).json()) as { items: RunEvent[] }
    state = page.items.reduce(fold, state)
    if (page.items.length < 1000) return state
    after = page.items.at(-1)!.seq
  }
}
