import { ChevronRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { number, useT } from '@/i18n/t'
import { CopyButton } from './CopyText'
import { cx } from './cx'

interface Props {
  value: unknown
  /** How many levels are open at first. */
  open?: number
  /** Loads a value that is given by reference, `{"$payload": …}`. */
  load?: ((ref: string) => Promise<unknown>) | undefined
  /** Of little height: it scrolls sooner. */
  low?: boolean
}

const LONG = 600
const MANY = 100

/** Any JSON value: what is nested can be folded, what is long is shortened, what is large is loaded on demand. */
export function Json({ value, open = 2, load, low }: Props) {
  const single = typeof value === 'string' || value === null || typeof value !== 'object'
  return (
    <div className="group/json relative min-w-0 rounded-lg border border-line bg-sunken">
      <div className="absolute top-1 right-1 z-10 rounded-md bg-sunken">
        <CopyButton text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div tabIndex={0} role="group" className={cx('overflow-auto py-2 pr-9 pl-3 font-mono text-[12.5px] leading-5', low ? 'max-h-52' : 'max-h-112', single && 'break-words whitespace-pre-wrap')}>
        <Node value={value} depth={0} open={open} load={load} />
      </div>
    </div>
  )
}

function Node({ value, depth, open, load }: { value: unknown; depth: number; open: number; load: Props['load'] }) {
  if (value === null) return <span className="text-mute">null</span>
  if (typeof value === 'string') return depth === 0 ? <Text text={value} plain /> : <Text text={value} />
  if (typeof value === 'number') return <span className="text-warn">{String(value)}</span>
  if (typeof value === 'boolean') return <span className="text-info">{String(value)}</span>
  if (typeof value !== 'object') return <span className="text-mute">—</span>
  const ref = (value as { $payload?: unknown }).$payload
  if (typeof ref === 'string' && load) return <Payload value={value as Record<string, unknown>} payload={ref} load={load} open={open} />
  return <Group value={value} depth={depth} open={open} load={load} />
}

function Text({ text, plain }: { text: string; plain?: boolean }) {
  const t = useT()
  const [whole, setWhole] = useState(false)
  const short = !whole && text.length > LONG ? text.slice(0, LONG) : text
  return (
    <>
      <span className={cx('break-words whitespace-pre-wrap', !plain && 'text-ok')}>{plain ? short : JSON.stringify(short)}</span>
      {text.length > LONG && (
        <button type="button" className="ml-1 rounded text-accent-text underline" onClick={() => setWhole(!whole)}>
          {whole ? t('common.shorter') : t('common.all_characters', { n: number(text.length) })}
        </button>
      )}
    </>
  )
}

function Group({ value, depth, open: levels, load }: { value: object; depth: number; open: number; load: Props['load'] }) {
  const t = useT()
  const list = Array.isArray(value)
  const entries = Object.entries(value)
  const [open, setOpen] = useState(depth < levels && entries.length <= MANY)
  const [shown, setShown] = useState(MANY)
  const [left, right] = list ? ['[', ']'] : ['{', '}']
  if (!entries.length) return <span className="text-mute">{left + right}</span>
  const toggle: ReactNode = (
    <button type="button" aria-expanded={open} aria-label={t('common.fold', { n: entries.length })} onClick={() => setOpen(!open)} className="inline-flex items-center rounded text-mute hover:text-fg">
      <ChevronRight size={13} aria-hidden className={cx('transition-transform', open && 'rotate-90')} />
      <span>{open ? left : `${left} ${number(entries.length)} ${right}`}</span>
    </button>
  )
  if (!open) return toggle
  return (
    <>
      {toggle}
      <div className="ml-1.5 border-l border-line pl-3">
        {entries.slice(0, shown).map(([name, one]) => (
          <div key={name} className="min-w-0">
            <span className={list ? 'text-mute' : 'text-accent-text'}>{name}</span>
            <span className="text-mute">: </span>
            <Node value={one} depth={depth + 1} open={levels} load={load} />
          </div>
        ))}
        {entries.length > shown && (
          <button type="button" className="rounded text-accent-text underline" onClick={() => setShown(shown + 500)}>
            {t('common.more_entries', { n: number(entries.length - shown) })}
          </button>
        )}
      </div>
      <span className="text-mute">{right}</span>
    </>
  )
}

function Payload({ value, payload, load, open }: { value: Record<string, unknown>; payload: string; load: NonNullable<Props['load']>; open: number }) {
  const t = useT()
  const [loaded, setLoaded] = useState<{ value: unknown } | { error: string } | 'busy' | null>(null)
  const get = () => {
    setLoaded('busy')
    load(payload).then(
      (found) => setLoaded({ value: found }),
      (error: unknown) => setLoaded({ error: error instanceof Error ? error.message : String(error) }),
    )
  }
  if (loaded && loaded !== 'busy' && 'value' in loaded) return <Node value={loaded.value} depth={0} open={open} load={load} />
  const size = Number(value.size ?? value.bytes ?? 0)
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5 font-sans">
      <button type="button" disabled={loaded === 'busy'} onClick={get} className="rounded-md border border-line-strong/60 bg-panel px-1.5 text-xs text-accent-text hover:bg-accent-soft">
        {loaded === 'busy' ? t('common.loading') : size ? t('common.load_bytes', { n: number(size / 1000, { maximumFractionDigits: 1 }) }) : t('common.load_value')}
      </button>
      {loaded && loaded !== 'busy' && 'error' in loaded && <span className="text-xs text-danger">{loaded.error}</span>}
    </span>
  )
}
