import { useQueryClient } from '@tanstack/react-query'
import { Download, FileText } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useResource, type ResourceRow } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Detail } from '@/resources/Detail'
import { useTrying } from '@/resources/trying'
import { Button } from '@/ui/Button'
import { Textarea } from '@/ui/Input'
import Markdown from '@/ui/Markdown'
import { Toggle } from '@/ui/Toggle'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

interface Skill extends ResourceRow {
  text: string
  files: string[]
  definition: { body: string; files: { path: string }[] }
}

export default function SkillDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const id = params.skill!
  const skill = useResource<Skill>('skills', id)
  const row = skill.data
  const again = () => client.invalidateQueries({ queryKey: ['resource', 'skills', id] })
  const change = async (body: { text?: string; active?: boolean }) => {
    await api('put', '/api/v1/skills/{skill}', { path: { skill: id }, body: { files: body.text === undefined ? [] : (row!.definition.files as never), expected_version: row!.version, ...body } })
    await again()
  }
  return (
    <Detail
      collection="skills"
      path="/skills"
      back={t('navigation.skills')}
      row={row}
      error={skill.error}
      retry={() => void skill.refetch()}
      lead={row?.description}
      actions={
        row && (
          <>
            <label className="flex items-center gap-2 text-[13px]">
              <Toggle aria-label={t('resources.active')} checked={row.active} onChange={(active) => void change({ active }).catch((error: unknown) => failed(t('resources.not_saved'), error))} />
              {t('resources.active')}
            </label>
            <a href={`/api/v1/skills/${id}/export`} className="inline-flex h-9 items-center gap-1.5 rounded-lg border border-line bg-panel px-3 text-sm font-medium hover:bg-sunken">
              <Download size={15} aria-hidden /> {t('resources.export')}
            </a>
          </>
        )
      }
      tabs={[
        { id: 'preview', label: t('resources.preview'), content: row ? <Preview skill={row} /> : null },
        { id: 'edit', label: t('common.edit'), content: row ? <EditText key={row.version} text={row.text} save={(text) => change({ text })} /> : null },
      ]}
    />
  )
}

function Preview({ skill }: { skill: Skill }) {
  const t = useT()
  return (
    <div className="grid gap-6 lg:grid-cols-[1fr_16rem]">
      <Markdown text={skill.definition.body} />
      <aside aria-label={t('resources.files')}>
        <h2 className="mb-2 text-[13px] font-medium">{t('resources.files')}</h2>
        {skill.files.length ? (
          <ul className="flex flex-col gap-1 text-[13px]">
            {skill.files.map((path) => (
              <li key={path} className="flex items-center gap-1.5 font-mono text-xs">
                <FileText size={13} aria-hidden className="text-mute" /> {path}
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-[13px] text-mute">{t('resources.no_files')}</p>
        )}
      </aside>
    </div>
  )
}

function EditText({ text, save }: { text: string; save: (text: string) => Promise<void> }) {
  const t = useT()
  const [draft, setDraft] = useState(text)
  const { busy, error, trying } = useTrying()
  return (
    <div className="flex flex-col gap-3">
      <Textarea rows={22} aria-label="SKILL.md" className="font-mono text-[13px]" spellCheck={false} value={draft} onChange={(event) => setDraft(event.target.value)} />
      {error !== null && <Trouble error={error} />}
      <div>
        <Button look="primary" busy={busy} disabled={draft === text} onClick={() => void trying(() => save(draft)).then((ok) => ok && done(t('resources.saved')))}>
          {t('common.save')}
        </Button>
      </div>
    </div>
  )
}
