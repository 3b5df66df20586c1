import { Ban, Check, CircleHelp, Clock, MinusCircle, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { duration, text, useT } from '@/i18n/t'
import { choosePass, useRun } from '@/runs/store'
import { Spinner } from '@/ui/Spinner'

const ICONS: Record<string, ReactNode> = {
  succeeded: <Check size={13} aria-hidden className="text-ok" />,
  failed: <X size={13} aria-hidden className="text-danger" />,
  unknown: <CircleHelp size={13} aria-hidden className="text-danger" />,
  skipped: <MinusCircle size={13} aria-hidden className="text-mute" />,
  cancelled: <Ban size={13} aria-hidden className="text-mute" />,
  suspended: <Clock size={13} aria-hidden className="text-warn" />,
  running: <Spinner size={13} className="text-info" />,
}

/** How a node fares in the run that is shown: an icon, its time, and tokens while they come. */
export function NodeStatus({ id }: { id: string }) {
  useT()
  const node = useRun((state) => state.shown[id])
  if (!node || node.status === 'pending' || node.status === 'not_reached') return null
  const time = node.elapsed === null ? '' : duration(node.elapsed)
  const label = text(`common.status_${node.status}`) ?? node.status
  return (
    <span role="img" aria-label={[label, time].filter(Boolean).join(', ')} title={node.reason ?? label} className="flex shrink-0 items-center gap-1 text-[11px] text-mute tabular-nums">
      {node.tokens ? <span className="text-info">{node.tokens}&thinsp;t</span> : time}
      {ICONS[node.status]}
    </span>
  )
}

/** Which item or round of a container its inner nodes show. */
export function PassPicker({ id }: { id: string }) {
  const t = useT()
  const passes = useRun((state) => state.passes[id])
  if (!passes?.count) return null
  return (
    // Looking at another pass must not choose the container: what is chosen shows that pass.
    <span role="presentation" className="nodrag flex items-center gap-1 text-[11px] text-mute" onClick={(event) => event.stopPropagation()}>
      <button type="button" className="rounded px-1 hover:bg-sunken disabled:opacity-40" aria-label={t('editor.pass_before')} disabled={passes.chosen <= 0} onClick={() => choosePass(id, passes.chosen - 1)}>
        ‹
      </button>
      <span className="tabular-nums" aria-label={t('editor.pass_of', { n: passes.chosen + 1, all: passes.count })}>
        {passes.chosen + 1}/{passes.count}
      </span>
      <button type="button" className="rounded px-1 hover:bg-sunken disabled:opacity-40" aria-label={t('editor.pass_after')} disabled={passes.chosen >= passes.count - 1} onClick={() => choosePass(id, passes.chosen + 1)}>
        ›
      </button>
    </span>
  )
}
