import { BaseEdge, getBezierPath, type EdgeProps } from '@xyflow/react'
import { memo } from 'react'
import { useT } from '@/i18n/t'
import { useRun } from '@/runs/store'
import { cx } from '@/ui/cx'
import type { FlowEdge } from './flow'
import { handleOf } from './operations'
import { set } from './store'

/** An edge; in a run it shows whether it was taken. The plus in its middle puts a step onto it. */
export const StepEdge = memo(function StepEdge({ id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, selected }: EdgeProps<FlowEdge>) {
  const t = useT()
  const edge = data!.edge
  const handle = handleOf(edge)
  const state = useRun(({ shown }) => {
    const source = shown[edge.from]
    if (!source || source.status === 'pending' || source.status === 'running') return undefined
    if (source.status === 'skipped' || source.status === 'not_reached') return 'idle'
    if (source.status === 'failed') return handle === 'error' ? 'taken' : 'idle'
    if (source.status !== 'succeeded') return undefined
    return source.handles.includes(handle) ? 'taken' : 'idle'
  })
  const [path, x, y] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, curvature: 0.3 })
  return (
    <g className="group/edge" data-state={state}>
      <BaseEdge id={id} path={path} interactionWidth={18} className={cx('step-edge', state, handle === 'error' && 'error', selected && 'selected')} />
      <g
        role="button"
        tabIndex={-1}
        aria-label={t('editor.insert_on_edge')}
        transform={`translate(${x} ${y})`}
        className={cx('cursor-pointer opacity-0 group-hover/edge:opacity-100', selected && 'opacity-100')}
        onClick={(event) => {
          event.stopPropagation()
          set({ adding: { kind: 'edge', edge } })
        }}
        onKeyDown={(event) => event.key === 'Enter' && set({ adding: { kind: 'edge', edge } })}
      >
        <circle r={10} className="fill-panel stroke-line-strong" />
        <path d="M-4 0H4M0 -4V4" className="stroke-fg" strokeWidth={1.6} strokeLinecap="round" />
      </g>
    </g>
  )
})
