import { useQuery } from '@tanstack/react-query'
import { ChevronRight, Sparkles, Wrench } from 'lucide-react'
import { Problem, send } from '@/api/client'
import { duration, number, text, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Json } from '@/ui/Json'
import type { NodeView, ToolCall } from './model'

interface ModelCall {
  step?: string
  path?: string
  model?: string
  usage?: Record<string, number>
  /** Tokens of the prompt by what they come from. */
  sources?: Record<string, number>
  text?: string
  finish_reason?: string
  elapsed_ms?: number
  [more: string]: unknown
}

interface TraceAnswer {
  agents: { path: string; steps: (ModelCall & { kind: 'model' | 'tool'; prompt_tokens?: Record<string, number> })[] }[]
}

/** The calls of models of every agent; those of delegates stand below the tools that asked for them. */
async function readTrace(runId: string): Promise<ModelCall[]> {
  try {
    const answer = (await (await send(`/api/v1/runs/${encodeURIComponent(runId)}/trace`, { headers: { accept: 'application/json' } })).json()) as TraceAnswer
    return answer.agents.flatMap((agent) =>
      agent.steps
        .filter((step) => step.kind === 'model')
        .map((step) => ({ ...step, path: agent.path, sources: step.prompt_tokens, elapsed_ms: step.usage?.latency_ms })),
    )
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return []
    throw error
  }
}

const COLOURS = ['var(--kind-ai)', 'var(--kind-connect)', 'var(--kind-data)', 'var(--kind-logic)', 'var(--kind-human)', 'var(--kind-code)', 'var(--kind-flow)']

/** What an agent did: its calls of models with the prompt's tokens by source, and its calls of tools. */
export function Trace({ runId, node }: { runId: string; node: NodeView }) {
  const t = useT()
  const trace = useQuery({ queryKey: ['runs', runId, 'trace'], queryFn: () => readTrace(runId), retry: false, staleTime: 30_000 })
  const told = trace.data?.filter((call) => call.path === undefined || call.path === node.path) ?? []
  const calls = told.length ? told : (node.models as ModelCall[])
  const total = calls.reduce((sum, call) => sum + tokens(call), 0)
  return (
    <section aria-label={t('runs.trace')}>
      <h3 className="mb-1.5 flex items-center gap-2 text-[13px] font-semibold">
        {t('runs.trace')}
        <Badge>{t('runs.model_calls', { n: calls.length })}</Badge>
        <Badge>{t('runs.tool_calls', { n: node.tools.length })}</Badge>
        {total > 0 && <Badge>{t('runs.tokens', { n: number(total) })}</Badge>}
      </h3>
      <ol className="flex flex-col gap-2">
        {calls.map((call, index) => {
          const step = call.step ?? String(index)
          return (
            <li key={`m${step}-${index}`} className="rounded-lg border border-line">
              <Call call={call} index={index} />
              {node.tools.filter((tool) => askedBy(tool, node) === index).map((tool) => <Tool key={`${tool.step}-${tool.start}`} tool={tool} />)}
            </li>
          )
        })}
        {node.tools.filter((tool) => !(askedBy(tool, node) in calls)).map((tool) => (
          <li key={`t${tool.step}-${tool.start}`} className="rounded-lg border border-line">
            <Tool tool={tool} />
          </li>
        ))}
      </ol>
    </section>
  )
}

const tokens = (call: ModelCall): number => Number(call.usage?.total_tokens ?? Number(call.usage?.input_tokens ?? call.usage?.prompt_tokens ?? 0) + Number(call.usage?.output_tokens ?? call.usage?.completion_tokens ?? 0))

/** The place of the call whose answer asked for a tool: the last one that had answered when the tool began. */
function askedBy(tool: ToolCall, node: NodeView): number {
  return node.models.findLastIndex((call) => Number(call.at) <= tool.start)
}

function Call({ call, index }: { call: ModelCall; index: number }) {
  const t = useT()
  const sources = Object.entries(call.sources ?? {}).filter(([, n]) => n > 0)
  const prompt = sources.reduce((sum, [, n]) => sum + n, 0)
  return (
    <details className="group">
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-2 rounded-lg px-3 py-2 text-[13px] hover:bg-sunken">
        <ChevronRight size={14} aria-hidden className="text-mute group-open:rotate-90" />
        <Sparkles size={14} aria-hidden className="text-accent-text" />
        <span className="font-medium">{t('runs.model_call_n', { n: index + 1 })}</span>
        <span className="text-mute">{call.model}</span>
        <span className="flex-1" />
        {tokens(call) > 0 && <span className="text-mute tabular-nums">{t('runs.tokens', { n: number(tokens(call)) })}</span>}
        {typeof call.elapsed_ms === 'number' && <span className="text-mute tabular-nums">{duration(call.elapsed_ms)}</span>}
      </summary>
      <div className="flex flex-col gap-3 px-3 pb-3">
        {prompt > 0 && (
          <figure aria-label={t('runs.prompt_by_source')}>
            <figcaption className="mb-1 text-xs text-mute">{t('runs.prompt_by_source')}</figcaption>
            <div className="flex h-3 overflow-hidden rounded-full bg-sunken" aria-hidden>
              {sources.map(([name, n], at) => (
                <span key={name} style={{ width: `${(n / prompt) * 100}%`, background: COLOURS[at % COLOURS.length] }} />
              ))}
            </div>
            <ul className="mt-1.5 flex flex-wrap gap-x-4 gap-y-1 text-xs">
              {sources.map(([name, n], at) => (
                <li key={name} className="flex items-center gap-1.5">
                  <span className="size-2 rounded-full" style={{ background: COLOURS[at % COLOURS.length] }} aria-hidden />
                  {text(`runs.source_${name}`) ?? name} <span className="text-mute tabular-nums">{number(n)}</span>
                </li>
              ))}
            </ul>
          </figure>
        )}
        {call.text && <p className="text-[13px] whitespace-pre-wrap">{call.text}</p>}
        <Json value={Object.fromEntries(Object.entries(call).filter(([name]) => !['text', 'opening', 'at', 'step'].includes(name)))} open={1} />
      </div>
    </details>
  )
}

function Tool({ tool }: { tool: ToolCall }) {
  const t = useT()
  return (
    <details className="group border-t border-line first:border-0">
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-2 rounded-lg px-3 py-2 pl-8 text-[13px] hover:bg-sunken">
        <ChevronRight size={14} aria-hidden className="text-mute group-open:rotate-90" />
        <Wrench size={14} aria-hidden className={tool.error ? 'text-danger' : 'text-mute'} />
        <span className="font-mono">{tool.name}</span>
        {tool.error && <Badge tone="danger">{t('runs.tool_failed')}</Badge>}
        <span className="flex-1" />
        {tool.end !== null && <span className="text-mute tabular-nums">{duration((tool.end - tool.start) * 1000)}</span>}
      </summary>
      <div className="flex flex-col gap-2 px-3 pb-3 pl-8">
        <Json value={tool.arguments ?? {}} />
        {(tool.text !== null || tool.value !== undefined) && <Json value={tool.value ?? tool.text} />}
      </div>
    </details>
  )
}
