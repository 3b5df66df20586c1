import { Database } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewResource } from '@/resources/NewResource'
import { ResourceList } from '@/resources/ResourceList'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'

export default function Databases() {
  const t = useT()
  return (
    <ResourceList
      collection="databases"
      path="/databases"
      title={t('navigation.databases')}
      lead={t('resources.databases_lead')}
      emptyLead={t('resources.databases_empty')}
      icon={Database}
      createLabel={t('resources.new_database')}
      create={(close) => <NewDatabase onClose={close} />}
      columns={[{ id: 'dialect', header: t('resources.dialect'), sort: (row) => String(row.definition?.dialect), cell: (row) => String(row.definition?.dialect) }]}
    />
  )
}

function NewDatabase({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  return (
    <NewResource
      collection="databases"
      path="/databases"
      title={t('resources.new_database')}
      lead={t('resources.new_database_lead')}
      placeholder="shop"
      onClose={onClose}
      ready={url.trim() !== ''}
      save={(name) => api('post', '/api/v1/databases', { body: { name, definition: { url: url.trim(), description } as never, visibility: 'private' } })}
    >
      <Labelled label={t('resources.database_url')} help={t('resources.database_url_help')} required>
        {(ids) => <Input {...ids} className="font-mono text-[13px]" spellCheck={false} value={url} placeholder="postgresql://user:password@host/name" onChange={(event) => setUrl(event.target.value)} />}
      </Labelled>
      <Labelled label={t('common.description')} help={t('resources.description_help')}>
        {(ids) => <Textarea {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Labelled>
    </NewResource>
  )
}
