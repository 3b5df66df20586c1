import { ContextMenu, DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { Keys } from './Keys'

export type MenuEntry =
  | { label: string; icon?: ReactNode; keys?: string; danger?: boolean; disabled?: boolean; checked?: boolean; onSelect: () => void }
  | { entries: MenuEntry[]; label: string; icon?: ReactNode; disabled?: boolean }
  | 'line'

export const MENU_BOX = 'z-50 max-h-[70vh] min-w-52 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-card'
const ITEM =
  'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-[13px] outline-none data-disabled:opacity-50 data-highlighted:bg-accent-soft'

export function menuEntries(parts: typeof DropdownMenu | typeof ContextMenu, list: MenuEntry[]): ReactNode {
  return list.map((entry, index) => {
    // oxlint-disable-next-line react/no-array-index-key -- lines have nothing else
    if (entry === 'line') return <parts.Separator key={index} className="my-1 h-px bg-line" />
    if ('entries' in entry) {
      return (
        <parts.Sub key={entry.label}>
          <parts.SubTrigger disabled={entry.disabled ?? false} className={ITEM}>
            <span className="flex w-4 justify-center text-mute">{entry.icon}</span>
            <span className="flex-1">{entry.label}</span>›
          </parts.SubTrigger>
          <parts.Portal>
            <parts.SubContent className={MENU_BOX}>{menuEntries(parts, entry.entries)}</parts.SubContent>
          </parts.Portal>
        </parts.Sub>
      )
    }
    return (
      <parts.Item key={entry.label} disabled={entry.disabled ?? false} onSelect={entry.onSelect} className={`${ITEM} ${entry.danger ? 'text-danger' : ''}`}>
        <span className="flex w-4 justify-center text-mute">{entry.checked ? '✓' : entry.icon}</span>
        <span className="flex-1">{entry.label}</span>
        {entry.keys && <Keys keys={entry.keys} />}
      </parts.Item>
    )
  })
}

export function Menu({ trigger, items, align = 'end' }: { trigger: ReactNode; items: MenuEntry[]; align?: 'start' | 'end' }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} collisionPadding={8} className={MENU_BOX}>
          {menuEntries(DropdownMenu, items)}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** The menu of a right click, or of the menu key, over its children. */
export function RightClick({ items, children }: { items: () => MenuEntry[]; children: ReactNode }) {
  return (
    <ContextMenu.Root>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content collisionPadding={8} className={MENU_BOX}>
          <Lazy items={items} />
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  )
}

const Lazy = ({ items }: { items: () => MenuEntry[] }) => <>{menuEntries(ContextMenu, items())}</>
