import { useId, type ReactNode } from 'react'
import { Help } from '@/ui/Help'

/** Several controls under one heading. */
export function Group({ label, help, error, aside, required, children }: { label: ReactNode; help?: ReactNode; error?: ReactNode; aside?: ReactNode; required?: boolean; children: ReactNode }) {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id} className="flex min-w-0 flex-col gap-1.5">
      <div className="flex min-h-5 items-center justify-between gap-2">
        <span className="text-[13px] font-medium">
          <span id={id}>{label}</span>
          {required && <span aria-hidden className="text-danger"> *</span>}
        </span>
        {aside}
      </div>
      {help && <p className="text-xs text-mute"><Help of={help} /></p>}
      {children}
      {error && (
        <p role="alert" className="text-xs text-danger">
          {error}
        </p>
      )}
    </div>
  )
}
