import type { NodeSpec } from './document'

const first = (config: Record<string, unknown>, names: string[]): string => {
  for (const name of names) {
    const value = config[name]
    if (typeof value === 'string' && value.trim()) return value.trim().split('\n')[0]!
  }
  return ''
}

/** One line that says what a step does here, of the fields that most tell it. */
export function summaryLine(spec: NodeSpec): string {
  const config = spec.config ?? {}
  switch (spec.type) {
    case 'HTTP':
      return [config.method ?? 'GET', first(config, ['url'])].filter(Boolean).join(' ')
    case 'CONNECTOR':
      return [config.connector, config.action].filter(Boolean).join(' · ')
    case 'MCP':
      return [config.server, config.tool].filter(Boolean).join(' · ')
    case 'LOOP':
      return config.until ? `until ${String(config.until)}` : config.while ? `while ${String(config.while)}` : ''
    case 'VARIABLE_ASSIGN':
      return Array.isArray(config.assignments) ? config.assignments.map((one: { variable?: string }) => one.variable).join(', ') : ''
    case 'LIST_OPERATION':
      return Array.isArray(config.operations) ? config.operations.map((one: object) => Object.keys(one)[0]).join(' → ') : ''
    case 'TRANSFORM':
      return Array.isArray(config.steps) ? config.steps.map((one: object) => Object.keys(one)[0]).join(' → ') : ''
    case 'CONDITION':
      return Array.isArray(config.cases) ? first((config.cases[0] ?? {}) as Record<string, unknown>, ['when']) : ''
    case 'CODE':
      return String(config.language ?? 'python')
    case 'END':
      return Object.keys((config.outputs as object | undefined) ?? {}).join(', ')
    default:
      return first(config, ['title', 'prompt', 'template', 'query', 'input', 'items', 'workflow', 'tool', 'sql', 'agent', 'model', 'file'])
  }
}
