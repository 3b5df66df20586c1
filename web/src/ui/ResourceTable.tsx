import { ChevronDown, Search } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import { useT } from '@/i18n/t'
import { Button } from './Button'
import { cx } from './cx'
import { Input } from './Input'
import { Loading } from './Spinner'
import { Trouble } from './Trouble'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** What the column is sorted by; not sortable without. */
  sort?: (row: Row) => string | number
  className?: string
}

interface Props<Row> {
  label: string
  rows: Row[] | undefined
  columns: Column<Row>[]
  rowKey: (row: Row) => string
  /** What the search looks at; no search field without. */
  search?: (row: Row) => string
  toolbar?: ReactNode
  empty: ReactNode
  error?: unknown
  retry?: () => void
  more?: { busy: boolean; load: () => void } | undefined
}

/** A list of things: search, sorting, loading, failure, nothing there, and more on demand. */
export function ResourceTable<Row>({ label, rows, columns, rowKey, search, toolbar, empty, error, retry, more }: Props<Row>) {
  const t = useT()
  const [query, setQuery] = useState('')
  const [order, setOrder] = useState<{ id: string; down: boolean } | null>(null)
  const shown = useMemo(() => {
    const wanted = query.trim().toLowerCase()
    const found = (rows ?? []).filter((row) => !wanted || search!(row).toLowerCase().includes(wanted))
    const by = order && columns.find((column) => column.id === order.id)?.sort
    if (!by) return found
    const compared = found.toSorted((a, b) => {
      const [one, other] = [by(a), by(b)]
      return typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other))
    })
    return order.down ? compared.reverse() : compared
  }, [rows, query, order, columns, search])

  if (error) return <Trouble error={error} {...(retry ? { retry } : {})} />
  if (!rows) return <Loading label={t('common.loading')} />
  if (!rows.length && !query) return <>{toolbar ? <div className="mb-3 flex gap-2">{toolbar}</div> : null}{empty}</>
  return (
    <div>
      {(search || toolbar) && (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          {search && (
            <div className="relative w-64 max-w-full">
              <Search size={15} className="absolute top-2.5 left-2.5 text-mute" aria-hidden />
              <Input type="search" aria-label={t('common.search_in', { name: label })} placeholder={t('common.search')} value={query} onChange={(event) => setQuery(event.target.value)} className="pl-8!" />
            </div>
          )}
          {toolbar}
        </div>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div className="relative overflow-x-auto rounded-xl border border-line bg-panel shadow-card" role="region" aria-label={label} tabIndex={0}>
        <table className="w-full border-collapse text-left">
          <thead>
            <tr className="border-b border-line text-xs text-mute">
              {columns.map((column) => (
                <th key={column.id} scope="col" className={cx('px-3 py-2 font-medium first:pl-4', column.className?.includes('text-right') && 'text-right', column.className?.includes('hidden') && 'hidden sm:table-cell')} aria-sort={order?.id === column.id ? (order.down ? 'descending' : 'ascending') : undefined}>
                  {column.sort ? (
                    <button type="button" className="inline-flex items-center gap-1 rounded hover:text-fg" onClick={() => setOrder({ id: column.id, down: order?.id === column.id && !order.down })}>
                      {column.header}
                      <ChevronDown size={12} aria-hidden className={cx(order?.id !== column.id && 'opacity-0', order?.down === false && 'rotate-180')} />
                    </button>
                  ) : (
                    column.header || <span className="sr-only">{t('common.actions')}</span>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={rowKey(row)} className="border-b border-line last:border-0 hover:bg-sunken/60">
                {columns.map((column) => (
                  <td key={column.id} className={cx('px-3 py-2.5 align-middle first:pl-4', column.className)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {!shown.length && <p className="px-4 py-8 text-center text-mute">{t('common.nothing_found', { query })}</p>}
      </div>
      {more && (
        <div className="mt-3 text-center">
          <Button busy={more.busy} onClick={more.load}>
            {t('common.load_more')}
          </Button>
        </div>
      )}
    </div>
  )
}
