import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { cx } from '@/ui/cx'
import { Modal } from '@/ui/Modal'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import type { Citation } from './turn'

interface Chunk {
  seq: number
  text: string
  position: Record<string, unknown>
}

/** A text with a passage of it marked, where it stands there letter by letter. */
export function Marked({ text, quote }: { text: string; quote: string | undefined }) {
  const at = quote ? text.indexOf(quote) : -1
  if (at < 0 || !quote || quote.length === text.length) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <mark className="rounded bg-warn-soft px-0.5 text-fg ring-1 ring-warn/40">{quote}</mark>
      {text.slice(at + quote.length)}
    </>
  )
}

const isCited = (chunk: Chunk, citation: Citation): boolean =>
  (!!citation.quote && chunk.text.includes(citation.quote)) || JSON.stringify(chunk.position) === JSON.stringify(citation.position)

/** The document that a citation stands on, open at the passage. */
export function SourceModal({ citation, onClose }: { citation: Citation; onClose: () => void }) {
  const t = useT()
  const { knowledge_base: base, document_id: document } = citation
  const cited = useRef<HTMLLIElement>(null)
  const chunks = useQuery({
    queryKey: ['chunks', base, document],
    enabled: !!base && !!document,
    queryFn: async () => {
      const page: { items: Chunk[] } = await api('get', '/api/v1/knowledge-bases/{base}/documents/{document}/chunks', { path: { base: base!, document: document! }, query: { limit: 500 } })
      return page.items
    },
  })
  const chosen = chunks.data?.findIndex((chunk) => isCited(chunk, citation)) ?? -1
  useEffect(() => {
    cited.current?.scrollIntoView({ block: 'center' })
  }, [chosen])
  return (
    <Modal open onOpenChange={(open) => !open && onClose()} wide title={citation.title || citation.source} description={[base, citation.source, citation.where].filter(Boolean).join(' · ')}>
      {!base || !document ? (
        <blockquote className="border-l-2 border-accent pl-3 whitespace-pre-wrap">{citation.quote}</blockquote>
      ) : chunks.error ? (
        <>
          <Trouble error={chunks.error} />
          {citation.quote && <blockquote className="mt-3 border-l-2 border-accent pl-3 whitespace-pre-wrap">{citation.quote}</blockquote>}
        </>
      ) : !chunks.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <ol className="flex flex-col gap-2">
          {chunks.data.map((chunk, index) => (
            <li key={chunk.seq} ref={index === chosen ? cited : null} aria-current={index === chosen || undefined} className={cx('rounded-lg border p-3 whitespace-pre-wrap', index === chosen ? 'border-accent-text bg-accent-soft/60' : 'border-line')}>
              <Marked text={chunk.text} quote={index === chosen ? citation.quote : undefined} />
            </li>
          ))}
        </ol>
      )}
    </Modal>
  )
}
