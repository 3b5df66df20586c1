import { Command } from 'cmdk'
import { Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'

export interface Choosable {
  id: string
  label: string
  words?: string
  help?: string
  icon?: ReactNode
}

/** A dialog in which one thing of many is found by typing. */
export function Choose({ title, hint, groups, empty, onChoose, onClose }: { title: string; hint: string; groups: [string, Choosable[]][]; empty: string; onChoose: (id: string) => void; onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/30" />
        <Dialog.Content aria-describedby={undefined} className="fixed top-[14vh] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-card">
          <Dialog.Title className="px-4 pt-3 text-[13px] font-medium text-mute">{title}</Dialog.Title>
          <Command label={title}>
            <div className="flex items-center gap-2 border-b border-line px-4">
              <Search size={16} aria-hidden className="text-mute" />
              <Command.Input autoFocus placeholder={hint} className="h-11 flex-1 bg-transparent outline-none placeholder:text-mute" />
            </div>
            <Command.List className="max-h-[50vh] overflow-y-auto p-1.5 [&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-mute">
              <Command.Empty className="p-6 text-center text-mute">{empty}</Command.Empty>
              {groups.map(([group, entries]) => (
                <Command.Group key={group} heading={group}>
                  {entries.map((entry) => (
                    <Command.Item key={entry.id} value={`${entry.label} ${entry.words ?? ''} ${entry.id}`} onSelect={() => onChoose(entry.id)} className="flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-1.5 data-[selected=true]:bg-accent-soft">
                      {entry.icon}
                      <span className="min-w-0 flex-1">
                        <span className="block truncate">{entry.label}</span>
                        {entry.help && <span className="block truncate text-xs text-mute">{entry.help}</span>}
                      </span>
                    </Command.Item>
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
