import { useQueryClient } from '@tanstack/react-query'
import { FileUp, Sparkles } from 'lucide-react'
import { useRef } from 'react'
import { send } from '@/api/client'
import { useT } from '@/i18n/t'
import { NewSkill } from './NewSkill'
import { ResourceList } from '@/resources/ResourceList'
import { Button } from '@/ui/Button'
import { done, failed } from '@/ui/toasts'

export default function Skills() {
  const t = useT()
  const client = useQueryClient()
  const picker = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    const form = new FormData()
    form.append('file', file, file.name)
    try {
      const { items } = (await (await send('/api/v1/skills/import', { method: 'POST', body: form })).json()) as { items: { name: string }[] }
      await client.invalidateQueries({ queryKey: ['resources', 'skills'] })
      done(t('resources.skills_imported', { n: items.length, names: items.map((one) => one.name).join(', ') }))
    } catch (error) {
      failed(t('workflows.import'), error)
    }
  }
  return (
    <ResourceList
      collection="skills"
      path="/skills"
      title={t('navigation.skills')}
      lead={t('resources.skills_lead')}
      emptyLead={t('resources.skills_empty')}
      icon={Sparkles}
      createLabel={t('resources.new_skill')}
      create={(close) => <NewSkill onClose={close} />}
      actions={
        <>
          <input
            ref={picker}
            hidden
            type="file"
            accept=".zip,.md"
            aria-label={t('resources.import_skill')}
            onChange={(event) => {
              void read(event.target.files?.[0])
              event.target.value = ''
            }}
          />
          <Button icon={<FileUp size={16} />} onClick={() => picker.current?.click()}>
            {t('resources.import_skill')}
          </Button>
        </>
      }
    />
  )
}
