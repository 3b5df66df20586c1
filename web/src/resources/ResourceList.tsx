import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Plus, Share2, Trash2, type LucideIcon } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import { Link, useSearchParams } from 'wouter'
import { removeResource, useResources, type Collection, type ResourceRow } from '@/api/resources'
import { ago, dateTime, useT } from '@/i18n/t'
import { useOffer } from '@/shell/commands'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Menu, type MenuEntry } from '@/ui/Menu'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { done, failed } from '@/ui/toasts'
import { ShareModal, VisibilityBadge } from './Share'

interface Props {
  collection: Collection
  path: string
  title: string
  lead: string
  icon: LucideIcon
  emptyLead: string
  columns?: Column<ResourceRow>[]
  create: (close: () => void) => ReactNode
  createLabel: string
  /** More buttons beside the one that creates. */
  actions?: ReactNode
  menu?: (row: ResourceRow) => MenuEntry[]
}

const about = (row: ResourceRow): string => String(row.description ?? row.definition?.description ?? '')

/** The list of a kind of resource: found, sorted, made, shared, removed. */
export function ResourceList({ collection, path, title, lead, icon: Icon, emptyLead, columns = [], create, createLabel, actions, menu }: Props) {
  const t = useT()
  const client = useQueryClient()
  const [search, setSearch] = useSearchParams()
  const creating = search.has('new')
  const setCreating = (on: boolean) => setSearch(on ? { new: '' } : {}, { replace: true })
  const [sharing, setSharing] = useState<ResourceRow | null>(null)
  const rows = useResources(collection)
  useOffer(
    collection,
    useMemo(() => [{ id: `new-${collection}`, label: createLabel, icon: <Plus size={15} />, run: () => setSearch({ new: '' }) }], [collection, createLabel, setSearch]),
  )
  const remove = async (row: ResourceRow) => {
    if (!(await confirm({ title: t('resources.delete_title', { name: row.name }), text: t('resources.delete_text'), action: t('common.delete'), danger: true }))) return
    try {
      await removeResource(collection, row.id)
      await client.invalidateQueries({ queryKey: ['resources', collection] })
      done(t('resources.deleted', { name: row.name }))
    } catch (error) {
      failed(t('common.delete'), error)
    }
  }
  const all: Column<ResourceRow>[] = [
    {
      id: 'name', header: t('common.name'), sort: (row) => row.name,
      cell: (row) => (
        <div className="min-w-40">
          <Link href={`${path}/${row.id}`} className="font-medium hover:text-accent-text hover:underline">
            {row.name}
          </Link>
          {!row.active && <Badge className="ml-2">{t('resources.inactive')}</Badge>}
          {about(row) && <p className="line-clamp-1 max-w-xl text-[13px] text-mute">{about(row)}</p>}
        </div>
      ),
    },
    ...columns,
    { id: 'visibility', header: t('resources.visibility'), sort: (row) => row.visibility, cell: (row) => <VisibilityBadge row={row} /> },
    { id: 'updated', header: t('resources.changed'), sort: (row) => row.updated_at, className: 'whitespace-nowrap', cell: (row) => <time className="text-mute" title={dateTime(row.updated_at)}>{ago(row.updated_at)}</time> },
    {
      id: 'actions', header: '', className: 'w-10 text-right',
      cell: (row) => (
        <Menu
          trigger={<IconButton size="sm" label={t('resources.actions_of', { name: row.name })} icon={<Ellipsis size={16} />} />}
          items={[
            ...(menu?.(row) ?? []),
            { label: t('resources.share'), icon: <Share2 size={14} />, onSelect: () => setSharing(row) },
            'line',
            { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, onSelect: () => void remove(row) },
          ]}
        />
      ),
    },
  ]
  const make = (
    <Button look="primary" icon={<Plus size={16} />} onClick={() => setCreating(true)}>
      {createLabel}
    </Button>
  )
  return (
    <Page title={title} lead={lead} actions={<>{actions}{make}</>}>
      <ResourceTable
        label={title}
        rows={rows.data}
        columns={all}
        rowKey={(row) => row.id}
        search={(row) => `${row.name} ${about(row)}`}
        error={rows.error}
        retry={() => void rows.refetch()}
        empty={<Empty icon={<Icon size={24} aria-hidden />} title={t('resources.none', { title })} actions={make}>{emptyLead}</Empty>}
      />
      {creating && create(() => setCreating(false))}
      {sharing && <ShareModal row={sharing} queryKey={['resources', collection]} onClose={() => setSharing(null)} />}
    </Page>
  )
}
