import type { ReactNode } from 'react'
import { cx } from './cx'

/** Names and values side by side; what is empty is left out. */
export function Facts({ facts, className }: { facts: [label: string, value: ReactNode][]; className?: string }) {
  return (
    <dl className={cx('grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-[13px]', className)}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-mute">{label}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
