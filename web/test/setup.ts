import { cleanup } from '@testing-library/react'
import { afterEach } from 'vitest'
import { allTexts } from '@/i18n/t'

await allTexts()

// What jsdom lacks and the parts ask for.
globalThis.matchMedia ??= ((query: string) => ({ matches: false, media: query, addEventListener: () => undefined, removeEventListener: () => undefined })) as unknown as typeof matchMedia
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Element.prototype.scrollIntoView ??= () => undefined
Element.prototype.hasPointerCapture ??= () => false

afterEach(cleanup)
