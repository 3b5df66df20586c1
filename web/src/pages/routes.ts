import type { LucideIcon } from 'lucide-react'
import {
  Blocks, BookOpen, Bot, CalendarClock, ChartColumn, Cpu, Database, Inbox, KeyRound, LayoutTemplate, MessagesSquare, Play, Plug, ScrollText, ServerCog, Sparkles, Store, UserRound, Users, Webhook, Workflow, Wrench,
} from 'lucide-react'
import { lazy, type ComponentType, type LazyExoticComponent } from 'react'
import { allTexts, type Key } from '@/i18n/t'

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
type More = Omit<PageRoute, 'path' | 'page'>
const light = (path: string, load: Load, more: More = {}): PageRoute => ({ path, page: lazy(load), ...more })
const page = (path: string, load: Load, more?: More): PageRoute => light(path, async () => (await Promise.all([load(), allTexts()]))[0], more)

/** Every page: one line each. A page is a file under `pages/` with a default export; it is loaded when it is opened, and a `light` one comes without the texts of the others. */
export const routes: PageRoute[] = [
  page('/', () => import('./home/Home')),
  page('/login', () => import('./login/Login')),
  page('/chat', () => import('./chat/Chat'), { nav: { group: 'build', label: 'navigation.chat', icon: MessagesSquare } }),
  page('/chat/:session', () => import('./chat/Chat')),
  page('/workflows', () => import('./workflows/Workflows'), { nav: { group: 'build', label: 'workflows.title', icon: Workflow } }),
  page('/templates', () => import('./workflows/Templates'), { nav: { group: 'build', label: 'workflows.templates', icon: LayoutTemplate } }),
  light('/workflows/:workflow', () => import('./workflows/WorkflowEditor'), { wide: true }),
  page('/agents', () => import('./agents/Agents'), { nav: { group: 'build', label: 'navigation.agents', icon: Bot } }),
  page('/agents/:agent', () => import('./agents/AgentDetail')),
  page('/models', () => import('./models/Models'), { nav: { group: 'resources', label: 'navigation.models', icon: Cpu } }),
  page('/connectors', () => import('./connectors/Connectors'), { nav: { group: 'resources', label: 'navigation.connectors', icon: Plug } }),
  page('/connectors/:connector', () => import('./connectors/ConnectorDetail')),
  page('/databases', () => import('./databases/Databases'), { nav: { group: 'resources', label: 'navigation.databases', icon: Database } }),
  page('/databases/:database', () => import('./databases/DatabaseDetail')),
  page('/knowledge', () => import('./knowledge/KnowledgeBases'), { nav: { group: 'resources', label: 'navigation.knowledge', icon: BookOpen } }),
  page('/knowledge/:base', () => import('./knowledge/KnowledgeDetail')),
  page('/mcp-servers', () => import('./mcp/McpServers'), { nav: { group: 'resources', label: 'navigation.mcp', icon: Blocks } }),
  page('/mcp-servers/:server', () => import('./mcp/McpDetail')),
  page('/skills', () => import('./skills/Skills'), { nav: { group: 'resources', label: 'navigation.skills', icon: Sparkles } }),
  page('/skills/:skill', () => import('./skills/SkillDetail')),
  page('/tools', () => import('./tools/Tools'), { nav: { group: 'resources', label: 'navigation.builtin', icon: Wrench } }),
  page('/market', () => import('./market/Market'), { nav: { group: 'resources', label: 'navigation.market', icon: Store } }),
  page('/runs', () => import('./runs/Runs'), { nav: { group: 'operate', label: 'navigation.runs', icon: Play } }),
  page('/runs/:run', () => import('./runs/RunPage')),
  page('/compare/:a/:b', () => import('./runs/Compare')),
  page('/approvals', () => import('./approvals/Approvals'), { nav: { group: 'operate', label: 'navigation.approvals', icon: Inbox } }),
  page('/approvals/:request', () => import('./approvals/Approvals')),
  page('/schedules', () => import('./triggers/Schedules'), { nav: { group: 'operate', label: 'navigation.schedules', icon: CalendarClock } }),
  page('/schedules/:schedule', () => import('./triggers/SchedulePage')),
  page('/webhooks', () => import('./triggers/Webhooks'), { nav: { group: 'operate', label: 'navigation.webhooks', icon: Webhook } }),
  page('/webhooks/:webhook', () => import('./triggers/WebhookPage')),
  page('/settings/account', () => import('./settings/Account'), { nav: { group: 'settings', label: 'navigation.account', icon: UserRound } }),
  page('/settings/people', () => import('./settings/People'), { nav: { group: 'settings', label: 'navigation.people', icon: Users } }),
  page('/settings/orgs/:org', () => import('./settings/OrgPage')),
  page('/settings/secrets', () => import('./settings/Secrets'), { nav: { group: 'settings', label: 'navigation.secrets', icon: KeyRound } }),
  page('/settings/usage', () => import('./settings/Usage'), { nav: { group: 'settings', label: 'navigation.usage', icon: ChartColumn } }),
  page('/settings/audit', () => import('./settings/Audit'), { nav: { group: 'settings', label: 'navigation.audit', icon: ScrollText } }),
  page('/settings/system', () => import('./settings/System'), { nav: { group: 'settings', label: 'navigation.system', icon: ServerCog } }),
  page('/invitations/:token', () => import('./invitation/Invitation')),
]
