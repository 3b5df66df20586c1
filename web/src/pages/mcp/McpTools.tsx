import { Check, ChevronRight, ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { CallForm } from '@/resources/CallForm'
import { Result } from '@/resources/Result'
import type { JsonSchema } from '@/schema/schema'
import { Badge, type Tone } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { cx } from '@/ui/cx'

export interface McpToolRow {
  name: string
  trust: 'accepted' | 'new' | 'changed' | 'gone' | string
  description?: string
  inputSchema?: JsonSchema
  input_schema?: JsonSchema
  accepted?: Record<string, unknown>
  [more: string]: unknown
}

export interface McpInfo {
  name: string
  version: string
  instructions: string
  tools: McpToolRow[]
}

const TONES: Record<string, Tone> = { accepted: 'ok', new: 'info', changed: 'warn', gone: 'mute' }

/** The tools of a server: which of them are accepted, and what changed in those that are not any more. */
export function McpTools({ server, info, connected, onAccept }: { server: string; info: McpInfo; connected: boolean; onAccept: (tools: string[] | null) => Promise<boolean> }) {
  const t = useT()
  const open = info.tools.filter((tool) => tool.trust === 'new' || tool.trust === 'changed')
  if (!info.tools.length) return <p className="py-8 text-center text-mute">{t(connected ? 'resources.no_tools' : 'resources.not_connected')}</p>
  return (
    <div className="flex flex-col gap-3">
      {connected && info.name && (
        <p className="text-[13px] text-mute">
          {info.name} {info.version}
        </p>
      )}
      {open.length > 0 && (
        <div className="flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft p-3">
          <ShieldAlert size={18} aria-hidden className="text-warn" />
          <p className="min-w-0 flex-1 text-[13px]">{t('resources.to_accept', { n: open.length })}</p>
          <Button size="sm" look="primary" icon={<Check size={14} />} onClick={() => void onAccept(open.map((tool) => tool.name))}>
            {t('resources.accept_all')}
          </Button>
        </div>
      )}
      {info.tools.map((tool) => (
        <Tool key={tool.name} server={server} tool={tool} onAccept={() => void onAccept([tool.name])} />
      ))}
    </div>
  )
}

function Tool({ server, tool, onAccept }: { server: string; tool: McpToolRow; onAccept: () => void }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const { trust, accepted, ...now } = tool
  const schema = tool.inputSchema ?? tool.input_schema ?? {}
  return (
    <section aria-label={tool.name} className="overflow-hidden rounded-lg border border-line">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex min-h-10 w-full items-center gap-2 px-3 text-left hover:bg-sunken focus-visible:-outline-offset-2">
        <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute', open && 'rotate-90')} />
        <span className="font-mono text-[13px] font-medium">{tool.name}</span>
        <Badge tone={TONES[trust] ?? 'mute'}>{trust === 'accepted' ? t('resources.trust_accepted') : trust === 'new' ? t('resources.trust_new') : trust === 'changed' ? t('resources.trust_changed') : trust}</Badge>
        <span className="min-w-0 flex-1 truncate text-[13px] text-mute">{tool.description}</span>
      </button>
      {open && (
        <div className="flex flex-col gap-4 border-t border-line p-3">
          {trust === 'changed' && (
            <div className="grid gap-3 md:grid-cols-2">
              <Result label={t('resources.accepted_before')} value={accepted} />
              <Result label={t('resources.as_it_is_now')} value={now} />
            </div>
          )}
          {trust === 'accepted' ? (
            <CallForm schema={schema} call={(values) => api('post', '/api/v1/mcp-servers/{server}/call', { path: { server }, body: { tool: tool.name, arguments: values } })} />
          ) : (
            <>
              {trust === 'new' && <Result label={t('resources.as_it_is_now')} value={now} />}
              {trust !== 'gone' && (
                <div>
                  <Button look="primary" icon={<Check size={15} />} onClick={onAccept}>
                    {t('resources.accept')}
                  </Button>
                </div>
              )}
            </>
          )}
        </div>
      )}
    </section>
  )
}
