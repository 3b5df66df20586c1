import { useEffect, useRef, type RefObject } from 'react'

const FIELDS = 'input, textarea, [contenteditable="true"], [role="combobox"], [role="switch"]'

/** After an entry was added, its first field gets the focus: `ask` before the change, `ref` at what holds the entries. */
export function useFocusOfNew(count: number): { ref: RefObject<HTMLDivElement | null>; ask: () => void } {
  const ref = useRef<HTMLDivElement>(null)
  const asked = useRef(false)
  useEffect(() => {
    if (!asked.current) return
    asked.current = false
    const entries = ref.current?.querySelectorAll<HTMLElement>(':scope > [role="group"]')
    const field = entries?.[entries.length - 1]?.querySelector<HTMLElement>(FIELDS)
    field?.focus()
    // What stands there is a stopgap (`name_1`): what is typed takes its place.
    if (field instanceof HTMLInputElement) field.select()
  }, [count])
  return {
    ref,
    ask: () => {
      asked.current = true
    },
  }
}
