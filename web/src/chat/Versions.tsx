import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { ChatMessage } from '@/api/chat'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'

/** Which version of a message is shown, and the way to the others. */
export function Versions({ message, versions, onChoose }: { message: ChatMessage; versions: ChatMessage[]; onChoose: (message: ChatMessage) => void }) {
  const t = useT()
  const at = versions.findIndex((one) => one.id === message.id)
  if (versions.length < 2) return null
  return (
    <span role="group" aria-label={t('chat.versions')} className="inline-flex items-center text-xs text-mute tabular-nums">
      <IconButton size="sm" label={t('chat.version_before')} icon={<ChevronLeft size={14} />} disabled={at <= 0} onClick={() => onChoose(versions[at - 1]!)} />
      {at + 1}/{versions.length}
      <IconButton size="sm" label={t('chat.version_after')} icon={<ChevronRight size={14} />} disabled={at >= versions.length - 1} onClick={() => onChoose(versions[at + 1]!)} />
    </span>
  )
}
