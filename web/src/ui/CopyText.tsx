import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { IconButton } from './Button'
import { cx } from './cx'
import { failed } from './toasts'

export async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  // Plain HTTP beyond loopback has no clipboard of its own.
  const area = Object.assign(document.createElement('textarea'), { value: text })
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A button that copies a text. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useT()
  const [copied, setCopied] = useState(false)
  const copy = () =>
    toClipboard(text).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), 1_500)
      },
      (error: unknown) => failed(t('common.copy'), error),
    )
  return <IconButton size="sm" label={copied ? t('common.copied') : (label ?? t('common.copy'))} icon={copied ? <Check size={14} className="text-ok" /> : <Copy size={14} />} onClick={() => void copy()} />
}

/** A text for programs, such as an address or a key, with a button to copy it. */
export function CopyText({ text, block, label }: { text: string; block?: boolean; label?: string }) {
  return (
    <div className={cx('flex min-w-0 items-start gap-1 rounded-lg border border-line bg-sunken py-1 pr-1 pl-2.5', block && 'w-full')}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} aria-label={label} role="group" className={cx('min-w-0 flex-1 overflow-x-auto py-1 font-mono text-[12.5px]', block ? 'whitespace-pre' : 'break-all whitespace-pre-wrap')}>
        {text}
      </pre>
      <CopyButton text={text} {...(label ? { label } : {})} />
    </div>
  )
}
