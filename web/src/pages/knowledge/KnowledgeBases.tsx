import { BookOpen } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewResource } from '@/resources/NewResource'
import { ResourceList } from '@/resources/ResourceList'
import { Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'

export default function KnowledgeBases() {
  const t = useT()
  return (
    <ResourceList
      collection="knowledge-bases"
      path="/knowledge"
      title={t('navigation.knowledge')}
      lead={t('resources.knowledge_lead')}
      emptyLead={t('resources.knowledge_empty')}
      icon={BookOpen}
      createLabel={t('resources.new_base')}
      create={(close) => <NewBase onClose={close} />}
    />
  )
}

function NewBase({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [description, setDescription] = useState('')
  return (
    <NewResource collection="knowledge-bases" path="/knowledge" title={t('resources.new_base')} lead={t('resources.new_base_lead')} placeholder="handbook" onClose={onClose} save={(name) => api('post', '/api/v1/knowledge-bases', { body: { name, definition: { description }, visibility: 'private' } })}>
      <Labelled label={t('common.description')} help={t('resources.description_help')}>{(ids) => <Textarea {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Labelled>
    </NewResource>
  )
}
