import { useEffect } from 'react'
import { create } from 'zustand'
import type { ReactNode } from 'react'

export interface Command {
  id: string
  label: string
  group?: string
  icon?: ReactNode
  keys?: string
  /** More words it is found by. */
  words?: string
  run: () => void
}

interface State {
  open: boolean
  /** The commands of the pages that are open, by who offers them. */
  offered: Record<string, Command[]>
}

export const useCommands = create<State>(() => ({ open: false, offered: {} }))

/** Offers commands in the palette while the component is there. */
export function useOffer(who: string, commands: Command[]): void {
  useEffect(() => {
    useCommands.setState(({ offered }) => ({ offered: { ...offered, [who]: commands } }))
    return () => {
      useCommands.setState(({ offered }) => {
        const { [who]: _, ...rest } = offered
        return { offered: rest }
      })
    }
  }, [who, commands])
}

/** Ctrl+K opens and closes the palette, wherever the focus is. */
export function usePaletteKey(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      useCommands.setState((state) => ({ open: !state.open }))
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
