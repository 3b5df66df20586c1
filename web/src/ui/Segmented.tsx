import { ToggleGroup } from 'radix-ui'
import type { ReactNode } from 'react'

interface Props<V extends string> {
  value: V
  onChange: (value: V) => void
  label: string
  options: { value: V; label: ReactNode; title?: string }[]
}

export function Segmented<V extends string>({ value, onChange, label, options }: Props<V>) {
  return (
    <ToggleGroup.Root type="single" value={value} onValueChange={(next) => next && onChange(next as V)} aria-label={label} className="inline-flex rounded-lg border border-line bg-sunken p-0.5">
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          {...(option.title ? { title: option.title, 'aria-label': option.title } : {})}
          className="flex h-7 min-w-7 items-center justify-center gap-1 rounded-md px-2 text-[13px] text-mute hover:text-fg data-[state=on]:bg-panel data-[state=on]:font-medium data-[state=on]:text-fg data-[state=on]:shadow-card"
        >
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
