import { NodeResizer, type NodeProps } from '@xyflow/react'
import { memo, useState } from 'react'
import { useT } from '@/i18n/t'
import { cx } from '@/ui/cx'
import type { Note } from './document'
import type { NoteFlowNode } from './flow'
import { withUi } from './operations'
import { edit } from './store'

const change = (id: string, make: (note: Note) => Note, group: string | null = null) =>
  edit((document) => withUi(document, (ui) => ({ ...ui, notes: (ui.notes ?? []).map((note) => (note.id === id ? make(note) : note)) })), group)

/** A note for people; it has no part in the run. */
export const NoteNode = memo(function NoteNode({ data, selected }: NodeProps<NoteFlowNode>) {
  const t = useT()
  const { note } = data
  const [text, setText] = useState(note.text)
  const [known, setKnown] = useState(note.text)
  if (known !== note.text) {
    setKnown(note.text)
    setText(note.text)
  }
  return (
    <div className={cx('h-full w-full rounded-lg border bg-warn-soft', selected ? 'border-warn' : 'border-warn/40')}>
      <NodeResizer
        isVisible={selected}
        minWidth={140}
        minHeight={60}
        onResizeEnd={(_, { width, height, x, y }) => change(note.id, (one) => ({ ...one, size: [Math.round(width), Math.round(height)], position: [Math.round(x), Math.round(y)] }))}
      />
      <textarea
        aria-label={t('editor.note')}
        placeholder={t('editor.note_hint')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text !== note.text && change(note.id, (one) => ({ ...one, text }))}
        className={cx('h-full w-full resize-none rounded-lg bg-transparent p-2.5 text-[13px] outline-none placeholder:text-mute', selected && 'nodrag')}
      />
    </div>
  )
})

