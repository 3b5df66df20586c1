import { LoaderCircle } from 'lucide-react'
import { cx } from './cx'

export const Spinner = ({ size = 16, className }: { size?: number; className?: string }) => (
  <LoaderCircle size={size} aria-hidden className={cx('animate-spin', className)} />
)

export const Loading = ({ label }: { label: string }) => (
  <div role="status" className="flex h-full min-h-40 items-center justify-center gap-2 text-mute">
    <Spinner /> {label}
  </div>
)
