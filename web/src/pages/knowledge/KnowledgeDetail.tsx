import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { api } from '@/api/client'
import { readResource, type ResourceRow } from '@/api/resources'
import { useT } from '@/i18n/t'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Detail } from '@/resources/Detail'
import { Button } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { failed } from '@/ui/toasts'
import { Documents } from './Documents'
import { SearchPad } from './SearchPad'

interface Counts {
  documents: number
  ready: number
  failed: number
  waiting: number
  chunks: number
}

export interface Base extends ResourceRow {
  progress: Counts & { building: Counts | null }
}

export default function KnowledgeDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const id = params.base!
  const base = useQuery({
    queryKey: ['resource', 'knowledge-bases', id],
    queryFn: () => readResource<Base>('knowledge-bases', id),
    refetchInterval: ({ state }) => ((state.data?.progress.waiting ?? 0) > 0 || state.data?.progress.building ? 1_000 : false),
  })
  const progress = base.data?.progress
  const again = () => client.invalidateQueries({ queryKey: ['resource', 'knowledge-bases', id] })
  const save = async (next: Record<string, unknown>) => {
    await api('put', '/api/v1/knowledge-bases/{base}', { path: { base: id }, body: next })
    await again()
  }
  const reindex = async () => {
    if (!(await confirm({ title: t('resources.reindex'), text: t('resources.reindex_text'), action: t('resources.reindex') }))) return
    try {
      await api('post', '/api/v1/knowledge-bases/{base}/reindex', { path: { base: id } })
      await again()
    } catch (error) {
      failed(t('resources.reindex'), error)
    }
  }
  return (
    <Detail
      collection="knowledge-bases"
      path="/knowledge"
      back={t('navigation.knowledge')}
      row={base.data}
      error={base.error}
      retry={() => void base.refetch()}
      lead={
        <>
          {String(base.data?.definition?.description ?? '')}
          {progress && (
            <span className="block text-[13px]">
              {t('resources.base_counts', { documents: progress.documents, chunks: progress.chunks })}
              {progress.building && ` · ${t('resources.building', { ready: progress.building.ready, n: progress.building.documents })}`}
            </span>
          )}
        </>
      }
      actions={
        <Button icon={<RefreshCw size={15} />} onClick={() => void reindex()}>
          {t('resources.reindex')}
        </Button>
      }
      tabs={[
        { id: 'documents', label: t('resources.documents'), content: <Documents base={id} busy={(progress?.waiting ?? 0) > 0} onChange={() => void again()} /> },
        { id: 'search', label: t('resources.search_pad'), content: <SearchPad base={id} /> },
        { id: 'settings', label: t('resources.settings'), content: <DefinitionForm key={base.data?.version} kind="knowledge-base" value={base.data?.definition ?? {}} onSave={save} /> },
      ]}
    />
  )
}
