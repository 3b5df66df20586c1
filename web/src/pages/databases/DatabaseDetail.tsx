import { useQueryClient } from '@tanstack/react-query'
import { PlugZap } from 'lucide-react'
import { api } from '@/api/client'
import { useResource } from '@/api/resources'
import { useT } from '@/i18n/t'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Detail } from '@/resources/Detail'
import { useTrying } from '@/resources/trying'
import { Button } from '@/ui/Button'
import { done, failed } from '@/ui/toasts'
import { QueryPad } from './QueryPad'
import { Tables, type DatabaseDefinition } from './Tables'

const HIDDEN = ['tables', 'hidden_tables', 'hidden_columns']

export default function DatabaseDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const id = params.database!
  const database = useResource('databases', id)
  const { busy, trying } = useTrying()
  const definition = (database.data?.definition ?? {}) as unknown as DatabaseDefinition
  const save = async (next: Record<string, unknown>) => {
    await api('patch', '/api/v1/databases/{database}', { path: { database: id }, body: { definition: next as never, expected_version: database.data!.version } })
    await client.invalidateQueries({ queryKey: ['resource', 'databases', id] })
    await client.invalidateQueries({ queryKey: ['tables', id] })
  }
  const test = () =>
    trying(async () => {
      try {
        const report: { reachable: boolean; version: string; error: string; warnings: string[] } = await api('post', '/api/v1/databases/{database}/test', { path: { database: id } })
        if (report.reachable) done([t('resources.reachable', { version: report.version }), ...report.warnings].join(' '))
        else failed(t('resources.not_reachable'), new Error(report.error))
      } catch (error) {
        failed(t('resources.not_reachable'), error)
      }
    })
  return (
    <Detail
      collection="databases"
      path="/databases"
      back={t('navigation.databases')}
      row={database.data}
      error={database.error}
      retry={() => void database.refetch()}
      lead={definition.description}
      actions={
        <Button icon={<PlugZap size={15} />} busy={busy} onClick={() => void test()}>
          {t('resources.test')}
        </Button>
      }
      tabs={[
        { id: 'tables', label: t('resources.tables'), content: <Tables database={id} definition={definition} save={save} /> },
        { id: 'query', label: t('resources.query'), content: <QueryPad database={id} dialect={String(database.data?.definition?.dialect ?? '')} /> },
        { id: 'settings', label: t('resources.settings'), content: <DefinitionForm key={database.data?.version} kind="database" value={database.data?.definition ?? {}} leave={HIDDEN} onSave={save} /> },
      ]}
    />
  )
}
