import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followDraft, saveNow, settled, useSaving } from '@/editor/autosave'
import type { WorkflowDocument } from '@/editor/document'
import { edit, goBack, open } from '@/editor/store'
import { keep } from '@/editor/versions'

interface Call {
  method: string
  url: string
  body: { document?: WorkflowDocument; seen?: number | null }
  answer: (status: number, body?: unknown) => Promise<void>
}

const calls: Call[] = []
const doc = (name: string): WorkflowDocument => ({ name, nodes: [], edges: [] })
const rename = (name: string) => edit((now) => ({ ...now, name }))
const turn = () => vi.advanceTimersByTimeAsync(0)
const draft = (revision: number) => ({ draft: { revision, updated_at: 1 } })
let end = (): void => undefined

function visit(workflow: string, revision: number | null = null): void {
  const document = doc(workflow)
  open(workflow, document, { version: 1, kept: revision === null ? document : null })
  end = followDraft(revision, null)
}

beforeEach(() => {
  vi.useFakeTimers()
  calls.length = 0
  vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
    new Promise<Response>((resolve) => {
      const answer = async (status: number, body: unknown = {}) => {
        resolve(status === 204 ? new Response(null, { status }) : new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } }))
        await turn()
      }
      calls.push({ method: init.method!, url, body: JSON.parse((init.body as string | null) ?? '{}'), answer })
    }),
  )
})
afterEach(() => {
  end()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('saving drafts', () => {
  it('discards the draft when everything is undone', async () => {
    visit('a')
    rename('changed')
    await vi.advanceTimersByTimeAsync(1_000)
    await calls[0]!.answer(200, draft(7))
    goBack()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(calls[1]).toMatchObject({ method: 'DELETE', url: '/api/v1/workflows/a/draft?seen=7' })
    await calls[1]!.answer(204)
    expect(useSaving.getState().state).toBe('kept')
  })

  it('saves the last changes of a workflow as its own when another one is open', async () => {
    visit('a', 7)
    rename('first')
    void saveNow()
    await turn()
    rename('last')
    end()
    visit('b', 3)
    await calls[0]!.answer(200, draft(8))
    expect(calls[1]).toMatchObject({ url: '/api/v1/workflows/a/draft', body: { document: { name: 'last' }, seen: 8 } })
    await calls[1]!.answer(200, draft(9))
    rename('of b')
    void saveNow()
    await turn()
    expect(calls[2]).toMatchObject({ url: '/api/v1/workflows/b/draft', body: { document: { name: 'of b' }, seen: 3 } })
    await calls[2]!.answer(200, draft(4))
  })

  it('tries again what failed: after a while, and when the workflow was left before the next one is opened', async () => {
    visit('a', 7)
    rename('changed')
    await vi.advanceTimersByTimeAsync(1_000)
    await calls[0]!.answer(503)
    expect(useSaving.getState().state).toBe('failed')
    await vi.advanceTimersByTimeAsync(2_000)
    expect(calls).toHaveLength(2)
    await calls[1]!.answer(401)
    end()
    await turn()
    await calls[2]!.answer(401)
    const ready = settled()
    await turn()
    expect(calls[3]!.body).toMatchObject({ document: { name: 'changed' }, seen: 7 })
    await calls[3]!.answer(200, draft(8))
    await ready
    await settled()
    expect(calls).toHaveLength(4)
  })

  it('makes no version over a draft that was not seen, and saves what is typed meanwhile', async () => {
    visit('a')
    const late = keep('', true).catch((error: unknown) => error)
    await turn()
    expect(calls[0]!.body).toMatchObject({ seen: null })
    await calls[0]!.answer(409, { code: 'draft_conflict', detail: 'x', current: { document: doc('theirs'), revision: 4, updated_by: 'Ann' } })
    expect(await late).toBeInstanceOf(Error)
    expect(useSaving.getState()).toMatchObject({ state: 'conflict', theirs: { updated_by: 'Ann' } })
    expect(String(await keep('', true).catch((error: unknown) => error))).toContain('Ann')
    expect(calls).toHaveLength(1)
    end()

    visit('b')
    rename('sent')
    const made = keep('', false)
    await turn()
    await calls[1]!.answer(200, draft(5))
    expect(calls[2]!.body).toMatchObject({ document: { name: 'sent' }, seen: 5 })
    rename('typed meanwhile')
    await calls[2]!.answer(201, { id: 'b', version: 2 })
    await made
    expect(useSaving.getState().state).toBe('waiting')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(calls[3]!.body).toMatchObject({ document: { name: 'typed meanwhile' }, seen: null, base_version: 2 })
    await calls[3]!.answer(200, draft(9))
  })
})
