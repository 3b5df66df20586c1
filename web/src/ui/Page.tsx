import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { cx } from './cx'

interface Props {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
  /** Pages that fill the window and scroll within. */
  full?: boolean
}

/** A page: its title, what it is for, its actions, and the content. */
export function Page({ title, lead, actions, children, full }: Props) {
  useEffect(() => {
    document.title = `${title} · Interlace`
  }, [title])
  return (
    <div className={cx('mx-auto flex w-full flex-col px-4 py-5 sm:px-6', full ? 'h-full min-h-0' : 'max-w-6xl')}>
      <header className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {lead && <p className="mt-0.5 max-w-2xl text-mute">{lead}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function Empty({ icon, title, children, actions }: { icon?: ReactNode; title: string; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-xl border border-dashed border-line-strong/50 px-6 py-12 text-center">
      {icon && <div className="mb-1 rounded-full bg-accent-soft p-3 text-accent-text">{icon}</div>}
      <h2 className="font-semibold">{title}</h2>
      {children && <p className="max-w-md text-mute">{children}</p>}
      {actions && <div className="mt-3 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  )
}

export const Card = ({ children, className }: { children: ReactNode; className?: string }) => (
  <section className={cx('rounded-xl border border-line bg-panel shadow-card', className)}>{children}</section>
)
