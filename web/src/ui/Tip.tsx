import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'

export function Tip({ text, side = 'bottom', children }: { text: ReactNode; side?: 'top' | 'right' | 'bottom' | 'left' | undefined; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content side={side} sideOffset={6} collisionPadding={8} className="z-50 max-w-72 rounded-md bg-fg px-2 py-1 text-xs text-bg shadow-card">
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
