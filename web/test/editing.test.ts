import { describe, expect, it } from 'vitest'
import { copyText, paste, readClip } from '@/editor/clipboard'
import type { WorkflowDocument } from '@/editor/document'
import { complete } from '@/editor/ExpressionEditor'
import { EMPTY_BODY, geometryOf } from '@/editor/geometry'
import { begin, change, redo, undo } from '@/editor/history'
import { arrange, needsPlaces } from '@/editor/layout'
import * as operations from '@/editor/operations'
import { namesAt, referenceBefore, schemaAt, typeName } from '@/editor/scope'
import { lineDiff } from '@/editor/versions'

const flow: WorkflowDocument = {
  name: 'Flow',
  inputs: { type: 'object', properties: { amount: { type: 'number' } } },
  nodes: [
    { id: 'start', type: 'START' },
    { id: 'fetch', type: 'HTTP', config: { url: 'https://example.com/{{ inputs.amount }}' } },
    {
      id: 'each', type: 'ITERATION', config: { items: '{{ fetch.body }}', output: '{{ line.text }}' },
      body: { nodes: [{ id: 'line', type: 'TEMPLATE', config: { template: '{{ item }} {{ fetch.status_code }}' } }], edges: [{ from: 'line', to: '$break' }] },
    },
    { id: 'end', type: 'END', config: { outputs: { all: '{{ each.results }}' } } },
  ],
  edges: [{ from: 'start', to: 'fetch' }, { from: 'fetch', to: 'each' }, { from: 'each', to: 'end' }],
  ui: { positions: { start: [0, 0], fetch: [300, 0], each: [600, 0], end: [1_100, 0], line: [28, 62] } },
}

describe('operations', () => {
  it('joins what a removed node stood between', () => {
    const left = operations.remove(flow, new Set(['fetch']))
    expect(left.edges).toContainEqual({ from: 'start', to: 'each' })
    expect(left.ui?.positions).not.toHaveProperty('fetch')
    expect(operations.remove(flow, new Set(['start']))).toMatchObject({ nodes: flow.nodes, edges: flow.edges })
  })

  it('puts a node onto an edge', () => {
    const added = operations.addNode(flow, null, { id: 'new', type: 'TEMPLATE' }, [0, 0])
    const edges = operations.insertOn(added, { from: 'fetch', to: 'each' }, 'new', 'out').edges
    expect(edges).toContainEqual({ from: 'fetch', to: 'new' })
    expect(edges).toContainEqual({ from: 'new', to: 'each' })
    expect(edges).toHaveLength(4)
  })

  it('joins nodes of one body only, once, and without circles', () => {
    expect(operations.connect(flow, { from: 'fetch', to: 'line' })).toBe(flow)
    expect(operations.connect(flow, { from: 'start', to: 'fetch' })).toBe(flow)
    expect(operations.closesCircle(flow, 'end', 'fetch')).toBe(true)
    expect(operations.closesCircle(flow, 'start', 'end')).toBe(false)
  })

  it('changes a node deep inside and leaves everything else as it was', () => {
    const next = operations.updateNode(flow, 'line', (node) => ({ ...node, label: 'Line' }))
    expect(operations.find(next, 'line')?.node.label).toBe('Line')
    expect(next.nodes[1]).toBe(flow.nodes[1])
    expect(next.nodes[2]).not.toBe(flow.nodes[2])
  })

  it('knows what comes before a node, out of bodies too', () => {
    expect([...operations.upstream(flow, 'line')].sort()).toEqual(['fetch', 'start'])
    expect(operations.inOrder(flow).map((node) => node.id)).toEqual(['start', 'fetch', 'each', 'end'])
  })

  it('finds free ids', () => {
    expect(operations.freeId(new Set(['http', 'http_2']), 'http')).toBe('http_3')
    expect(operations.freeId(new Set(), '2nd try')).toBe('_2nd_try')
  })
})

describe('history', () => {
  it('takes keystrokes of one field together and goes back and forth', () => {
    let history = begin('')
    for (const [index, text] of ['a', 'ab', 'abc'].entries()) history = change(history, text, 'label', 1_000 + index * 100)
    history = change(history, 'abc!', null, 1_400)
    expect(undo(history).present).toBe('abc')
    expect(undo(undo(history)).present).toBe('')
    expect(redo(undo(history)).present).toBe('abc!')
    expect(change(undo(history), 'new', null, 2_000).future).toEqual([])
  })

  it('makes steps of changes that are far apart or of other fields', () => {
    const one = change(begin(''), 'a', 'x', 0)
    expect(change(one, 'ab', 'x', 10_000).past).toHaveLength(2)
    expect(change(one, 'ab', 'y', 1).past).toHaveLength(2)
    expect(change(one, 'a', 'x', 1)).toBe(one)
  })
})

