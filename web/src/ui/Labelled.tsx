import { useId, type ReactNode } from 'react'
import { cx } from './cx'
import { Help } from './Help'

export interface Ids {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: true
}

interface Props {
  label: ReactNode
  help?: ReactNode
  error?: ReactNode
  required?: boolean
  aside?: ReactNode
  className?: string
  children: (ids: Ids) => ReactNode
}

/** A label, its control, help and error, tied together for those who do not see them. */
export function Labelled({ label, help, error, required, aside, className, children }: Props) {
  const id = useId()
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={cx('flex min-w-0 flex-col gap-1', className)}>
      <div className="flex min-h-5 items-center justify-between gap-2">
        <label htmlFor={id} className="text-[13px] font-medium">
          {label}
          {required && <span aria-hidden className="text-danger"> *</span>}
        </label>
        {aside}
      </div>
      {children({ id, ...(described ? { 'aria-describedby': described } : {}), ...(error ? { 'aria-invalid': true } : {}) })}
      {help && (
        <p id={`${id}-help`} className="text-xs text-mute">
          <Help of={help} />
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-xs text-danger">
          {error}
        </p>
      )}
    </div>
  )
}
