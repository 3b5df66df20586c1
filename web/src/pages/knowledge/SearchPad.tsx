import { Search } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { Marked, SourceModal } from '@/chat/Source'
import type { Citation } from '@/chat/turn'
import { number, useT } from '@/i18n/t'
import { useTrying } from '@/resources/trying'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Segmented } from '@/ui/Segmented'
import { Toggle } from '@/ui/Toggle'
import { Trouble } from '@/ui/Trouble'

interface Found {
  chunks: { n: number; text: string; score: number; dense: number; words: number; source: string; position: Record<string, unknown>; metadata: Record<string, unknown> }[]
  citations: Citation[]
  confidence: number
  quotes: { n: number; text: string; score: number }[]
  conflicts: { between: [number, number]; quotes: [string, string]; reason: string }[]
  refused: string | null
}

const percent = (value: number): string => number(value, { style: 'percent', maximumFractionDigits: 0 })

/** Questions to a knowledge base, with what is found, how well it fits and where it stands. */
export function SearchPad({ base }: { base: string }) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [mode, setMode] = useState<'hybrid' | 'dense' | 'text'>('hybrid')
  const [grounded, setGrounded] = useState(false)
  const [found, setFound] = useState<Found | null>(null)
  const [open, setOpen] = useState<Citation | null>(null)
  const { busy, error, trying } = useTrying()
  const search = () => trying(async () => setFound(await api('post', '/api/v1/knowledge-bases/{base}/search', { path: { base }, body: { query: query.trim(), mode, grounded, top_k: 8, min_score: 0, filter: {}, rerank: false } })))
  return (
    <div className="flex flex-col gap-4">
      <form
        className="flex flex-wrap items-center gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void search()
        }}
      >
        <Input type="search" aria-label={t('resources.search_question')} placeholder={t('resources.search_question')} className="min-w-56 flex-1 basis-72" value={query} onChange={(event) => setQuery(event.target.value)} />
        <Segmented label={t('resources.mode')} value={mode} onChange={setMode} options={(['hybrid', 'dense', 'text'] as const).map((one) => ({ value: one, label: t(`resources.mode_${one}`) }))} />
        <label className="flex items-center gap-2 text-[13px]">
          <Toggle checked={grounded} onChange={setGrounded} aria-label={t('resources.grounded')} /> {t('resources.grounded')}
        </label>
        <Button type="submit" look="primary" busy={busy} disabled={!query.trim()} icon={<Search size={15} />}>
          {t('common.search')}
        </Button>
      </form>
      {error !== null && <Trouble error={error} />}
      {found && (
        <div className="flex flex-col gap-3">
          <p role="status" className="text-[13px] text-mute">
            {t('resources.hits', { n: found.chunks.length })} · {t('resources.confidence', { value: percent(found.confidence) })}
          </p>
          {found.refused && <p className="rounded-lg bg-warn-soft p-3 text-[13px] text-warn">{found.refused}</p>}
          {found.conflicts.map((one) => (
            <p key={one.quotes.join()} className="rounded-lg bg-danger-soft p-3 text-[13px]">
              [{one.between[0]}] “{one.quotes[0]}” ↔ [{one.between[1]}] “{one.quotes[1]}” — {one.reason}
            </p>
          ))}
          <ol className="flex flex-col gap-3">
            {found.chunks.map((chunk) => {
              const citation = found.citations.find((one) => one.n === chunk.n)
              const quote = found.quotes.find((one) => one.n === chunk.n)?.text
              return (
                <li key={chunk.n} className="rounded-lg border border-line p-3">
                  <div className="mb-1.5 flex flex-wrap items-center gap-2 text-[13px]">
                    <Badge tone="accent">{chunk.n}</Badge>
                    <button type="button" className="rounded font-medium hover:text-accent-text hover:underline" onClick={() => citation && setOpen({ ...citation, quote: quote ?? chunk.text })}>
                      {citation?.title || chunk.source}
                    </button>
                    <span className="text-mute">{citation?.where}</span>
                    <span className="ml-auto flex gap-3 text-xs text-mute tabular-nums">
                      <span className="font-semibold text-fg">{t('resources.score', { value: number(chunk.score, { maximumFractionDigits: 3 }) })}</span>
                      <span>{t('resources.dense', { value: percent(chunk.dense) })}</span>
                      <span>{t('resources.words', { value: percent(chunk.words) })}</span>
                    </span>
                  </div>
                  <p className="line-clamp-6 text-[13px] whitespace-pre-wrap">
                    <Marked text={chunk.text} quote={quote} />
                  </p>
                </li>
              )
            })}
          </ol>
        </div>
      )}
      {open && <SourceModal citation={open} onClose={() => setOpen(null)} />}
    </div>
  )
}
