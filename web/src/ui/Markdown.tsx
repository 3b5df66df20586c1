import { memo } from 'react'
import Renderer, { type Components } from 'react-markdown'
import gfm from 'remark-gfm'

const PLUGINS = [gfm]
/** Pictures of elsewhere would tell others who reads this; they become links. */
const PARTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || String(src)}
    </a>
  ),
  table: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <div className="overflow-x-auto" tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  ),
}

/** Text of others as Markdown: no HTML, no pictures from elsewhere, links in a page of their own. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown min-w-0 break-words">
      <Renderer remarkPlugins={PLUGINS} components={PARTS}>
        {text}
      </Renderer>
    </div>
  )
})
export default Markdown
