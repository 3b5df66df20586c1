import { useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Share2, Trash2 } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { removeResource, type Collection, type ResourceRow } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Card } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Tabs } from '@/ui/Tabs'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { ShareModal, VisibilityBadge } from './Share'

interface Props {
  collection: Collection
  path: string
  back: string
  row: ResourceRow | undefined
  error: unknown
  retry: () => void
  lead?: ReactNode
  actions?: ReactNode
  tabs: { id: string; label: ReactNode; content: ReactNode }[]
}

/** A resource by itself: what it is, what can be done with it, and its sides in tabs. */
export function Detail({ collection, path, back, row, error, retry, lead, actions, tabs }: Props) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [search, setSearch] = useSearchParams()
  const [sharing, setSharing] = useState(false)
  const tab = search.get('tab') ?? tabs[0]!.id
  useEffect(() => {
    document.title = `${row?.name ?? back} · Interlace`
  }, [row?.name, back])
  const remove = async () => {
    if (!row || !(await confirm({ title: t('resources.delete_title', { name: row.name }), text: t('resources.delete_text'), action: t('common.delete'), danger: true }))) return
    try {
      await removeResource(collection, row.id)
      await client.invalidateQueries({ queryKey: ['resources', collection] })
      go(path)
      done(t('resources.deleted', { name: row.name }))
    } catch (problem) {
      failed(t('common.delete'), problem)
    }
  }
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col px-4 py-5 sm:px-6">
      <Link href={path} className="mb-2 inline-flex w-fit items-center gap-1 rounded text-[13px] text-mute hover:text-fg">
        <ArrowLeft size={14} aria-hidden /> {back}
      </Link>
      {error ? (
        <Trouble error={error} retry={retry} />
      ) : !row ? (
        <Loading label={t('common.loading')} />
      ) : (
        <>
          <header className="mb-4 flex flex-wrap items-start justify-between gap-3">
            <div className="min-w-0">
              <h1 className="flex flex-wrap items-center gap-2 text-xl font-semibold tracking-tight">
                <span className="break-all">{row.name}</span>
                <VisibilityBadge row={row} />
              </h1>
              {lead && <div className="mt-0.5 max-w-2xl text-mute">{lead}</div>}
            </div>
            <div className="flex flex-wrap gap-2">
              {actions}
              <Button icon={<Share2 size={15} />} onClick={() => setSharing(true)}>
                {t('resources.share')}
              </Button>
              <IconButton look="secondary" label={t('common.delete')} icon={<Trash2 size={15} className="text-danger" />} onClick={() => void remove()} />
            </div>
          </header>
          <Card>
            <Tabs label={row.name} tabs={tabs.map((one) => ({ ...one, content: <div className="p-4">{one.content}</div> }))} value={tab} onChange={(id) => setSearch({ tab: id }, { replace: true })} />
          </Card>
          {sharing && <ShareModal row={row} queryKey={['resource', collection, row.id]} onClose={() => setSharing(false)} />}
        </>
      )}
    </div>
  )
}