describe('clipboard', () => {
  it('gives copied nodes new ids and lets references among them follow', () => {
    const text = copyText(flow, new Set(['fetch', 'each', 'start']))!
    expect(readClip('{"a": 1}')).toBeNull()
    expect(readClip('no json')).toBeNull()
    const { document, added } = paste(flow, readClip(text)!, null, null)
    expect(added).toEqual(['fetch_2', 'each_2'])
    const each = operations.find(document, 'each_2')!.node
    expect(each.config).toEqual({ items: '{{ fetch_2.body }}', output: '{{ line_2.text }}' })
    expect(each.body!.nodes[0]!.config).toEqual({ template: '{{ item }} {{ fetch_2.status_code }}' })
    expect(document.edges).toContainEqual({ from: 'fetch_2', to: 'each_2' })
    expect(new Set([...operations.walk(document)].map(({ node }) => node.id)).size).toBe([...operations.walk(document)].length)
  })

  it('leaves texts alone that only look like an id', () => {
    const other: WorkflowDocument = { ...flow, nodes: [{ id: 'text', type: 'TEMPLATE', config: { template: 'the text fetch {{ "fetch" }} {{ x.fetch }}' } }], edges: [] }
    const clip = readClip(copyText(other, new Set(['text']))!)!
    const { document } = paste({ ...other, nodes: [...other.nodes, { id: 'fetch', type: 'HTTP' }] }, clip, null, null)
    expect(operations.find(document, 'text_2')!.node.config!.template).toBe('the text fetch {{ "fetch" }} {{ x.fetch }}')
  })
})

describe('geometry and layout', () => {
  it('makes containers as large as what is in them', () => {
    const { steps, jumps } = geometryOf(flow, {})
    const each = steps.find((step) => step.node.id === 'each')!
    expect(each.size.width).toBeGreaterThan(EMPTY_BODY.width)
    expect(jumps).toHaveLength(1)
    expect(steps.findIndex((step) => step.node.id === 'each')).toBeLessThan(steps.findIndex((step) => step.node.id === 'line'))
  })

  it('places nodes from left to right without overlap', async () => {
    const bare = { ...flow, ui: {} }
    expect(needsPlaces(bare)).toBe(true)
    const positions = await arrange(bare, {})
    expect(Object.keys(positions).sort()).toEqual(['each', 'end', 'fetch', 'line', 'start'])
    const [start, fetch, each, end] = ['start', 'fetch', 'each', 'end'].map((id) => positions[id]![0])
    expect(start! < fetch! && fetch! < each! && each! < end!).toBe(true)
    expect(needsPlaces(operations.place(bare, positions))).toBe(false)
  })
})

describe('completion', () => {
  const types = { fetch: { type: 'object', properties: { body: { type: 'object', properties: { items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } } } }, status_code: { type: 'integer' } } } }
  const names = namesAt(flow, 'line', { types, inside: { each: { item: { type: 'string' }, index: { type: 'integer' } } } })

  it('offers what is upstream, the nearest first, with types', () => {
    expect(names.map((one) => one.name)).toEqual(['item', 'index', 'fetch', 'inputs', 'run', 'trigger', 'env'])
    expect(typeName(schemaAt(names, 'fetch.body.items'))).toBe('list of object')
    expect(typeName(schemaAt(names, 'fetch.body.items[0].name'))).toBe('text')
    expect(schemaAt(names, 'nothing.at.all')).toBeUndefined()
  })

  it('completes fields within an expression only, and filters after a bar', () => {
    const at = (text: string, kind: 'value' | 'expression' = 'value') => complete(text, text.length, kind, names, ['default', 'length'], false)?.options.map((one) => one.label)
    expect(at('{{ fetch.')).toEqual(['body', 'status_code', 'error'])
    expect(at('fetch.')).toBeUndefined()
    expect(at('fetch.', 'expression')).toEqual(['body', 'status_code', 'error'])
    expect(at('{{ fetch.body | ')).toEqual(['default', 'length'])
    expect(at("{{ 'fetch.")).toBeUndefined()
    expect(referenceBefore('{{ a }} b.', 10, 'value')).toBeNull()
  })
})

describe('text diff', () => {
  it('keeps what is common and says what came and went', () => {
    const lines = lineDiff('a\nb\nc\nd', 'a\nx\nc\nd\ne')
    expect(lines.filter((line) => line.kind === 'removed').map((line) => line.text)).toEqual(['b'])
    expect(lines.filter((line) => line.kind === 'added').map((line) => line.text)).toEqual(['x', 'e'])
    expect(lines.filter((line) => line.kind !== 'added').map((line) => line.text)).toEqual(['a', 'b', 'c', 'd'])
  })
})
