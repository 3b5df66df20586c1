import { failed } from '@/ui/toasts'

/** Does something on a click, and says in a corner why it failed if it did. */
export async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    failed(what, error)
  }
}
