import { describe, expect, it } from 'vitest'
import type { RunEvent } from '@/api/runs'
import { firstConfig, type NodeType } from '@/editor/catalogue'
import { weeksOf } from '@/pages/triggers/Calendar'
import { curl } from '@/pages/triggers/signatures'
import { criticalPath } from '@/pages/runs/critical'
import { fixOf } from '@/pages/runs/fixes'
import { read, tree, worked } from '@/pages/runs/model'
import { marks } from '@/pages/runs/Timeline'
import { ceiling } from '@/pages/settings/Columns'
import { browserName } from '@/pages/settings/Account'

let seq = 0
const event = (type: string, path: string, at: number, data: Record<string, unknown> = {}, attempt = 1): RunEvent => ({ seq: ++seq, type, path, at, attempt, data })

describe('what a journal tells', () => {
  it('keeps attempts apart, with their errors and pauses', () => {
    const journal = read([
      event('run.started', '', 0),
      event('node.started', 'a', 1),
      event('node.retrying', 'a', 2, { error: { type: 'timeout', message: 'slow' }, delay: 0.5 }),
      event('node.started', 'a', 3, {}, 2),
      event('node.succeeded', 'a', 5, { outputs: { x: 1 }, handles: ['out'], elapsed_ms: 2000 }, 2),
      event('run.succeeded', '', 6),
    ])
    expect(journal.nodes.a!.attempts).toEqual([
      { attempt: 1, start: 1, end: 2, error: { type: 'timeout', message: 'slow' }, delay: 0.5 },
      { attempt: 2, start: 3, end: 5, error: null, delay: null },
    ])
    expect(journal.nodes.a!.outputs).toEqual({ x: 1 })
    expect(worked(journal.nodes.a, 9)).toBe(3000)
    expect([journal.start, journal.end]).toEqual([0, 6])
  })

  it('tells waiting from working, and ends what the end of the run cuts off', () => {
    const { nodes } = read([
      event('node.started', 'ask', 1),
      event('node.suspended', 'ask', 2, { id: 'w' }),
      event('node.resumed', 'ask', 12, {}),
      event('node.succeeded', 'ask', 13, { outputs: {} }),
      event('node.started', 'other', 13),
      event('run.cancelled', '', 14),
    ])
    expect(nodes.ask!.spans.map((span) => [span.kind, span.start, span.end])).toEqual([
      ['work', 1, 2],
      ['wait', 2, 12],
      ['work', 12, 13],
    ])
    expect(nodes.other!.spans[0]!.end).toBe(14)
    expect(worked(nodes.ask, 99)).toBe(2000)
  })

  it('joins what an agent asked of tools with what they gave', () => {
    const { nodes } = read([
      event('tool.started', 'agent', 1, { step: '1', name: 'calculator', arguments: { expression: '1+1' } }),
      event('tool.finished', 'agent', 2, { step: '1', name: 'calculator', text: '2', is_error: false }),
    ])
    expect(nodes.agent!.tools).toEqual([{ step: '1', name: 'calculator', arguments: { expression: '1+1' }, text: '2', value: undefined, error: false, start: 1, end: 2 }])
  })

  it('makes a tree of paths: passes in their order below their container', () => {
    const [start, each] = tree(['each[10].work', 'each[2].loop#1.inc', 'each', 'start'], (name) => ['start', 'each'].indexOf(name))
    expect(start!.name).toBe('start')
    expect(each!.children.map((child) => child.name)).toEqual(['[2]', '[10]'])
    expect(each!.children[0]!.children[0]!.children[0]).toMatchObject({ pass: '#1', children: [{ path: 'each[2].loop#1.inc', name: 'inc' }] })
  })
})

describe('the critical path', () => {
  const ran = (names: Record<string, [number, number]>) => read(Object.entries(names).flatMap(([path, [from, to]]) => [event('node.started', path, from), event('node.succeeded', path, to)]))

  it('follows whichever predecessor ended last', () => {
    const journal = ran({ start: [0, 1], quick: [1, 2], slow: [1, 8], end: [8, 9] })
    const edges = [
      ['start', 'quick'],
      ['start', 'slow'],
      ['quick', 'end'],
      ['slow', 'end'],
    ].map(([source, target]) => ({ source: source!, target: target! }))
    expect(criticalPath(journal, edges)).toEqual(['start', 'slow', 'end'])
  })

  it('goes through nodes that were skipped, and does not turn in circles', () => {
    const journal = ran({ start: [0, 1], end: [2, 3] })
    const edges = [
      { source: 'start', target: 'skipped' },
      { source: 'skipped', target: 'end' },
      { source: 'end', target: 'skipped' },
    ]
    expect(criticalPath(journal, edges)).toEqual(['start', 'end'])
    expect(criticalPath(read([]), edges)).toEqual([])
  })
})

describe('small parts', () => {
  it('divides a length of time by round marks', () => {
    expect(marks(10)).toEqual([0, 2, 4, 6, 8, 10])
    expect(marks(0)).toEqual([0])
    expect(marks(0.013).length).toBeLessThanOrEqual(7)
  })

  it('tops a chart with a round number', () => {
    expect([ceiling(0), ceiling(7), ceiling(10), ceiling(2300)]).toEqual([1, 10, 10, 2500])
  })

  it('lays a month out in whole weeks from Monday', () => {
    const weeks = weeksOf('2027-03')
    expect([weeks[0]![0], weeks.at(-1)![6]]).toEqual(['2027-03-01', '2027-04-04'])
    expect(weeksOf('2026-02').flat()).toContain('2026-02-28')
  })

  it('names browsers', () => {
    expect(browserName('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36')).toBe('Chrome, Linux')
    expect(browserName('')).toBe('—')
  })

  it('knows what to do about errors; what the error says itself wins', () => {
    expect(fixOf({ type: 'timeout' })).toContain('time limit')
    expect(fixOf({ type: 'http_404' }, 'LLM')).toContain('model provider')
    expect(fixOf({ type: 'timeout', fix: 'Do this.' })).toBe('Do this.')
    expect(fixOf({ type: 'strange' })).toBeUndefined()
  })

  it('writes commands that shells take, whatever stands in the body', () => {
    expect(curl('http://x/hooks/a', 'POST', null, { name: "O'Neil" })).toContain(`'{"name":"O'\\''Neil"}'`)
    expect(curl('http://x/hooks/a', 'POST', { type: 'github' }, {})).toContain('X-Hub-Signature-256: sha256=$SIGN')
    expect(curl('http://x/hooks/a', 'GET', null, {})).toBe("curl -X GET 'http://x/hooks/a'")
  })
})

describe('the languages', () => {
  it('have the same texts with the same places for values', async () => {
    for (const area of ['approvals', 'runs', 'settings', 'triggers', 'common']) {
      const [en, ja] = await Promise.all(['en', 'ja'].map((language) => import(`../src/i18n/${language}/${area}.json`).then((file) => file.default as Record<string, string>)))
      expect(Object.keys(ja!)).toEqual(Object.keys(en!))
      for (const [key, text] of Object.entries(en!)) {
        const places = (one: string) => [...new Set(one.match(/\{\w+\}/g))].toSorted()
        expect([area, key, places(ja![key]!)]).toEqual([area, key, places(text)])
      }
    }
  })
})

describe('a new step', () => {
  it('has the values that the code of its example takes', () => {
    const type = { config: { required: ['code'] }, example: { code: 'def main(n): return {}', inputs: { n: 1 } } } as unknown as NodeType
    expect(firstConfig(type)).toEqual(type.example)
  })
})
