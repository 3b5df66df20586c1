import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const server = process.env.INTERLACE_URL ?? 'http://127.0.0.1:8700'
const proxied = ['/api', '/v1', '/hooks', '/mcp', '/health', '/metrics', '/openapi.json']

/** Each text of the bundle as Brotli beside it: smaller by a seventh than what the server could pack itself. */
const packed = (): Plugin => ({
  name: 'packed',
  apply: 'build',
  writeBundle({ dir }, bundle) {
    for (const fileName of Object.keys(bundle)) {
      if (!/\.(js|css)$/.test(fileName)) continue
      const path = join(dir!, fileName)
      writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)))
    }
  },
})

type Look = (id: string) => { importedIds: readonly string[]; dynamicallyImportedIds: readonly string[] } | null

/** Modules that others import, directly or through others, without asking for them later. */
function reached(look: Look, from: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const open = [...from]
  for (let id = open.pop(); id; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    open.push(...(look(id)?.importedIds ?? []))
  }
  return seen
}

/**
 * What the editor shows at first comes in two files instead of a hundred, which pack smaller by an eighth: `base` is
 * what other pages need as well, `editor` the rest. What is not seen at first stays apart.
 */
function together() {
  const place = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))
  let found: { base: Set<string>; first: Set<string> } | undefined
  const sort = (look: Look) => {
    const canvas = place('pages/workflows/WorkflowEditor.tsx')
    const pages = look(place('pages/routes.ts'))!.dynamicallyImportedIds
    const main = reached(look, [place('main.tsx')])
    const others = reached(look, pages.filter((page) => page !== canvas))
    const first = reached(look, [canvas])
    return { base: new Set([...main, ...[...first].filter((id) => others.has(id))]), first }
  }
  const named = (name: 'base' | 'editor', of: 'base' | 'first', priority: number) => ({
    name: (id: string, context: { getModuleInfo: Look }) => {
      found ??= sort((one) => context.getModuleInfo(one))
      return found[of].has(id) ? name : null
    },
    debugName: name,
    priority,
  })
  return {
    groups: [
      named('base', 'base', 2),
      named('editor', 'first', 1),
      { name: 'markdown', test: /src\/ui\/Markdown/ },
      { name: 'chat', test: /src\/(chat|pages\/chat)\// },
      { name: 'resources', test: /src\/(resources|pages\/(agents|connectors|databases|knowledge|market|mcp|models|skills|tools))\// },
      { name: 'operate', test: /src\/pages\/(approvals|runs|triggers)\// },
      { name: 'settings', test: /src\/pages\/(invitation|settings)\// },
      { name: 'japanese', test: /src\/i18n\/ja\// },
    ],
  }
}

export default defineConfig({
  plugins: [react(), tailwind(), packed()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy allows no inlined script
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: together() } },
  },
  server: {
    port: 5173,
    strictPort: true,
    // The server accepts requests of its own pages only, so the page's origin becomes the server's.
    proxy: Object.fromEntries(
      proxied.map((path) => [`^${path}(/|\\?|$)`, { target: server, changeOrigin: true, headers: { origin: server } }]),
    ),
  },
  test: { environment: 'jsdom', include: ['test/**/*.test.{ts,tsx}'], setupFiles: ['test/setup.ts'] },
})
