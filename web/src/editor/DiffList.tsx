import { useT } from '@/i18n/t'
import { Loading } from '@/ui/Spinner'
import { titleOf } from './catalogue'
import type { Comparison } from './versions'

const SIGNS = { '+': 'text-ok', '-': 'text-danger', '~': 'text-warn' }

function Row({ sign, children }: { sign: '+' | '-' | '~'; children: React.ReactNode }) {
  return (
    <li className="flex gap-2">
      <span aria-hidden className={`w-3 shrink-0 font-mono font-bold ${SIGNS[sign]}`}>{sign}</span>
      <span className="min-w-0 break-words">{children}</span>
    </li>
  )
}

const short = (value: unknown): string => {
  if (value === null || value === undefined) return '—'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** What differs in meaning: nodes, edges, fields. */
export function DiffList({ found }: { found: Comparison | undefined }) {
  const t = useT()
  if (!found) return <Loading label={t('common.loading')} />
  const { diff } = found
  const changes = [...diff.document, ...diff.settings, ...diff.inputs, ...diff.variables]
  const empty = !changes.length && !diff.added.length && !diff.removed.length && !diff.changed.length && !diff.edges_added.length && !diff.edges_removed.length
  if (empty) return <p className="text-mute">{t('editor.no_difference')}</p>
  return (
    <ul className="flex flex-col gap-1 text-[13px]">
      {changes.map((change) => (
        <Row key={change.path} sign="~">
          <code className="text-xs">{change.path}</code> {short(change.before)} → {short(change.after)}
        </Row>
      ))}
      {diff.added.map((node) => (
        <Row key={`+${node.id}`} sign="+">
          <span className="sr-only">{t('editor.added')} </span>
          <b>{node.label || node.id}</b> <span className="text-mute">{titleOf(node.type)}</span>
        </Row>
      ))}
      {diff.removed.map((node) => (
        <Row key={`-${node.id}`} sign="-">
          <span className="sr-only">{t('editor.removed')} </span>
          <b>{node.label || node.id}</b> <span className="text-mute">{titleOf(node.type)}</span>
        </Row>
      ))}
      {diff.changed.map((node) =>
        node.changes.map((change) => (
          <Row key={`${node.id}.${change.path}`} sign="~">
            <code className="text-xs">
              {node.id}.{change.path}
            </code>{' '}
            {short(change.before)} → {short(change.after)}
          </Row>
        )),
      )}
      {diff.edges_added.map((edge) => (
        <Row key={`+${edge.from}${edge.handle}${edge.to}`} sign="+">
          {edge.from}
          {edge.handle === 'out' ? '' : `.${edge.handle}`} → {edge.to}
        </Row>
      ))}
      {diff.edges_removed.map((edge) => (
        <Row key={`-${edge.from}${edge.handle}${edge.to}`} sign="-">
          {edge.from}
          {edge.handle === 'out' ? '' : `.${edge.handle}`} → {edge.to}
        </Row>
      ))}
    </ul>
  )
}
