import { Bot, Calculator, ChevronRight, CircleAlert, Database, Globe, Plug, Search, Sparkles, Wrench, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { duration, useT } from '@/i18n/t'
import { cx } from '@/ui/cx'
import { Spinner } from '@/ui/Spinner'
import { Parts } from './Parts'
import type { ToolPart } from './turn'

const ICONS: [RegExp, LucideIcon][] = [
  [/^(kb_retrieve|grounded_retrieve)/, Search],
  [/^(connector|http)/, Plug],
  [/^database|__query$/, Database],
  [/^mcp/, Globe],
  [/^read_skill/, Sparkles],
  [/^call_agent/, Bot],
  [/^calc/, Calculator],
]

/** What a call is about in a few words: the arguments that say it. */
export function inShort(name: string, given: unknown): string {
  const all = (given ?? {}) as Record<string, unknown>
  const words = ['connector', 'database', 'server', 'action', 'tool', 'agent_id', 'name', 'query', 'words', 'sql', 'expression', 'url', 'path', 'task', 'subcommand']
  const said = words.filter((key) => typeof all[key] === 'string' && key !== 'subcommand').map((key) => String(all[key]))
  if (!said.length && typeof all.subcommand === 'string') said.push(all.subcommand)
  const text = said.length ? said.join(' · ') : Object.keys(all).length ? JSON.stringify(all) : ''
  return text.length > 120 ? `${text.slice(0, 119)}…` : text === name ? '' : text
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** A call of a tool: one line, and on demand what it was given and what it gave. */
export function ToolCall({ part, onCite }: { part: ToolPart; onCite?: (n: number) => void }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const Icon = ICONS.find(([pattern]) => pattern.test(part.name))?.[1] ?? Wrench
  const result = part.text || (part.value === undefined ? '' : shown(part.value))
  return (
    <div className={cx('my-2 overflow-hidden rounded-lg border bg-panel', part.state === 'failed' ? 'border-danger/40' : 'border-line')}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex min-h-9 w-full items-center gap-2 px-3 py-1.5 text-left text-[13px] hover:bg-sunken/70 focus-visible:-outline-offset-2">
        <span className="flex size-4 shrink-0 items-center justify-center text-mute">
          {part.state === 'running' ? <Spinner size={15} /> : part.state === 'failed' ? <CircleAlert size={15} className="text-danger" aria-hidden /> : <Icon size={15} aria-hidden />}
        </span>
        <span className="shrink-0 font-medium">{part.name}</span>
        <span className="min-w-0 flex-1 truncate text-mute">{inShort(part.name, part.arguments)}</span>
        <span className="shrink-0 text-xs text-mute tabular-nums">
          {part.state === 'running' ? t('chat.tool_running') : part.state === 'failed' ? t('chat.tool_failed') : part.elapsed === null ? '' : duration(part.elapsed)}
        </span>
        <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute transition-transform', open && 'rotate-90')} />
      </button>
      {open && (
        <div className="grid gap-3 border-t border-line p-3">
          <Value label={t('chat.tool_arguments')} text={shown(part.arguments ?? {})} />
          {part.parts.length > 0 && (
            <div className="border-l-2 border-line pl-3">
              <Parts parts={part.parts} {...(onCite ? { onCite } : {})} />
            </div>
          )}
          {part.state !== 'running' && <Value label={t(part.state === 'failed' ? 'chat.tool_error' : 'chat.tool_result')} text={result || '—'} danger={part.state === 'failed'} />}
        </div>
      )}
    </div>
  )
}

function Value({ label, text, danger }: { label: string; text: string; danger?: boolean }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs font-medium text-mute">{label}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className={cx('max-h-72 overflow-auto rounded-md bg-sunken p-2.5 font-mono text-xs whitespace-pre-wrap break-words', danger && 'text-danger')}>
        {text}
      </pre>
    </div>
  )
}
