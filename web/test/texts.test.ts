import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { first } from '@/i18n/catalogs'
import { duration, setLanguage, t } from '@/i18n/t'
import { titleOf } from '@/editor/catalogue'
import { kinds } from './kinds'

const folder = join(import.meta.dirname, '../src/i18n')
const read = (language: string, name: string) => JSON.parse(readFileSync(join(folder, language, name), 'utf-8')) as Record<string, string>

afterEach(() => setLanguage('en'))

describe.each(readdirSync(join(folder, 'en')))('%s', (name) => {
  it('says everything in Japanese too, with the same values', () => {
    const [english, japanese] = [read('en', name), read('ja', name)]
    expect(Object.keys(japanese)).toEqual(Object.keys(english))
    const values = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].filter((value) => value !== '{n}').sort()
    for (const key of Object.keys(english)) expect(values(japanese[key]!), key).toEqual(values(english[key]!))
  })
})

describe('texts', () => {
  it('name every template in Japanese; the English ones stand in the templates', () => {
    const examples = join(import.meta.dirname, '../../examples')
    const ids = [examples, join(examples, 'templates')].flatMap((one) => readdirSync(one)).filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5))
    expect(Object.keys(read('ja', 'templates.json')).sort()).toEqual(ids.flatMap((id) => [id, `${id}_about`]).sort())
  })

  it('follow the language, with values and forms for one and many', async () => {
    expect(t('editor.n_errors', { n: 1 })).toBe('1 error')
    expect(t('editor.n_errors', { n: 3 })).toBe('3 errors')
    await setLanguage('ja')
    expect(t('common.save')).toBe('保存')
    expect(document.documentElement.lang).toBe('ja')
  })

  it('name every type', async () => {
    for (const kind of kinds) expect(titleOf(kind.type)).not.toBe('')
    expect(titleOf('MY_PLUGIN')).toBe('My plugin')
  })

  it('of other pages are not used by the frame and the editor, which are shown before they are there', () => {
    const source = join(import.meta.dirname, '../src')
    const shown = ['editor', 'runs', 'schema', 'shell', 'ui'].flatMap((area) => readdirSync(join(source, area), { recursive: true, encoding: 'utf-8' }).map((name) => join(area, name)))
    const used = shown.filter((name) => /\.tsx?$/.test(name)).flatMap((name) => [...readFileSync(join(source, name), 'utf-8').matchAll(/\b(?:t|text)\(['`](\w+)\.[\w$]/g)].map((found) => found[1]!))
    expect([...new Set(used)].filter((area) => !(area in first))).toEqual([])
    expect(used.length).toBeGreaterThan(100)
  })

  it('show lengths of time', () => {
    expect(duration(5.25)).toBe('5.3 ms')
    expect(duration(1_500)).toBe('1.5 s')
    expect(duration(65_000)).toBe('1 min 5 s')
  })
})
