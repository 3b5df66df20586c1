import { fireEvent, render, screen } from '@testing-library/react'
import { Tooltip } from 'radix-ui'
import { useState } from 'react'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '@/schema/schema'
import { initial, labelOf, quickCheck, resolve, shapeOf } from '@/schema/schema'
import { SchemaForm } from '@/schema/SchemaForm'
import { kinds, shared } from './kinds'


type Value = Record<string, unknown>

function Held({ schema, first, seen }: { schema: JsonSchema; first: Value; seen: (value: Value) => void }) {
  const [value, setValue] = useState(first)
  return (
    <Tooltip.Provider>
      <SchemaForm
        schema={schema}
        value={value}
        onChange={(next) => {
          setValue(next)
          seen(next)
        }}
      />
    </Tooltip.Provider>
  )
}

function show(schema: JsonSchema, first: Value = {}) {
  let last = first
  const shown = render(<Held schema={schema} first={first} seen={(value) => (last = value)} />)
  const more = screen.queryByRole('button', { name: /more fields?$/ })
  if (more) fireEvent.click(more)
  return { ...shown, value: () => last }
}

/** What a control is called: its label, or the text that names it. */
function nameOf(control: Element): string {
  const said = control.getAttribute('aria-label') ?? control.getAttribute('aria-labelledby')
  const label = control.id ? [...document.querySelectorAll('label')].find((one) => one.htmlFor === control.id) : null
  return (said ?? label?.textContent ?? control.textContent ?? '').trim()
}

describe.each(kinds.map((kind) => [kind.type, kind] as const))('the form of %s', (_type, kind) => {
  it('shows every property, and every control has a name', () => {
    const { container } = show(kind.config, kind.example)
    const text = container.textContent!
    for (const [name, property] of Object.entries(kind.config.properties ?? {})) {
      const shape = shapeOf(property, kind.config)
      if (shape.kind !== 'const') expect(text).toContain(labelOf(resolve(property, kind.config).title ? resolve(property, kind.config) : shape.schema, name))
    }
    const controls = [...container.querySelectorAll('input, textarea, select, button, [role=combobox], [role=switch]')]
    for (const control of controls) expect(nameOf(control), control.outerHTML.slice(0, 200)).not.toBe('')
  })

  it('leaves a config as it is until somebody changes it', () => {
    const { value } = show(kind.config, kind.example)
    expect(value()).toEqual(kind.example)
  })

  it('begins new values with what the schema demands', () => {
    for (const [name, property] of Object.entries(kind.config.properties ?? {})) {
      if (kind.config.required?.includes(name)) expect(initial(property, kind.config), name).not.toBeUndefined()
    }
  })
})

describe('controls', () => {
  it('takes null and templates off a schema', () => {
    const schema: JsonSchema = { anyOf: [{ type: 'number', minimum: 1 }, { type: 'string', pattern: '\\{\\{' }, { type: 'null' }], default: null, ui: { expression: 'value' } }
    const shape = shapeOf(schema, {})
    expect(shape).toMatchObject({ kind: 'number', nullable: true, hints: { expression: 'value' } })
    expect(shape.schema.minimum).toBe(1)
  })

  it('chooses one of several variants by its tag and keeps only what belongs to it', () => {
    const http = kinds.find((kind) => kind.type === 'HTTP')!
    const { value } = show({ ...http.config, properties: { auth: http.config.properties!.auth! }, required: [] }, { auth: { type: 'bearer', token: 'x' } })
    expect(screen.getByLabelText(/^Token/)).toHaveProperty('value', 'x')
    fireEvent.change(screen.getByLabelText(/^Token/), { target: { value: '{{ secrets.token }}' } })
    expect(value()).toEqual({ auth: { type: 'bearer', token: '{{ secrets.token }}' } })
  })

  it('adds, names and removes the entries of a map', () => {
    const end = kinds.find((kind) => kind.type === 'END')!
    const { value } = show(end.config, {})
    fireEvent.click(screen.getAllByRole('button', { name: 'Add' })[0]!)
    const name = screen.getByLabelText('Name')
    fireEvent.change(name, { target: { value: 'total' } })
    fireEvent.blur(name)
    fireEvent.change(screen.getByLabelText('Value of total'), { target: { value: '{{ sum.result }}' } })
    expect(value()).toEqual({ outputs: { total: '{{ sum.result }}' } })
    fireEvent.click(screen.getByRole('button', { name: 'Remove total' }))
    expect(value()).toEqual({})
  })

  it('does not lose the field when an expression is begun in it', () => {
    const { value } = show({ type: 'object', properties: { content: { title: 'Content', ui: { expression: 'value' } } } })
    const field = screen.getByLabelText('Content')
    fireEvent.change(field, { target: { value: '{{' } })
    expect(screen.getByLabelText('Content')).toBe(field)
    expect(value()).toEqual({ content: '{{' })
  })

  it('keeps numbers as they are typed while they say the same', () => {
    const schema: JsonSchema = { type: 'object', properties: { limit: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '\\{\\{' }], ui: { expression: 'value' } }, wait: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^\\d+(ms|s|m|h|d)$' }] } }, required: ['limit', 'wait'] }
    const { value } = show(schema, {})
    for (const [label, name] of [[/^Limit/, 'limit'], [/^Wait/, 'wait']] as const) {
      for (const typed of ['1', '1.', '1.0', '1.00', '1.0', '1.05']) {
        fireEvent.change(screen.getByLabelText(label), { target: { value: typed } })
        expect(screen.getByLabelText(label), name).toHaveProperty('value', typed)
      }
      expect(value()[name]).toBe(1.05)
    }
  })

  it('moves list entries and changes the kind of a step', () => {
    const list = kinds.find((kind) => kind.type === 'LIST_OPERATION')!
    const { value } = show(list.config, { input: '{{ a.b }}', operations: [{ filter: 'item.a' }, { reverse: true }] })
    fireEvent.click(screen.getAllByRole('button', { name: 'Move down' })[0]!)
    expect(value().operations).toEqual([{ reverse: true }, { filter: 'item.a' }])
  })

  it('checks numbers and forms of texts at once, and leaves expressions to the server', () => {
    expect(quickCheck(0, { minimum: 1 })).toBe('minimum')
    expect(quickCheck('a b', { pattern: '^\\w+$' })).toBe('pattern')
    expect(quickCheck('{{ x }}', { pattern: '^\\w+$' })).toBeUndefined()
  })

  it('shows what all types share', () => {
    const { container } = show(shared, {})
    for (const name of ['Retry', 'Wait', 'Timeout', 'On error']) expect(container.textContent).toContain(name)
  })
})
