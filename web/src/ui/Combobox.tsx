import { useId, useRef, useState } from 'react'
import { cx } from './cx'
import type { Option } from './Choice'
import { Input } from './Input'

interface Props {
  value: string
  options: Option[]
  onChange: (value: string) => void
  placeholder?: string
  id?: string
  'aria-describedby'?: string
  'aria-invalid'?: true
}

/** A text field that offers what is known; what is typed stands as it is. */
export function Combobox({ value, options, onChange, ...rest }: Props) {
  const list = useId()
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const box = useRef<HTMLDivElement>(null)
  const exact = options.some((option) => option.value === value)
  const wanted = value.toLowerCase()
  const shown = exact ? options : options.filter((option) => `${option.label} ${option.value}`.toLowerCase().includes(wanted))
  const choose = (option: Option) => {
    onChange(option.value)
    setOpen(false)
  }
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setActive((at) => (shown.length ? (at + step + shown.length) % shown.length : -1))
    } else if (event.key === 'Enter' && open && shown[active]) {
      event.preventDefault()
      choose(shown[active])
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation()
      setOpen(false)
    }
  }
  return (
    <div ref={box} className="relative" onBlur={(event) => !box.current?.contains(event.relatedTarget) && setOpen(false)}>
      <Input
        {...rest}
        role="combobox"
        aria-expanded={open && shown.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        {...(open && active >= 0 ? { 'aria-activedescendant': `${list}-${active}` } : {})}
        value={value}
        spellCheck={false}
        onFocus={() => setOpen(true)}
        onClick={() => setOpen(true)}
        onKeyDown={onKey}
        onChange={(event) => {
          onChange(event.target.value)
          setOpen(true)
          setActive(-1)
        }}
      />
      <div id={list} role="listbox" tabIndex={-1} hidden={!open || !shown.length} className="absolute top-full z-30 mt-1 max-h-60 w-full overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-card">
        {shown.map((option, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has the keys
          <div
            key={option.value}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={cx('cursor-default rounded-md px-2 py-1.5', index === active && 'bg-accent-soft')}
            onMouseDown={(event) => event.preventDefault()}
            onMouseEnter={() => setActive(index)}
            onClick={() => choose(option)}
          >
            {option.label}
            {option.help && <span className="block text-xs text-mute">{option.help}</span>}
          </div>
        ))}
      </div>
    </div>
  )
}
