import { useQueryClient } from '@tanstack/react-query'
import { MessagesSquare, RotateCcw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '@/api/client'
import { useResource } from '@/api/resources'
import { Thread } from '@/chat/Thread'
import { useT } from '@/i18n/t'
import { DefinitionForm } from '@/resources/DefinitionForm'
import { Detail } from '@/resources/Detail'
import { Button } from '@/ui/Button'
import { Toggle } from '@/ui/Toggle'
import { failed } from '@/ui/toasts'
import { ScopePicker } from './ScopePicker'

const PERSONA = ['name', 'description', 'instructions', 'model']
const LIMITS = ['limits', 'model_config_json', 'builder']
const HOOKS = ['hooks']
const HINTS = { instructions: { widget: 'textarea', rows: 14 }, description: { widget: 'textarea', rows: 2 }, model: { widget: 'model' } }

/** An agent: its persona, what it may use, its limits and hooks, and a chat to try it in. */
export default function AgentDetail({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const id = params.agent!
  const agent = useResource('agents', id)
  const row = agent.data
  const definition = row?.definition
  const change = async (body: { definition?: Record<string, unknown>; active?: boolean }) => {
    await api('put', '/api/v1/agents/{agent}', { path: { agent: id }, body: { ...body, expected_version: row!.version } })
    await Promise.all([client.invalidateQueries({ queryKey: ['resource', 'agents', id] }), client.invalidateQueries({ queryKey: ['resources', 'agents'] })])
  }
  const save = (next: Record<string, unknown>) => change({ definition: next })
  const form = (only: string[]) => <DefinitionForm key={row?.version} kind="agent" only={only} value={definition ?? {}} onSave={save} hints={HINTS} />
  const secret = <p className="text-mute">{t('agents.not_yours')}</p>
  return (
    <Detail
      collection="agents"
      path="/agents"
      back={t('navigation.agents')}
      row={row}
      error={agent.error}
      retry={() => void agent.refetch()}
      lead={row?.description}
      actions={
        row && (
          <>
            <label className="flex items-center gap-2 text-[13px]">
              <Toggle aria-label={t('resources.active')} checked={row.active} onChange={(active) => void change({ active }).catch((error: unknown) => failed(t('resources.not_saved'), error))} />
              {t('resources.active')}
            </label>
            <Button icon={<MessagesSquare size={15} />} onClick={() => go(`/chat?agent=${id}`)}>
              {t('agents.chat')}
            </Button>
          </>
        )
      }
      tabs={[
        { id: 'persona', label: t('agents.persona'), content: <WithTrial agent={id} version={row?.version ?? 0}>{definition ? form(PERSONA) : secret}</WithTrial> },
        { id: 'scope', label: t('agents.scope'), content: definition ? <ScopePicker key={row?.version} definition={definition} onSave={save} /> : secret },
        { id: 'limits', label: t('agents.limits'), content: definition ? form(LIMITS) : secret },
        { id: 'hooks', label: t('agents.hooks'), content: definition ? <><p className="mb-4 max-w-2xl text-[13px] text-mute">{t('agents.hooks_lead')}</p>{form(HOOKS)}</> : secret },
      ]}
    />
  )
}

/** What is edited beside a chat with it as it was saved last. */
function WithTrial({ agent, version, children }: { agent: string; version: number; children: React.ReactNode }) {
  const t = useT()
  const [session, setSession] = useState<string | null>(null)
  const key = useMemo(() => `${version}`, [version])
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      {children}
      <section aria-label={t('agents.try')} className="flex h-[36rem] min-w-0 flex-col overflow-hidden rounded-xl border border-line bg-bg">
        <header className="flex h-11 shrink-0 items-center justify-between border-b border-line bg-panel px-3">
          <h2 className="text-[13px] font-medium">{t('agents.try')}</h2>
          <Button size="sm" look="ghost" icon={<RotateCcw size={14} />} disabled={session === null} onClick={() => setSession(null)}>
            {t('agents.from_start')}
          </Button>
        </header>
        <Thread key={session ?? key} session={session} agent={agent} onBegun={setSession} />
      </section>
    </div>
  )
}
