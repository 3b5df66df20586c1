// One line an area: the English catalogue gives the keys, the Japanese one is loaded when it is wanted.
import agents from './en/agents.json'
import approvals from './en/approvals.json'
import chat from './en/chat.json'
import common from './en/common.json'
import editor from './en/editor.json'
import home from './en/home.json'
import nodes from './en/nodes.json'
import resources from './en/resources.json'
import runs from './en/runs.json'
import settings from './en/settings.json'
import triggers from './en/triggers.json'
import workflows from './en/workflows.json'

export const english = { agents, approvals, chat, common, editor, home, nodes, resources, runs, settings, triggers, workflows }

export const japanese = async (): Promise<Record<string, Record<string, string>>> => {
  const files = import.meta.glob<Record<string, string>>('./ja/*.json', { import: 'default' })
  const loaded = await Promise.all(
    Object.entries(files).map(async ([path, load]) => [path.replace(/^.*\/|\.json$/g, ''), await load()] as const),
  )
  return Object.fromEntries(loaded)
}
