import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Copy, Download, Ellipsis, FileUp, LayoutTemplate, Plus, Trash2, Workflow } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '@/api/client'
import { exportText, fileName, listWorkflows, push, removeWorkflow, saveFile, type WorkflowRow } from '@/api/workflows'
import type { WorkflowDocument } from '@/editor/document'
import { ago, dateTime, useT } from '@/i18n/t'
import { useOffer } from '@/shell/commands'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Menu } from '@/ui/Menu'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { done, failed } from '@/ui/toasts'
import { ImportWorkflow } from './ImportWorkflow'
import { NewWorkflow } from './NewWorkflow'

export default function Workflows() {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [creating, setCreating] = useState(false)
  const [importing, setImporting] = useState(false)
  const workflows = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows })
  const commands = useMemo(
    () => [
      { id: 'new-workflow', label: t('workflows.new'), icon: <Plus size={15} />, run: () => setCreating(true) },
      { id: 'import-workflow', label: t('workflows.import'), icon: <FileUp size={15} />, run: () => setImporting(true) },
    ],
    [t],
  )
  useOffer('workflows', commands)

  const trying = async (what: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      failed(what, error)
    }
  }
  const remove = (row: WorkflowRow) =>
    trying(t('common.delete'), async () => {
      const agreed = await confirm({ title: t('workflows.delete_title', { name: row.name }), text: t('workflows.delete_text'), action: t('common.delete'), danger: true })
      if (!agreed) return
      await removeWorkflow(row.id)
      await client.invalidateQueries({ queryKey: ['workflows'] })
      done(t('workflows.deleted', { name: row.name }))
    })
  const duplicate = (row: WorkflowRow) =>
    trying(t('workflows.duplicate'), async () => {
      const { document }: { document: WorkflowDocument } = await api('get', '/api/v1/workflows/{workflow}', { path: { workflow: row.id } })
      const taken = new Set(workflows.data?.map((one) => one.name))
      let name = t('workflows.copy_of', { name: row.name })
      for (let n = 2; taken.has(name); n++) name = `${t('workflows.copy_of', { name: row.name })} ${n}`
      const made = await push({ ...document, name })
      await client.invalidateQueries({ queryKey: ['workflows'] })
      go(`/workflows/${made.id}`)
    })
  const save = (row: WorkflowRow) => trying(t('workflows.export'), async () => saveFile(fileName(row.name), await exportText(row.id)))

  const columns: Column<WorkflowRow>[] = [
    {
      id: 'name',
      header: t('common.name'),
      sort: (row) => row.name,
      cell: (row) => (
        <Link href={`/workflows/${row.id}`} className="font-medium hover:text-accent-text hover:underline">
          {row.name}
        </Link>
      ),
    },
    {
      id: 'published',
      header: t('workflows.published'),
      cell: (row) =>
        row.published_version === null ? <Badge>{t('workflows.not_published')}</Badge> : <Badge tone="ok">{t('workflows.version', { n: row.published_version })}</Badge>,
    },
    { id: 'updated', header: t('workflows.changed'), sort: (row) => row.updated_at, cell: (row) => <time className="text-mute" title={dateTime(row.updated_at)}>{ago(row.updated_at)}</time> },
    {
      id: 'actions',
      header: '',
      className: 'w-10 text-right',
      cell: (row) => (
        <Menu
          trigger={<IconButton size="sm" label={t('workflows.actions_of', { name: row.name })} icon={<Ellipsis size={16} />} />}
          items={[
            { label: t('workflows.duplicate'), icon: <Copy size={14} />, onSelect: () => void duplicate(row) },
            { label: t('workflows.export'), icon: <Download size={14} />, onSelect: () => void save(row) },
            'line',
            { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, onSelect: () => void remove(row) },
          ]}
        />
      ),
    },
  ]
  return (
    <Page
      title={t('workflows.title')}
      lead={t('workflows.lead')}
      actions={
        <>
          <Button icon={<FileUp size={16} />} onClick={() => setImporting(true)}>
            {t('workflows.import')}
          </Button>
          <Button look="primary" icon={<Plus size={16} />} onClick={() => setCreating(true)}>
            {t('workflows.new')}
          </Button>
        </>
      }
    >
      <ResourceTable
        label={t('workflows.title')}
        rows={workflows.data}
        columns={columns}
        rowKey={(row) => row.id}
        search={(row) => row.name}
        error={workflows.error}
        retry={() => void workflows.refetch()}
        empty={
          <Empty
            icon={<Workflow size={24} aria-hidden />}
            title={t('workflows.empty')}
            actions={
              <>
                <Button look="primary" icon={<LayoutTemplate size={16} />} onClick={() => go('/templates')}>
                  {t('workflows.from_template')}
                </Button>
                <Button icon={<Plus size={16} />} onClick={() => setCreating(true)}>
                  {t('workflows.new')}
                </Button>
              </>
            }
          >
            {t('workflows.empty_lead')}
          </Empty>
        }
      />
      {creating && <NewWorkflow open onOpenChange={setCreating} taken={workflows.data?.map((row) => row.name) ?? []} />}
      {importing && <ImportWorkflow open onOpenChange={setImporting} />}
    </Page>
  )
}
