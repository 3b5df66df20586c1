import { useQuery } from '@tanstack/react-query'
import { api } from '@/api/client'
import { listWorkflows } from '@/api/workflows'
import type { Option } from '@/ui/Choice'
import { useEditor } from './store'

interface Named {
  id?: string
  name: string
  description?: string | null
  title?: string | null
}

const LISTS = {
  knowledge_base: '/api/v1/knowledge-bases',
  mcp_server: '/api/v1/mcp-servers',
  connector: '/api/v1/connectors',
  database: '/api/v1/databases',
  agent: '/api/v1/agents',
  model: '/api/v1/models',
  tool: '/api/v1/tools',
} as const

export type Listed = keyof typeof LISTS

async function read(kind: Listed): Promise<Option[]> {
  const found: { items: Named[] } = await api('get', LISTS[kind], { query: { limit: 200 } } as never)
  return found.items.map(({ name, title, description }) => ({ value: name, label: title || name, ...(description ? { help: description } : {}) }))
}

/** What is there to choose from, for the fields that name something that exists. */
export function useOptions(): (widget: string, resource: string | undefined) => Option[] | undefined {
  const variables = useEditor((state) => state.history.present.variables)
  const used = { staleTime: 30_000, retry: false }
  const workflows = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows, ...used })
  const lists: Record<Listed, Option[] | undefined> = {
    knowledge_base: useQuery({ queryKey: ['options', 'knowledge_base'], queryFn: () => read('knowledge_base'), ...used }).data,
    mcp_server: useQuery({ queryKey: ['options', 'mcp_server'], queryFn: () => read('mcp_server'), ...used }).data,
    connector: useQuery({ queryKey: ['options', 'connector'], queryFn: () => read('connector'), ...used }).data,
    database: useQuery({ queryKey: ['options', 'database'], queryFn: () => read('database'), ...used }).data,
    agent: useQuery({ queryKey: ['options', 'agent'], queryFn: () => read('agent'), ...used }).data,
    model: useQuery({ queryKey: ['options', 'model'], queryFn: () => read('model'), ...used }).data,
    tool: useQuery({ queryKey: ['options', 'tool'], queryFn: () => read('tool'), ...used }).data,
  }
  return (widget, resource) => {
    if (widget === 'workflow') return workflows.data?.map(({ name }) => ({ value: name, label: name }))
    if (widget === 'variable') return Object.keys(variables ?? {}).map((name) => ({ value: name, label: name }))
    return lists[(resource ?? widget) as Listed]
  }
}
