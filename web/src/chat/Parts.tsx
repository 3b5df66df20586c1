import { Approval } from './Approval'
import Markdown from '@/ui/Markdown'
import { Reasoning } from './Reasoning'
import { ToolCall } from './ToolCall'
import type { Part } from './turn'

/** The parts of an answer in the order in which they came. */
export function Parts({ parts, onCite }: { parts: Part[]; onCite?: (n: number) => void }) {
  return parts.map((part) => {
    const cite = onCite ? { onCite } : {}
    switch (part.kind) {
      case 'text':
        return (
          <div key={part.id}>
            {part.reasoning && <Reasoning text={part.reasoning} />}
            {part.text && <Markdown text={part.text} {...cite} />}
          </div>
        )
      case 'tool':
        return <ToolCall key={part.id} part={part} {...cite} />
      case 'ask':
        return <Approval key={part.id} part={part} />
      default:
        return (
          <p key={part.id} className="my-2 ml-auto w-fit max-w-[85%] rounded-2xl bg-sunken px-3.5 py-2 text-[13px] whitespace-pre-wrap">
            {part.text}
          </p>
        )
    }
  })
}
