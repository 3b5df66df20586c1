import type { ChatMessage } from '@/api/chat'

/** The messages from the first one to `head`, in order. */
export function pathTo(messages: ChatMessage[], head: string | null): ChatMessage[] {
  const known = new Map(messages.map((message) => [message.id, message]))
  const path: ChatMessage[] = []
  for (let at = head ? known.get(head) : undefined; at; at = at.parent_id ? known.get(at.parent_id) : undefined) path.unshift(at)
  return path
}

/** Where a conversation stands if it goes on at a message: the newest end of its branch. */
export function endOf(messages: ChatMessage[], message: ChatMessage): ChatMessage {
  let at = message
  for (;;) {
    const next = messages.filter((one) => one.parent_id === at.id).at(-1)
    if (!next) return at
    at = next
  }
}

/** The versions of a message: what stands at the same place, in the order in which it came. */
export const versionsOf = (messages: ChatMessage[], message: ChatMessage): ChatMessage[] =>
  messages.filter((one) => one.parent_id === message.parent_id && one.role === message.role)
