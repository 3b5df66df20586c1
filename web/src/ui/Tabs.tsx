import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './cx'

interface Tab {
  id: string
  label: ReactNode
  content: ReactNode
}

export function Tabs({ tabs, value, onChange, label, className }: { tabs: Tab[]; value: string; onChange: (id: string) => void; label: string; className?: string }) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className={cx('flex min-h-0 flex-col', className)}>
      <Radix.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto overflow-y-hidden border-b border-line px-2">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px h-9 border-b-2 border-transparent px-2 text-[13px] font-medium whitespace-nowrap text-mute hover:text-fg focus-visible:-outline-offset-2 data-[state=active]:border-accent-text data-[state=active]:text-fg"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
