import { Handle, Position, type NodeProps } from '@xyflow/react'
import { memo } from 'react'
import { useT } from '@/i18n/t'
import { JUMP } from './geometry'
import type { JumpFlowNode } from './flow'

/** Where an edge leaves a body: `$break` ends the container, `$continue` the pass. */
export const JumpNode = memo(function JumpNode({ data }: NodeProps<JumpFlowNode>) {
  const t = useT()
  return (
    <div className="flex items-center justify-center rounded-full border border-line-strong bg-sunken text-xs font-medium text-mute" style={JUMP}>
      <Handle type="target" position={Position.Left} className="hit" />
      {t(data.target === '$break' ? 'editor.break' : 'editor.continue')}
    </div>
  )
})
