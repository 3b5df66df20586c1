import { Fragment, type ReactNode } from 'react'

/** A text whose `names in backticks` are shown as code; whatever else stays as it is. */
export function Help({ of }: { of: ReactNode }) {
  if (typeof of !== 'string') return of
  return of.split('`').map((part, index) =>
    // oxlint-disable-next-line react/no-array-index-key -- the parts of one text never change places
    index % 2 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
  )
}
