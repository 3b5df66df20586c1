/** A line of states that one can go back and forth on. Changes of one group within a moment are one step. */
export interface History<T> {
  past: T[]
  present: T
  future: T[]
  /** What the last change belongs to, and when it was made. */
  group: string | null
  at: number
}

const LONGEST = 200
const MOMENT = 1_500

export const begin = <T>(present: T): History<T> => ({ past: [], present, future: [], group: null, at: 0 })

export function change<T>(history: History<T>, present: T, group: string | null, now: number): History<T> {
  if (Object.is(present, history.present)) return history
  const joined = group !== null && group === history.group && now - history.at < MOMENT
  const past = joined ? history.past : [...history.past, history.present].slice(-LONGEST)
  return { past, present, future: [], group, at: now }
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1)
  if (before === undefined) return history
  return { past: history.past.slice(0, -1), present: before, future: [history.present, ...history.future], group: null, at: 0 }
}

export function redo<T>(history: History<T>): History<T> {
  const [after, ...future] = history.future
  if (after === undefined) return history
  return { past: [...history.past, history.present], present: after, future, group: null, at: 0 }
}
