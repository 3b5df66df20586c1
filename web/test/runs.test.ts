import { describe, expect, it, vi } from 'vitest'
import { follow, parse } from '@/api/events'
import type { RunEvent } from '@/api/runs'
import { taken } from '@/pages/runs/useRun'
import { criticalPath, spans } from '@/runs/critical'
import { choosePass, fold, useRun } from '@/runs/store'

let seq = 0
const event = (type: string, path = '', data: Record<string, unknown> = {}, at = ++seq): RunEvent => ({ seq: ++seq, at, type, path, attempt: 1, data })
const state = () => useRun.getInitialState()

describe('a run from its events', () => {
  it('follows states, outputs, deltas and errors', () => {
    const run = fold(state(), [
      event('run.started', '', { inputs: {} }, 100),
      event('node.started', 'ask', {}, 101),
      event('node.delta', 'ask', { text: 'Hel' }),
      event('node.delta', 'ask', { text: 'lo' }),
    ])
    expect(run.status).toBe('running')
    expect(run.shown.ask).toMatchObject({ status: 'running', text: 'Hello', tokens: 2 })
    const ended = fold(run, [event('node.failed', 'ask', { error: { type: 'timeout', message: 'too slow' } }, 103), event('run.failed', '', { error: { path: 'ask', type: 'timeout', message: 'too slow' } }, 104)])
    expect(ended.shown.ask).toMatchObject({ status: 'failed', elapsed: 2_000, reason: 'too slow' })
    expect(ended).toMatchObject({ status: 'failed', error: { path: 'ask' }, ended: 104_000 })
    expect(run.shown.ask!.status).toBe('running')
  })

  it('shows the newest pass of a body until somebody chooses another', () => {
    const passes = [0, 1].flatMap((index) => [event('node.started', `each[${index}].line`), event('node.succeeded', `each[${index}].line`, { outputs: { text: `${index}` }, handles: ['out'] }), event('iteration.item', 'each', { index, status: 'succeeded' })])
    useRun.setState(fold(state(), passes), true)
    expect(useRun.getState().passes.each).toMatchObject({ count: 2, chosen: 1, mark: '[' })
    expect(useRun.getState().shown.line!.outputs).toEqual({ text: '1' })
    choosePass('each', 0)
    expect(useRun.getState().shown.line!.outputs).toEqual({ text: '0' })
    useRun.setState(fold(useRun.getState(), [event('node.started', 'each[2].line')]), true)
    expect(useRun.getState().passes.each).toMatchObject({ count: 3, chosen: 0 })
  })

  it('ends what still ran when the run was cancelled', () => {
    const run = fold(state(), [event('node.started', 'a'), event('run.cancelled')])
    expect(run.shown.a!.status).toBe('cancelled')
  })
})

describe('timeline', () => {
  const nodes = fold(state(), [
    event('node.started', 'a', {}, 10), event('node.succeeded', 'a', { handles: ['out'] }, 12),
    event('node.started', 'quick', {}, 12), event('node.succeeded', 'quick', { handles: ['out'] }, 13),
    event('node.started', 'slow', {}, 12), event('node.succeeded', 'slow', { handles: ['out'] }, 19),
    event('node.started', 'end', {}, 19), event('node.succeeded', 'end', { handles: ['out'] }, 20),
  ]).nodes
  const edges = [{ from: 'a', to: 'quick' }, { from: 'a', to: 'slow' }, { from: 'quick', to: 'end' }, { from: 'slow', to: 'end' }]

  it('finds what the end waited for', () => {
    expect([...criticalPath(Object.values(nodes), edges, 0)]).toEqual(['end', 'slow', 'a'])
    expect(spans(nodes, edges, 0).map((span) => [span.path, span.critical])).toEqual([['a', true], ['quick', false], ['slow', true], ['end', true]])
  })
})

describe('the events of a page', () => {
  it('are never too many to hear the end', () => {
    const many = [event('node.started', 'a'), event('node.delta', 'a'), event('node.delta', 'a')]
    const more = [event('node.delta', 'a'), event('node.succeeded', 'a'), event('run.succeeded')]
    expect(taken(many, more, 3).map((one) => one.type)).toEqual([...many.map((one) => one.type), 'node.succeeded', 'run.succeeded'])
    expect(taken(many, more, 4)).toEqual([...many, ...more])
    expect(taken([], [...many, ...more], 2).map((one) => one.type)).toEqual(['node.started', 'node.delta', 'node.succeeded', 'run.succeeded'])
  })
})

describe('server-sent events', () => {
  it.each([408, 425, 429, 503])('are asked for again after %i', async (status) => {
    vi.useFakeTimers()
    const answers = [new Response('{}', { status }), new Response('id: 1\nevent: done\ndata: {}\n\n')]
    vi.stubGlobal('fetch', () => Promise.resolve(answers.shift()))
    const seen: string[] = []
    const followed = follow('/x', { signal: new AbortController().signal, onEvent: (one) => seen.push(one.type), isLast: () => true })
    await vi.advanceTimersByTimeAsync(300)
    vi.useRealTimers()
    await followed
    expect(seen).toEqual(['done'])
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 404 })))
    await expect(follow('/x', { signal: new AbortController().signal, onEvent: () => undefined, isLast: () => true })).rejects.toThrow('404')
    vi.unstubAllGlobals()
  })

  it('are taken apart across pieces, comments left out', () => {
    const reader = parse(': still here\n\nid: 4\nevent: node.started\ndata: {"a":\ndata: 1}\n\nid: 5\nevent: x\nda')
    const first = reader.next()
    expect(first.value).toEqual({ id: '4', type: 'node.started', data: { a: 1 } })
    expect(reader.next()).toEqual({ done: true, value: 'id: 5\nevent: x\nda' })
  })
})
