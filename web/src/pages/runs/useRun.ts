import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { api } from '@/api/client'
import { follow } from '@/api/events'
import { readContext, readRun, type RunEvent } from '@/api/runs'
import type { NodeSpec, WorkflowDocument } from '@/editor/document'
import { edgesOf } from './critical'
import { read } from './model'

export const FINAL = ['succeeded', 'failed', 'cancelled']
/** More pieces of texts are not kept on the page; the export holds all. */
const MOST = 20_000

/** Adds events to those of the page; beyond the limit only what changes a state. */
export function taken(before: RunEvent[], more: RunEvent[], most = MOST): RunEvent[] {
  const room = Math.max(0, most - before.length)
  return [...before, ...more.filter((event, index) => index < room || event.type !== 'node.delta')]
}

/** The journal of a run, followed to its end; events are taken over once a frame. */
function useEvents(runId: string): { events: RunEvent[]; connected: boolean } {
  const [events, setEvents] = useState<RunEvent[]>([])
  const [connected, setConnected] = useState(true)
  const waiting = useRef<RunEvent[]>([])
  useEffect(() => {
    const end = new AbortController()
    let frame = 0
    setEvents([])
    waiting.current = []
    const take = () => {
      frame = 0
      const more = waiting.current
      waiting.current = []
      setEvents((before) => taken(before, more))
    }
    follow(`/api/v1/runs/${encodeURIComponent(runId)}/events`, {
      signal: end.signal,
      onState: setConnected,
      isLast: (event) => ['run.succeeded', 'run.failed', 'run.cancelled'].includes(event.type),
      onEvent: (event) => {
        const found = event.data as RunEvent
        if (typeof found?.seq !== 'number') return
        waiting.current.push(found)
        frame ||= window.setTimeout(take, 60)
      },
    }).catch(() => setConnected(false))
    return () => {
      end.abort()
      clearTimeout(frame)
    }
  }, [runId])
  return { events, connected }
}

function collect(nodes: NodeSpec[], into: Map<string, NodeSpec>): Map<string, NodeSpec> {
  for (const node of nodes) {
    into.set(node.id, node)
    if (node.body) collect(node.body.nodes, into)
  }
  return into
}

/** Everything that the page of a run shows. */
export function useRunData(runId: string) {
  const client = useQueryClient()
  const { events, connected } = useEvents(runId)
  const journal = useMemo(() => read(events), [events])
  const report = useQuery({ queryKey: ['runs', runId], queryFn: () => readRun(runId) })
  const context = useQuery({ queryKey: ['runs', runId, 'context'], queryFn: () => readContext(runId) })
  const document = useQuery({
    queryKey: ['runs', runId, 'document'],
    staleTime: Infinity,
    queryFn: () => api<'get', '/api/v1/runs/{run_id}/document', { document: WorkflowDocument }>('get', '/api/v1/runs/{run_id}/document', { path: { run_id: runId } }),
  })
  const steps = events.filter((event) => event.type !== 'node.delta').length
  useEffect(() => {
    if (!steps) return
    const soon = setTimeout(() => void client.invalidateQueries({ queryKey: ['runs', runId], exact: true }), 150)
    const ended = journal.end !== null ? setTimeout(() => void client.invalidateQueries({ queryKey: ['runs', runId, 'context'] }), 150) : undefined
    return () => {
      clearTimeout(soon)
      clearTimeout(ended)
    }
  }, [client, runId, steps, journal.end])
  const definition = document.data?.document
  const specs = useMemo(() => collect(definition?.nodes ?? [], new Map()), [definition])
  const edges = useMemo(() => edgesOf(definition), [definition])
  return { events, connected, journal, report, context, definition, specs, edges }
}

export type RunData = ReturnType<typeof useRunData>
