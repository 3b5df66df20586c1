import type { ReactNode } from 'react'
import { Card } from '@/ui/Page'

/** A part of a settings page; `bare` for what brings a frame of its own. */
export function Section({ title, action, bare, children }: { title: string; action?: ReactNode; bare?: boolean; children: ReactNode }) {
  const head = (
    <header className="mb-3 flex min-h-7 items-center justify-between gap-2">
      <h2 className="font-semibold">{title}</h2>
      {action}
    </header>
  )
  if (bare) {
    return (
      <section>
        {head}
        {children}
      </section>
    )
  }
  return (
    <Card className="p-4">
      {head}
      {children}
    </Card>
  )
}
