import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeType } from '@/editor/catalogue'
import type { JsonSchema } from '@/schema/schema'

const folder = join(import.meta.dirname, '../../ui_schema')
const read = <T>(name: string): T => JSON.parse(readFileSync(join(folder, name), 'utf-8')) as T

/** Every node type as the server exports it. */
export const kinds: NodeType[] = readdirSync(join(folder, 'nodes')).map((name) => read<NodeType>(`nodes/${name}`))
export const shared: JsonSchema = read<JsonSchema>('shared.json')
