import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { api } from '@/api/client'
import type { WorkflowRow } from '@/api/workflows'
import { followDraft, settled, type Draft } from '@/editor/autosave'
import { check, followDocument, take } from '@/editor/checks'
import type { WorkflowDocument } from '@/editor/document'
import { Editor } from '@/editor/Editor'
import { arrange, needsPlaces } from '@/editor/layout'
import { place } from '@/editor/operations'
import { loadPins } from '@/editor/run'
import { open, set } from '@/editor/store'
import { useT } from '@/i18n/t'
import { clearRun, useRun, watchRun } from '@/runs/store'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

interface Read extends WorkflowRow {
  version: number
  document: WorkflowDocument
}

/** The document as the editor wants it: with edges, and with places for all nodes. */
async function ready(document: WorkflowDocument): Promise<WorkflowDocument> {
  const whole = { ...document, edges: document.edges ?? [] }
  if (!needsPlaces(whole)) return whole
  const checks = await check(whole).catch(() => null)
  if (checks) take(checks)
  return place(whole, await arrange(whole, checks?.handles ?? {}))
}

/** Opens the draft of a workflow, or its newest version, in the editor; `?run=` shows a run on it. */
export default function WorkflowEditor({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const workflow = params.workflow!
  const [search] = useSearchParams()
  const run = search.get('run')
  const [state, setState] = useState<'loading' | 'open' | { error: unknown }>('loading')
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let gone = false
    const ends: (() => void)[] = []
    const load = async () => {
      await settled()
      const [stored, { draft }]: [Read, { draft: Draft | null }] = await Promise.all([
        api('get', '/api/v1/workflows/{workflow}', { path: { workflow } }) as Promise<Read>,
        api('get', '/api/v1/workflows/{workflow}/draft', { path: { workflow } }) as Promise<{ draft: Draft | null }>,
      ])
      const document = await ready(draft?.document ?? stored.document)
      if (gone) return
      open(stored.id, document, { version: stored.version, publishedVersion: stored.published_version, kept: draft ? null : document })
      globalThis.document.title = `${stored.name} · Interlace`
      ends.push(followDocument(), followDraft(draft?.revision ?? null, draft?.updated_at ?? null))
      useRun.setState({ pins: {} })
      void loadPins().catch(() => undefined)
      setState('open')
    }
    load().catch((error: unknown) => !gone && setState({ error }))
    return () => {
      gone = true
      for (const end of ends) end()
      clearRun()
      setState('loading')
    }
  }, [workflow, tries])
  useEffect(() => {
    if (state !== 'open' || !run) return
    watchRun(run)
    set({ bottom: 'run' })
  }, [state, run])
  if (state === 'loading') return <Loading label={t('common.loading')} />
  if (state === 'open') return <Editor />
  return (
    <div className="mx-auto max-w-xl p-8">
      <Trouble error={state.error} retry={() => setTries(tries + 1)} />
    </div>
  )
}
