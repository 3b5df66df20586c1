import type { LucideIcon } from 'lucide-react'
import {
  Blocks, BookOpen, Bot, CalendarClock, ChartColumn, Cpu, Database, Inbox, KeyRound, LayoutTemplate, MessagesSquare, Play, Plug, ScrollText, ServerCog, Sparkles, Store, UserRound, Users, Webhook, Workflow, Wrench,
} from 'lucide-react'
import { lazy, type ComponentType, type LazyExoticComponent } from 'react'
import type { Key } from '@/i18n/t'

export type Group = 'build' | 'operate' | 'resources' | 'settings'

export interface PageRoute {
  /** wouter's pattern; its parameters are the props `params` of the page. */
  path: string
  page: LazyExoticComponent<ComponentType<{ params: Record<string, string | undefined> }>>
  /** An entry of the navigation and of the command palette. */
  nav?: { group: Group; label: Key; icon: LucideIcon }
  /** With a narrow navigation: the page needs the room. */
  wide?: boolean
}

type Load = () => Promise<{ default: ComponentType<{ params: Record<string, string | undefined> }> }>
const page = (path: string, load: Load, more: Omit<PageRoute, 'path' | 'page'> = {}): PageRoute => ({ path, page: lazy(load), ...more })

/** Every page: one line each. A page is a file under `pages/` with a default export; it is loaded when it is opened. */
export const routes: PageRoute[] = [
  page('/', () => import('./home/Home')),
  page('/login', () => import('./login/Login')),
  page('/chat', () => import('./chat/Chat'), { nav: { group: 'build', label: 'chat.title', icon: MessagesSquare } }),
  page('/chat/:session', () => import('./chat/Chat')),
  page('/workflows', () => import('./workflows/Workflows'), { nav: { group: 'build', label: 'workflows.title', icon: Workflow } }),
  page('/templates', () => import('./workflows/Templates'), { nav: { group: 'build', label: 'workflows.templates', icon: LayoutTemplate } }),
  page('/workflows/:workflow', () => import('./workflows/WorkflowEditor'), { wide: true }),
  page('/agents', () => import('./agents/Agents'), { nav: { group: 'build', label: 'agents.title', icon: Bot } }),
  page('/agents/:agent', () => import('./agents/AgentDetail')),
  page('/models', () => import('./models/Models'), { nav: { group: 'resources', label: 'resources.models', icon: Cpu } }),
  page('/connectors', () => import('./connectors/Connectors'), { nav: { group: 'resources', label: 'resources.connectors', icon: Plug } }),
  page('/connectors/:connector', () => import('./connectors/ConnectorDetail')),
  page('/databases', () => import('./databases/Databases'), { nav: { group: 'resources', label: 'resources.databases', icon: Database } }),
  page('/databases/:database', () => import('./databases/DatabaseDetail')),
  page('/knowledge', () => import('./knowledge/KnowledgeBases'), { nav: { group: 'resources', label: 'resources.knowledge', icon: BookOpen } }),
  page('/knowledge/:base', () => import('./knowledge/KnowledgeDetail')),
  page('/mcp-servers', () => import('./mcp/McpServers'), { nav: { group: 'resources', label: 'resources.mcp', icon: Blocks } }),
  page('/mcp-servers/:server', () => import('./mcp/McpDetail')),
  page('/skills', () => import('./skills/Skills'), { nav: { group: 'resources', label: 'resources.skills', icon: Sparkles } }),
  page('/skills/:skill', () => import('./skills/SkillDetail')),
  page('/tools', () => import('./tools/Tools'), { nav: { group: 'resources', label: 'resources.builtin', icon: Wrench } }),
  page('/market', () => import('./market/Market'), { nav: { group: 'resources', label: 'resources.market', icon: Store } }),
  page('/runs', () => import('./runs/Runs'), { nav: { group: 'operate', label: 'runs.title', icon: Play } }),
  page('/runs/:run', () => import('./runs/RunPage')),
  page('/compare/:a/:b', () => import('./runs/Compare')),
  page('/approvals', () => import('./approvals/Approvals'), { nav: { group: 'operate', label: 'approvals.title', icon: Inbox } }),
  page('/approvals/:request', () => import('./approvals/Approvals')),
  page('/schedules', () => import('./triggers/Schedules'), { nav: { group: 'operate', label: 'triggers.schedules', icon: CalendarClock } }),
  page('/schedules/:schedule', () => import('./triggers/SchedulePage')),
  page('/webhooks', () => import('./triggers/Webhooks'), { nav: { group: 'operate', label: 'triggers.webhooks', icon: Webhook } }),
  page('/webhooks/:webhook', () => import('./triggers/WebhookPage')),
  page('/settings/account', () => import('./settings/Account'), { nav: { group: 'settings', label: 'settings.account', icon: UserRound } }),
  page('/settings/people', () => import('./settings/People'), { nav: { group: 'settings', label: 'settings.people', icon: Users } }),
  page('/settings/orgs/:org', () => import('./settings/OrgPage')),
  page('/settings/secrets', () => import('./settings/Secrets'), { nav: { group: 'settings', label: 'settings.secrets', icon: KeyRound } }),
  page('/settings/usage', () => import('./settings/Usage'), { nav: { group: 'settings', label: 'settings.usage', icon: ChartColumn } }),
  page('/settings/audit', () => import('./settings/Audit'), { nav: { group: 'settings', label: 'settings.audit', icon: ScrollText } }),
  page('/settings/system', () => import('./settings/System'), { nav: { group: 'settings', label: 'settings.system', icon: ServerCog } }),
  page('/invitations/:token', () => import('./invitation/Invitation')),
]
