import { Brain, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useT } from '@/i18n/t'
import { cx } from '@/ui/cx'

/** What a model thought before it spoke, folded. */
export function Reasoning({ text }: { text: string }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <div className="my-2">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex items-center gap-1.5 rounded text-[13px] text-mute hover:text-fg">
        <Brain size={14} aria-hidden /> {t('chat.reasoning')}
        <ChevronRight size={14} aria-hidden className={cx('transition-transform', open && 'rotate-90')} />
      </button>
      {open && <p className="mt-1 border-l-2 border-line pl-3 text-[13px] whitespace-pre-wrap text-mute">{text}</p>}
    </div>
  )
}
