import { useQuery } from '@tanstack/react-query'
import { ChevronRight, Eye, EyeOff, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Loading } from '@/ui/Spinner'
import { failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

interface Table {
  name: string
  kind: string
  description: string
  columns: { name: string; type: string; nullable: boolean; key: string | boolean | null; description: string }[]
}

export interface DatabaseDefinition {
  description?: string
  tables?: Record<string, { description?: string; columns?: Record<string, string> }>
  hidden_tables?: string[]
  hidden_columns?: Record<string, string[]>
  [more: string]: unknown
}

interface Props {
  database: string
  definition: DatabaseDefinition
  save: (definition: Record<string, unknown>) => Promise<void>
}

/** What agents and workflows see of a database: its tables and columns, described or hidden. */
export function Tables({ database, definition, save }: Props) {
  const t = useT()
  const tables = useQuery({ queryKey: ['tables', database], queryFn: async () => (await api<'get', '/api/v1/databases/{database}/tables', { items: Table[] }>('get', '/api/v1/databases/{database}/tables', { path: { database } })).items })
  const change = async (part: Partial<DatabaseDefinition>) => {
    try {
      await save({ ...definition, ...part })
    } catch (error) {
      failed(t('resources.not_saved'), error)
    }
  }
  const { hidden_tables: hiddenTables = [], hidden_columns: hiddenColumns = {}, tables: notes = {} } = definition
  const note = (table: string, part: { description?: string; columns?: Record<string, string> }) => void change({ tables: { ...notes, [table]: { ...notes[table], ...part } } })
  const hideColumn = (table: string, column: string) => void change({ hidden_columns: { ...hiddenColumns, [table]: [...(hiddenColumns[table] ?? []), column] } })
  const showColumn = (table: string, column: string) => {
    const left = (hiddenColumns[table] ?? []).filter((one) => one !== column)
    const { [table]: _, ...others } = hiddenColumns
    void change({ hidden_columns: left.length ? { ...others, [table]: left } : others })
  }
  if (tables.error) return <Trouble error={tables.error} retry={() => void tables.refetch()} />
  if (!tables.data) return <Loading label={t('common.loading')} />
  return (
    <div className="flex flex-col gap-3">
      <p className="text-[13px] text-mute">{t('resources.tables_lead')}</p>
      {tables.data.map((table) => (
        <TableCard
          key={table.name}
          table={table}
          hidden={hiddenColumns[table.name] ?? []}
          onDescribe={(description) => note(table.name, { description })}
          onDescribeColumn={(column, text) => note(table.name, { columns: { ...notes[table.name]?.columns, [column]: text } })}
          onHide={() => void change({ hidden_tables: [...hiddenTables, table.name] })}
          onHideColumn={(column) => hideColumn(table.name, column)}
          onShowColumn={(column) => showColumn(table.name, column)}
        />
      ))}
      {!tables.data.length && <p className="py-6 text-center text-mute">{t('resources.no_tables')}</p>}
      {hiddenTables.length > 0 && (
        <section aria-label={t('resources.hidden_tables')} className="rounded-lg bg-sunken p-3">
          <h2 className="mb-2 text-[13px] font-medium">{t('resources.hidden_tables')}</h2>
          <ul className="flex flex-wrap gap-2">
            {hiddenTables.map((name) => (
              <li key={name}>
                <Button size="sm" icon={<Eye size={14} />} onClick={() => void change({ hidden_tables: hiddenTables.filter((one) => one !== name) })}>
                  {t('resources.show_named', { name })}
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

interface CardProps {
  table: Table
  hidden: string[]
  onDescribe: (text: string) => void
  onDescribeColumn: (column: string, text: string) => void
  onHide: () => void
  onHideColumn: (column: string) => void
  onShowColumn: (column: string) => void
}

function TableCard({ table, hidden, onDescribe, onDescribeColumn, onHide, onHideColumn, onShowColumn }: CardProps) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <section aria-label={table.name} className="overflow-hidden rounded-lg border border-line">
      <header className="flex items-center gap-1 pr-2">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex min-h-10 min-w-0 flex-1 items-center gap-2 px-3 text-left hover:bg-sunken focus-visible:-outline-offset-2">
          <ChevronRight size={15} aria-hidden className={cx('shrink-0 text-mute', open && 'rotate-90')} />
          <span className="font-mono text-[13px] font-medium">{table.name}</span>
          {table.kind !== 'table' && <Badge>{table.kind}</Badge>}
          <span className="text-xs text-mute">{t('resources.columns', { n: table.columns.length })}</span>
          <span className="min-w-0 flex-1 truncate text-[13px] text-mute">{table.description}</span>
        </button>
        <IconButton size="sm" label={t('resources.hide_named', { name: table.name })} icon={<EyeOff size={14} />} onClick={onHide} />
      </header>
      {open && (
        <div className="border-t border-line p-3">
          <Note label={t('common.description_of', { name: table.name })} value={table.description} onSave={onDescribe} />
          <ul className="mt-3 divide-y divide-line">
            {table.columns.map((column) => (
              <li key={column.name} className="grid grid-cols-[1fr_auto] items-center gap-x-3 gap-y-1 py-1.5 sm:grid-cols-[11rem_9rem_1fr_auto]">
                <span className="flex items-center gap-1.5 font-mono text-[13px]">
                  {column.name} {column.key && <KeyRound size={12} aria-label={t('resources.key')} className="text-warn" />}
                </span>
                <span className="text-xs text-mute max-sm:order-last">{column.type}{column.nullable ? '' : ' · not null'}</span>
                <Note label={t('common.description_of', { name: column.name })} value={column.description} onSave={(text) => onDescribeColumn(column.name, text)} />
                <IconButton size="sm" label={t('resources.hide_named', { name: column.name })} icon={<EyeOff size={14} />} onClick={() => onHideColumn(column.name)} />
              </li>
            ))}
          </ul>
          {hidden.length > 0 && (
            <div className="mt-2 flex flex-wrap gap-2">
              {hidden.map((column) => (
                <Button key={column} size="sm" icon={<Eye size={14} />} onClick={() => onShowColumn(column)}>
                  {t('resources.show_named', { name: column })}
                </Button>
              ))}
            </div>
          )}
        </div>
      )}
    </section>
  )
}

function Note({ label, value, onSave }: { label: string; value: string; onSave: (text: string) => void }) {
  const t = useT()
  return (
    <Input
      key={value}
      aria-label={label}
      className="h-8! text-[13px]"
      defaultValue={value}
      placeholder={t('common.description')}
      onBlur={(event) => event.target.value !== value && onSave(event.target.value)}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}
