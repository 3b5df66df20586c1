import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link2, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { upload } from '@/api/chat'
import { api } from '@/api/client'
import { SourceModal } from '@/chat/Source'
import { ago, number, useT } from '@/i18n/t'
import { Drop } from '@/resources/Drop'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Input } from '@/ui/Input'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { failed } from '@/ui/toasts'

interface DocumentRow {
  id: string
  name: string
  source: string
  size: number
  state: 'waiting' | 'ready' | 'failed'
  chunks: number
  error: { message?: string } | null
  updated_at: number
}

const TONES = { ready: 'ok', waiting: 'info', failed: 'danger' } as const

/** The documents of a knowledge base: added, watched while they are read, opened, removed. */
export function Documents({ base, busy, onChange }: { base: string; busy: boolean; onChange: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [url, setUrl] = useState('')
  const [sending, setSending] = useState<Record<string, number>>({})
  const [open, setOpen] = useState<DocumentRow | null>(null)
  const documents = useQuery({
    queryKey: ['documents', base],
    queryFn: async () => (await api<'get', '/api/v1/knowledge-bases/{base}/documents', { items: DocumentRow[] }>('get', '/api/v1/knowledge-bases/{base}/documents', { path: { base }, query: { limit: 200 } })).items,
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'waiting') ? 1_000 : false),
  })
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['documents', base] })
  }, [busy, base, client])
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['documents', base] })
    onChange()
  }
  const add = async (files: File[]) => {
    for (const file of files) {
      try {
        setSending((all) => ({ ...all, [file.name]: 0 }))
        // oxlint-disable-next-line no-await-in-loop -- one after the other, so that progress says something
        const ref = await upload(file, (part) => setSending((all) => ({ ...all, [file.name]: part })))
        // oxlint-disable-next-line no-await-in-loop
        await api('post', '/api/v1/knowledge-bases/{base}/documents', { path: { base }, body: { file: ref.ref, name: file.name } as never })
      } catch (error) {
        failed(t('chat.upload_failed', { name: file.name }), error)
      } finally {
        setSending((all) => Object.fromEntries(Object.entries(all).filter(([name]) => name !== file.name)))
      }
    }
    await changed()
  }
  const addUrl = async () => {
    try {
      await api('post', '/api/v1/knowledge-bases/{base}/documents', { path: { base }, body: { url: url.trim() } as never })
      setUrl('')
      await changed()
    } catch (error) {
      failed(t('resources.fetch'), error)
    }
  }
  const remove = async (row: DocumentRow) => {
    if (!(await confirm({ title: t('resources.delete_title', { name: row.name }), text: t('resources.delete_document'), action: t('common.delete'), danger: true }))) return
    try {
      await api('delete', '/api/v1/knowledge-bases/{base}/documents/{document}', { path: { base, document: row.id } })
      await changed()
    } catch (error) {
      failed(t('common.delete'), error)
    }
  }
  const columns: Column<DocumentRow>[] = [
    {
      id: 'name', header: t('common.name'), sort: (row) => row.name,
      cell: (row) => (
        <>
          <button type="button" className="rounded text-left font-medium hover:text-accent-text hover:underline disabled:no-underline" disabled={row.state !== 'ready'} onClick={() => setOpen(row)}>
            {row.name || row.source}
          </button>
          {row.error && <p className="text-xs text-danger">{row.error.message}</p>}
        </>
      ),
    },
    { id: 'state', header: t('resources.state'), sort: (row) => row.state, cell: (row) => <Badge tone={TONES[row.state]}>{t(`resources.state_${row.state}`)}</Badge> },
    { id: 'chunks', header: t('resources.chunks'), sort: (row) => row.chunks, cell: (row) => number(row.chunks) },
    { id: 'size', header: t('resources.size'), sort: (row) => row.size, className: 'whitespace-nowrap', cell: (row) => `${number(row.size / 1024, { maximumFractionDigits: 1 })} KB` },
    { id: 'updated', header: t('resources.changed'), sort: (row) => row.updated_at, className: 'whitespace-nowrap text-mute', cell: (row) => ago(row.updated_at) },
    { id: 'actions', header: '', className: 'w-10', cell: (row) => <IconButton size="sm" label={t('common.remove_named', { name: row.name })} icon={<Trash2 size={14} />} onClick={() => void remove(row)} /> },
  ]
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-3 md:grid-cols-2">
        <Drop multiple label={t('resources.drop_documents')} help={t('resources.document_formats')} onFiles={(files) => void add(files)} />
        <form
          className="flex flex-col justify-center gap-2 rounded-xl border border-line p-4"
          onSubmit={(event) => {
            event.preventDefault()
            void addUrl()
          }}
        >
          <label htmlFor="document-url" className="text-[13px] font-medium">
            {t('resources.add_url')}
          </label>
          <div className="flex gap-2">
            <Input id="document-url" type="url" value={url} placeholder="https://" onChange={(event) => setUrl(event.target.value)} />
            <Button type="submit" icon={<Link2 size={15} />} disabled={!url.trim()}>
              {t('common.add')}
            </Button>
          </div>
        </form>
      </div>
      {Object.entries(sending).map(([name, part]) => (
        <div key={name} role="progressbar" aria-label={name} aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100} className="text-[13px]">
          {name}
          <div className="mt-1 h-1 rounded-full bg-sunken">
            <div className="h-1 rounded-full bg-accent" style={{ width: `${part * 100}%` }} />
          </div>
        </div>
      ))}
      <ResourceTable label={t('resources.documents')} rows={documents.data} columns={columns} rowKey={(row) => row.id} search={(row) => `${row.name} ${row.source}`} error={documents.error} retry={() => void documents.refetch()} empty={<p className="py-8 text-center text-mute">{t('resources.no_documents')}</p>} />
      {open && <SourceModal citation={{ n: 0, source: open.source, title: open.name, knowledge_base: base, document_id: open.id }} onClose={() => setOpen(null)} />}
    </div>
  )
}
