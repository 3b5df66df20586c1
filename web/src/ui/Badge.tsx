import type { ReactNode } from 'react'
import { text, useT } from '@/i18n/t'
import { cx } from './cx'

export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'mute' | 'accent'

const TONES: Record<Tone, string> = {
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
  info: 'bg-info-soft text-info',
  mute: 'bg-sunken text-mute',
  accent: 'bg-accent-soft text-accent-text',
}

export const Badge = ({ tone = 'mute', children, className }: { tone?: Tone; children: ReactNode; className?: string }) => (
  <span className={cx('inline-flex h-5 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap', TONES[tone], className)}>{children}</span>
)

export const TONE_OF: Record<string, Tone> = {
  succeeded: 'ok',
  failed: 'danger',
  cancelled: 'mute',
  running: 'info',
  queued: 'mute',
  suspended: 'warn',
  unknown: 'danger',
  skipped: 'mute',
  pending: 'mute',
  not_reached: 'mute',
}

/** The status of a run or node, in words and colour. */
export function Status({ status }: { status: string }) {
  useT()
  return (
    <Badge tone={TONE_OF[status] ?? 'mute'}>
      <span className={cx('size-1.5 rounded-full bg-current', status === 'running' && 'animate-pulse')} aria-hidden />
      {text(`common.status_${status}`) ?? status}
    </Badge>
  )
}
