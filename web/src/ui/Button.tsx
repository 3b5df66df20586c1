import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { cx } from './cx'
import { Spinner } from './Spinner'
import { Tip } from './Tip'

type Look = 'primary' | 'secondary' | 'ghost' | 'danger'

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border-transparent',
  secondary: 'bg-panel text-fg border-line hover:bg-sunken',
  ghost: 'bg-transparent text-fg border-transparent hover:bg-sunken',
  danger: 'bg-danger-soft text-danger border-transparent hover:brightness-95 dark:hover:brightness-125',
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look
  size?: 'sm' | 'md'
  icon?: ReactNode
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({ look = 'secondary', size = 'md', icon, busy, children, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      className={cx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors select-none disabled:opacity-55',
        size === 'sm' ? 'h-7 px-2 text-[13px]' : 'h-9 px-3 text-sm',
        LOOKS[look],
        className,
      )}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  label: string
  side?: 'top' | 'right' | 'bottom' | 'left'
}

/** A button that is only an icon; its label is shown as a tip and read to those who do not see it. */
export function IconButton({ label, icon, look = 'ghost', size = 'md', side, className, ...rest }: IconButtonProps) {
  return (
    <Tip text={label} side={side}>
      <Button {...rest} look={look} size={size} icon={icon} aria-label={label} className={cx(size === 'sm' ? 'w-7 px-0!' : 'w-9 px-0!', className)} />
    </Tip>
  )
}
