import { Check, ChevronDown } from 'lucide-react'
import { Select } from 'radix-ui'
import { cx } from './cx'
import { field } from './Input'

export interface Option {
  value: string
  label: string
  help?: string
}

interface Props {
  value: string | undefined
  options: Option[]
  onChange: (value: string) => void
  placeholder?: string
  disabled?: boolean
  className?: string
  id?: string
  'aria-label'?: string
  'aria-describedby'?: string
  'aria-invalid'?: true
}

/** One of several options. Radix knows no empty value, so '' stands as a key of its own. */
const EMPTY = ' '

export function Choice({ value, options, onChange, placeholder, disabled, className, ...rest }: Props) {
  return (
    <Select.Root value={value === '' ? EMPTY : (value ?? '')} onValueChange={(next) => onChange(next === EMPTY ? '' : next)} disabled={disabled ?? false}>
      <Select.Trigger {...rest} className={cx(field, 'flex h-9 items-center justify-between gap-2 text-left', className)}>
        <span className="truncate">
          <Select.Value placeholder={<span className="text-mute">{placeholder ?? '—'}</span>} />
        </span>
        <ChevronDown size={15} aria-hidden className="shrink-0 text-mute" />
      </Select.Trigger>
      <Select.Portal>
        <Select.Content position="popper" sideOffset={4} collisionPadding={8} className="z-50 max-h-80 min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-raised shadow-card">
          <Select.Viewport className="p-1">
            {options.map((option) => (
              <Select.Item key={option.value} value={option.value === '' ? EMPTY : option.value} className="flex cursor-default items-start gap-2 rounded-md px-2 py-1.5 outline-none data-highlighted:bg-accent-soft">
                <span className="mt-0.5 w-4 shrink-0">
                  <Select.ItemIndicator>
                    <Check size={15} aria-hidden />
                  </Select.ItemIndicator>
                </span>
                <span>
                  <Select.ItemText>{option.label}</Select.ItemText>
                  {option.help && <span className="block max-w-72 text-xs text-mute">{option.help}</span>}
                </span>
              </Select.Item>
            ))}
          </Select.Viewport>
        </Select.Content>
      </Select.Portal>
    </Select.Root>
  )
}
