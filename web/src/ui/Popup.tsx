import { Popover } from 'radix-ui'
import type { ReactNode } from 'react'

interface Props {
  trigger: ReactNode
  children: ReactNode
  open?: boolean
  onOpenChange?: (open: boolean) => void
  align?: 'start' | 'center' | 'end'
  label: string
}

export function Popup({ trigger, children, align = 'start', label, ...rest }: Props) {
  return (
    <Popover.Root {...rest}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content aria-label={label} align={align} sideOffset={6} collisionPadding={8} className="z-50 rounded-lg border border-line bg-raised shadow-card">
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
