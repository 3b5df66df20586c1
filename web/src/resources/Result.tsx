import type { ReactNode } from 'react'
import { cx } from '@/ui/cx'

/** What a call gave, as it is. */
export function Result({ label, value, aside, danger }: { label: string; value: unknown; aside?: ReactNode; danger?: boolean }) {
  return (
    <section aria-label={label} className="min-w-0">
      <header className="mb-1 flex items-center justify-between gap-2 text-xs text-mute">
        <h3 className="font-medium">{label}</h3>
        {aside}
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className={cx('max-h-96 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs whitespace-pre-wrap break-words', danger && 'text-danger')}>
        {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
      </pre>
    </section>
  )
}
