import { api } from './client'
import type { WorkflowDocument } from '@/editor/document'

export interface WorkflowRow {
  id: string
  name: string
  published_version: number | null
  created_at: number
  updated_at: number
  owner: string
  org_id: string | null
  visibility: string
  publish_status: string | null
}

export interface Pushed {
  id: string
  name: string
  version: number
  created: boolean
  published: boolean
}

/** Everything behind a cursor, up to a sane number. */
export async function listWorkflows(): Promise<WorkflowRow[]> {
  const found: WorkflowRow[] = []
  let cursor: string | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- pages follow each other
    const page: { items: WorkflowRow[]; next_cursor: string | null } = await api('get', '/api/v1/workflows', { query: { limit: 200, cursor } })
    found.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor && found.length < 2_000)
  return found
}

/** Stores a document, as an object or text, as a version of the workflow of its name. */
export const push = (document: WorkflowDocument | string, note = '', publish = false): Promise<Pushed> =>
  api('post', '/api/v1/workflows', { body: { document: document as never, note, publish } })

export const removeWorkflow = (workflow: string): Promise<void> => api('delete', '/api/v1/workflows/{workflow}', { path: { workflow } })

export interface Imported {
  ok: boolean
  yaml: string | null
  report: { level: string; source_node: string | null; node: string | null; code: string; message: string }[]
}

export const importText = (text: string, name: string): Promise<Imported> => api('post', '/api/v1/workflows/import', { body: { text, name, from: 'auto' } })

export const exportText = (workflow: string, version = 'latest'): Promise<string> => api('get', '/api/v1/workflows/{workflow}/document', { path: { workflow }, query: { version }, headers: { accept: 'application/yaml' } })

/** Lets the browser keep a text as a file. */
export function saveFile(name: string, text: string, type = 'application/yaml'): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 1_000)
}

export const fileName = (name: string): string => `${name.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'workflow'}.yaml`
