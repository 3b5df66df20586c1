import * as L from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import { cx } from '@/ui/cx'

const ICONS: Record<string, LucideIcon> = {
  bot: L.Bot, box: L.Box, code: L.Code, database: L.Database, 'file-search': L.FileSearch, 'file-text': L.FileText, flag: L.Flag, globe: L.Globe,
  library: L.Library, 'list-filter': L.ListFilter, merge: L.Merge, 'message-circle-question': L.MessageCircleQuestion, play: L.Play, plug: L.Plug,
  'refresh-cw': L.RefreshCw, repeat: L.Repeat, 'scan-text': L.ScanText, shuffle: L.Shuffle, 'sliders-horizontal': L.SlidersHorizontal, sparkles: L.Sparkles,
  split: L.Split, tags: L.Tags, 'user-check': L.UserCheck, variable: L.Variable, workflow: L.Workflow, wrench: L.Wrench,
}

export const KindIcon = ({ icon, size = 16 }: { icon: string | undefined; size?: number }) => {
  const Icon = ICONS[icon ?? ''] ?? L.Box
  return <Icon size={size} aria-hidden />
}

/** The icon of a type on the colour of its group. */
export function KindChip({ icon, group, small }: { icon: string | undefined; group: string | undefined; small?: boolean }) {
  return (
    <span
      className={cx('flex shrink-0 items-center justify-center rounded-lg', small ? 'size-6' : 'size-8')}
      style={{ color: `var(--kind-${group ?? 'flow'})`, background: `color-mix(in srgb, var(--kind-${group ?? 'flow'}) 14%, transparent)` }}
    >
      <KindIcon icon={icon} size={small ? 14 : 17} />
    </span>
  )
}
