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

export default defineConfig({
  plugins: [react(), tailwind(), packed()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0, // the content security policy allows no inlined script
    chunkSizeWarningLimit: 700,
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
