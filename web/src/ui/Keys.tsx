const APPLE = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

export const shown = (keys: string): string =>
  APPLE ? keys.replace('Ctrl', '⌘').replace('Shift', '⇧').replace('Alt', '⌥').replaceAll('+', '') : keys

export const Keys = ({ keys }: { keys: string }) => (
  <kbd className="rounded border border-line bg-sunken px-1 font-sans text-[11px] text-mute">{shown(keys)}</kbd>
)
