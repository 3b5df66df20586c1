import { useState } from 'react'

/** Work that is done at a press of a button: whether it is being done, and why it failed. */
export function useTrying() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const trying = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true)
    setError(null)
    try {
      await work()
      return true
    } catch (problem) {
      setError(problem)
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, trying, setError }
}
