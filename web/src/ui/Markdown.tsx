import { memo, useMemo, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { useT } from '@/i18n/t'
import { blocks } from './blocks'
import { CopyButton } from './CopyText'

interface MdNode {
  type: string
  value?: string
  url?: string
  children?: MdNode[]
}

const CITED = /\[(\d{1,3})\]/g

/** Makes `[1]` in texts a link to the source of that number. */
function remarkCitations() {
  const walk = (node: MdNode): void => {
    if (!node.children) return
    node.children = node.children.flatMap((child): MdNode[] => {
      if (child.type === 'link' || child.type === 'inlineCode') return [child]
      if (child.type !== 'text' || !child.value?.includes('[')) {
        walk(child)
        return [child]
      }
      const parts: MdNode[] = []
      let at = 0
      for (const found of child.value.matchAll(CITED)) {
        if (found.index > at) parts.push({ type: 'text', value: child.value.slice(at, found.index) })
        parts.push({ type: 'link', url: `#cite-${found[1]}`, children: [{ type: 'text', value: found[1]! }] })
        at = found.index + found[0].length
      }
      if (at < child.value.length) parts.push({ type: 'text', value: child.value.slice(at) })
      return parts
    })
  }
  return (tree: MdNode) => walk(tree)
}

const PLUGINS = [remarkGfm, remarkCitations]

function CodeBlock({ children }: { children: ReactNode }) {
  const t = useT()
  const code = (children as { props?: { className?: string; children?: unknown } } | undefined)?.props
  return (
    <div className="my-3 overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3 text-xs text-mute">
        {/language-(\S+)/.exec(code?.className ?? '')?.[1] ?? t('common.code_block')}
        <CopyButton text={String(code?.children ?? '')} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto p-3 font-mono text-[13px] leading-relaxed">
        {children}
      </pre>
    </div>
  )
}

interface BlockProps {
  text: string
  onCite: ((n: number) => void) | undefined
}

const Block = memo(function Block({ text, onCite }: BlockProps) {
  const t = useT()
  const components = useMemo<Components>(
    () => ({
      pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
      table: ({ children }) => (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <div tabIndex={0} role="group" aria-label={t('common.table')} className="my-3 overflow-x-auto rounded-lg border border-line">
          <table>{children}</table>
        </div>
      ),
      // No outside address is asked for without a click.
      img: ({ src, alt }) => <a href={String(src ?? '')} target="_blank" rel="noreferrer">{alt || String(src ?? '')}</a>,
      a: ({ href, children }) => {
        const cited = /^#cite-(\d+)$/.exec(href ?? '')
        if (!cited) return <a href={href} target="_blank" rel="noreferrer">{children}</a>
        const n = Number(cited[1])
        if (!onCite) return <>[{n}]</>
        return (
          <button type="button" aria-label={t('common.source_n', { n })} onClick={() => onCite(n)} className="mx-0.5 inline-flex h-4.5 min-w-4.5 -translate-y-px items-center justify-center rounded bg-accent-soft px-1 align-baseline text-[11px] font-semibold text-accent-text hover:bg-accent hover:text-on-accent">
            {n}
          </button>
        )
      },
    }),
    [t, onCite],
  )
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={components}>
      {text}
    </ReactMarkdown>
  )
})

/**
 * Text of others as Markdown: no HTML, no pictures from elsewhere, links in a page of their own; `[1]` opens a source
 * where there are sources. It may still grow: every block is read once, the last one again with each piece.
 */
export default function Markdown({ text, onCite }: { text: string; onCite?: (n: number) => void }) {
  const parts = useMemo(() => blocks(text), [text])
  return (
    <div className="markdown min-w-0 break-words">
      {parts.map((part, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- blocks are only added at the end
        <Block key={index} text={part} onCite={onCite} />
      ))}
    </div>
  )
}
