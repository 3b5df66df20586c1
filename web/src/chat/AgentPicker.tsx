import { Bot, ChevronDown, Sparkles } from 'lucide-react'
import { useLocation } from 'wouter'
import { useResources, useRoles } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Menu, type MenuEntry } from '@/ui/Menu'

interface Props {
  /** Id or name of the agent; null is Auto. */
  agent: string | null
  onChoose: (agent: string | null) => void
  /** The session has begun: choosing another agent begins a new one. */
  begun: boolean
}

/** The name of an agent as people read it. */
export function useAgentName(agent: string | null): string {
  const t = useT()
  const agents = useResources('agents')
  if (agent === null) return t('chat.auto')
  return agents.data?.find((one) => one.id === agent || one.name === agent)?.name ?? '…'
}

/** Who answers, and by which model. */
export function AgentPicker({ agent, onChoose, begun }: Props) {
  const t = useT()
  const [, go] = useLocation()
  const agents = useResources('agents')
  const roles = useRoles()
  const name = useAgentName(agent)
  const model = roles.data?.find((one) => one.role === 'general')?.models[0]
  const choices: MenuEntry[] = (agents.data ?? [])
    .filter((one) => one.active)
    .map((one) => ({ label: one.name, icon: <Bot size={14} />, checked: agent === one.id || agent === one.name, onSelect: () => onChoose(one.id) }))
  const items: MenuEntry[] = [
    { label: t('chat.auto'), icon: <Sparkles size={14} />, checked: agent === null, onSelect: () => onChoose(null) },
    ...(choices.length ? (['line', ...choices] as MenuEntry[]) : []),
    'line',
    { label: t('chat.manage_agents'), onSelect: () => go('/agents') },
  ]
  return (
    <div className="flex min-w-0 items-center gap-2">
      <Menu
        align="start"
        items={items}
        trigger={
          <button type="button" aria-label={t('chat.agent_is', { name })} title={begun ? t('chat.agent_new') : undefined} className="flex h-8 min-w-0 items-center gap-1.5 rounded-lg px-2 text-[13px] font-medium hover:bg-sunken">
            {agent === null ? <Sparkles size={15} aria-hidden className="shrink-0 text-accent-text" /> : <Bot size={15} aria-hidden className="shrink-0 text-accent-text" />}
            <span className="truncate">{name}</span>
            <ChevronDown size={14} aria-hidden className="shrink-0 text-mute" />
          </button>
        }
      />
      {model && <span className="truncate text-xs text-mute max-sm:hidden" title={t('chat.model')}>{model}</span>}
    </div>
  )
}
