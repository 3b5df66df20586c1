import { create } from 'zustand'
import { first, japanese, others } from './catalogs'

type Areas = typeof first & Awaited<ReturnType<typeof others>>
export type Key = { [A in keyof Areas]: `${A & string}.${keyof Areas[A] & string}` }[keyof Areas]
export type Language = 'en' | 'ja'
type Values = Record<string, string | number>
type Catalogue = Record<string, Record<string, string>>

const loaded: Partial<Record<Language, Catalogue>> = { en: first }

export const useLanguage = create<{ language: Language; ready: number }>(() => ({ language: 'en', ready: 0 }))

export async function setLanguage(language: Language): Promise<void> {
  if (language === 'ja') loaded.ja ??= await japanese()
  document.documentElement.lang = language
  useLanguage.setState((state) => ({ language, ready: state.ready + 1 }))
}

/** Loads what is not there from the start: for each page but the editor. */
export async function allTexts(): Promise<void> {
  loaded.en = { ...first, ...(await others()) }
}

function find(catalogue: Catalogue | undefined, key: string): string | undefined {
  const dot = key.indexOf('.')
  return catalogue?.[key.slice(0, dot)]?.[key.slice(dot + 1)]
}

/** The text of a key in the current language. `{name}` stands for a value; `a|b` are the forms for one and for many `n`. */
export function t(key: Key, values?: Values): string {
  return text(key, values) ?? key
}

/** The same for a key that is put together at run time; undefined where there is none. */
export function text(key: string, values?: Values): string | undefined {
  const found = find(loaded[useLanguage.getState().language], key) ?? find(loaded.en, key)
  if (found === undefined) return undefined
  const forms = found.split(' || ')
  const form = forms.length > 1 && values?.n !== 1 ? forms[1]! : forms[0]!
  return values ? form.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : form
}

/** Makes a component follow the language: `const t = useT()`. */
export function useT(): typeof t {
  useLanguage((state) => state.ready)
  return t
}

const locale = (): string => (useLanguage.getState().language === 'ja' ? 'ja-JP' : 'en-GB')

export const number = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(locale(), options).format(value)

/** A Unix time in seconds as people read it. */
export function dateTime(seconds: number, options?: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale(), options ?? { dateStyle: 'medium', timeStyle: 'medium' }).format(seconds * 1000)
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** How long ago a Unix time in seconds is, or until it comes. */
export function ago(seconds: number, now = Date.now() / 1000): string {
  const distance = seconds - now
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' })
  for (const [unit, size] of UNITS) {
    if (Math.abs(distance) >= size) return format.format(distance > 0 ? Math.round(distance / size) : Math.trunc(distance / size), unit)
  }
  return format.format(Math.trunc(distance), 'second')
}

/** A length of time in milliseconds, short. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${number(ms, { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`
  if (ms < 60_000) return `${number(ms / 1_000, { maximumFractionDigits: 2 })} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
