import { Panel, useReactFlow } from '@xyflow/react'
import { Maximize, Minus, Network, Plus, StickyNote } from 'lucide-react'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { failed } from '@/ui/toasts'
import { addNote, tidy } from './actions'

export function CanvasControls() {
  const t = useT()
  const flow = useReactFlow()
  return (
    <Panel position="bottom-left" className="flex rounded-lg border border-line bg-panel shadow-card">
      <IconButton size="sm" side="top" label={t('editor.zoom_out')} icon={<Minus size={15} />} onClick={() => void flow.zoomOut({ duration: 150 })} />
      <IconButton size="sm" side="top" label={t('editor.zoom_in')} icon={<Plus size={15} />} onClick={() => void flow.zoomIn({ duration: 150 })} />
      <IconButton size="sm" side="top" label={t('editor.fit')} icon={<Maximize size={15} />} onClick={() => void flow.fitView({ padding: 0.15, maxZoom: 1, duration: 250 })} />
      <IconButton size="sm" side="top" label={t('editor.tidy')} icon={<Network size={15} />} onClick={() => void tidy().catch((error: unknown) => failed(t('editor.tidy'), error))} />
      <IconButton size="sm" side="top" label={t('editor.add_note')} icon={<StickyNote size={15} />} onClick={() => addNote()} />
    </Panel>
  )
}
