import type { InputHTMLAttributes, Ref, TextareaHTMLAttributes } from 'react'
import { cx } from './cx'

export const field =
  'w-full rounded-lg border border-line-strong/60 bg-panel px-2.5 text-fg placeholder:text-mute/80 hover:border-line-strong focus:border-accent-text focus-visible:outline-1 focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-danger'

export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input type="text" autoComplete="off" {...rest} className={cx(field, 'h-9', className)} />
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> }) {
  return <textarea rows={3} {...rest} className={cx(field, 'min-h-9 py-1.5', className)} />
}
