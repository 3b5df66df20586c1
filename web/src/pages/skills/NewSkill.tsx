import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewResource } from '@/resources/NewResource'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'

export function NewSkill({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [description, setDescription] = useState('')
  const [body, setBody] = useState('')
  return (
    <NewResource
      collection="skills"
      path="/skills"
      title={t('resources.new_skill')}
      lead={t('resources.new_skill_lead')}
      placeholder="refunds"
      onClose={onClose}
      ready={description.trim() !== '' && body.trim() !== ''}
      save={(name) => api('post', '/api/v1/skills', { body: { definition: { name, description, body }, files: [], visibility: 'private' } })}
    >
      <Labelled label={t('common.description')} help={t('resources.skill_description_help')} required>{(ids) => <Input {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Labelled>
      <Labelled label={t('resources.skill_text')} help={t('resources.skill_text_help')} required>{(ids) => <Textarea {...ids} rows={10} className="font-mono text-[13px]" value={body} onChange={(event) => setBody(event.target.value)} />}</Labelled>
    </NewResource>
  )
}
