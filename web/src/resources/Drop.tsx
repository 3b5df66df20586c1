import { FileUp } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { cx } from '@/ui/cx'

/** A place for files: dropped, or chosen. */
export function Drop({ label, help, accept, multiple, onFiles }: { label: string; help?: ReactNode; accept?: string; multiple?: boolean; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false)
  return (
    <label
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFiles([...event.dataTransfer.files])
      }}
      className={cx('flex cursor-pointer flex-col items-center gap-1.5 rounded-xl border border-dashed border-line-strong px-4 py-7 text-center focus-within:outline-2 focus-within:outline-accent-text hover:bg-sunken/60', over && 'bg-accent-soft')}
    >
      <FileUp size={24} aria-hidden className="text-accent-text" />
      <span className="font-medium">{label}</span>
      {help && <span className="text-[13px] text-mute">{help}</span>}
      <input
        type="file"
        className="sr-only"
        multiple={multiple}
        accept={accept}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
    </label>
  )
}
