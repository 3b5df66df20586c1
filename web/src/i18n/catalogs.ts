// One line an area. The English texts give the keys; those of the frame and the editor are there from the start.
import common from './en/common.json'
import editor from './en/editor.json'
import navigation from './en/navigation.json'
import nodes from './en/nodes.json'
import workflows from './en/workflows.json'

export const first = { common, editor, navigation, nodes, workflows }

/** Texts that only pages need which are not shown at first. */
export const others = async () => (await import('./others')).others

/** All of Japanese, which is loaded when it is wanted. */
export const japanese = async (): Promise<Record<string, Record<string, string>>> => {
  const files = import.meta.glob<Record<string, string>>('./ja/*.json', { import: 'default' })
  const loaded = await Promise.all(
    Object.entries(files).map(async ([path, load]) => [path.replace(/^.*\/|\.json$/g, ''), await load()] as const),
  )
  return Object.fromEntries(loaded)
}
