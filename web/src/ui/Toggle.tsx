import { Switch } from 'radix-ui'

interface Props {
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  id?: string
  'aria-label'?: string
  'aria-describedby'?: string
}

export function Toggle({ checked, onChange, ...rest }: Props) {
  return (
    <Switch.Root {...rest} checked={checked} onCheckedChange={onChange} className="relative h-6 w-10 shrink-0 rounded-full border border-line-strong bg-sunken transition-colors data-[state=checked]:border-transparent data-[state=checked]:bg-accent disabled:opacity-60">
      <Switch.Thumb className="block size-4 translate-x-[3px] rounded-full bg-line-strong transition-transform data-[state=checked]:translate-x-[19px] data-[state=checked]:bg-on-accent" />
    </Switch.Root>
  )
}
