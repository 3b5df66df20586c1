import { Bot, MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewResource } from '@/resources/NewResource'
import { ResourceList } from '@/resources/ResourceList'
import { Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'

export default function Agents() {
  const t = useT()
  const [, go] = useLocation()
  return (
    <ResourceList
      collection="agents"
      path="/agents"
      title={t('navigation.agents')}
      lead={t('agents.lead')}
      emptyLead={t('agents.empty')}
      icon={Bot}
      createLabel={t('agents.new')}
      create={(close) => <NewAgent onClose={close} />}
      menu={(row) => [{ label: t('agents.chat'), icon: <MessagesSquare size={14} />, onSelect: () => go(`/chat?agent=${row.id}`) }]}
    />
  )
}

function NewAgent({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [description, setDescription] = useState('')
  const [instructions, setInstructions] = useState('')
  return (
    <NewResource collection="agents" path="/agents" title={t('agents.new')} lead={t('agents.new_lead')} placeholder={t('agents.name_example')} onClose={onClose} save={(name) => api('post', '/api/v1/agents', { body: { definition: { name, description, instructions }, visibility: 'private' } })}>
      <Labelled label={t('common.description')} help={t('agents.description_help')}>{(ids) => <Textarea {...ids} rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />}</Labelled>
      <Labelled label={t('agents.instructions')} help={t('agents.instructions_help')}>{(ids) => <Textarea {...ids} rows={6} value={instructions} placeholder={t('agents.instructions_example')} onChange={(event) => setInstructions(event.target.value)} />}</Labelled>
    </NewResource>
  )
}
