import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { RunReport } from '@/api/runs'
import { ago, dateTime, duration, text, useT } from '@/i18n/t'
import { Badge, Status } from '@/ui/Badge'
import { Facts } from '@/ui/Facts'
import { Json } from '@/ui/Json'
import { Card, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Tabs } from '@/ui/Tabs'
import { Trouble } from '@/ui/Trouble'
import { Events } from './Events'
import { NodeDetails } from './NodeDetails'
import { NodeTree } from './NodeTree'
import { ReplayDialog } from './ReplayDialog'
import { RunActions } from './RunActions'
import { RunsTable } from './RunsTable'
import { triggerName } from './Runs'
import { Timeline } from './Timeline'
import { FINAL, useRunData, type RunData } from './useRun'
import { readPayload } from '@/api/runs'
import { nowSeconds } from '@/ui/clock'

/** One run: how it went, what each node was given and gave, and why. */
export default function RunPage({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const runId = params.run!
  const data = useRunData(runId)
  const [search, setSearch] = useSearchParams()
  const [replaying, setReplaying] = useState<{ from: string | null } | null>(null)
  const put = (name: string, value: string | null) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === null) next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  const run = data.report.data
  if (data.report.error) {
    return (
      <Page title={t('runs.run')}>
        <Trouble error={data.report.error} retry={() => void data.report.refetch()} />
      </Page>
    )
  }
  if (!run) return <Loading label={t('common.loading')} />
  const node = search.get('node')
  const tab = search.get('tab') ?? 'nodes'
  const choose = (path: string | null) => put('node', path)
  const tabs = [
    { id: 'nodes', label: t('runs.tab_nodes'), content: <NodesTab data={data} run={run} node={node} choose={choose} replay={(from) => setReplaying({ from })} /> },
    { id: 'timeline', label: t('runs.tab_timeline'), content: <Timeline data={data} run={run} chosen={node} choose={(path) => setSearch((before) => withNode(before, path), { replace: true })} /> },
    { id: 'values', label: t('runs.tab_values'), content: <ValuesTab data={data} run={run} /> },
    { id: 'related', label: t('runs.tab_related', { n: (data.context.data?.children.length ?? 0) + (data.context.data?.replays.length ?? 0) }), content: <RelatedTab data={data} /> },
    { id: 'events', label: t('runs.tab_events', { n: data.events.length }), content: <Events events={data.events} choose={(path) => setSearch((before) => withNode(before, path), { replace: true })} /> },
  ]
  return (
    <Page title={run.workflow} lead={<Subtitle run={run} />} actions={<RunActions data={data} run={run} onReplay={() => setReplaying({ from: node })} />}>
      <Overview data={data} run={run} choose={choose} />
      <Card className="mt-4 min-w-0">
        <Tabs label={t('runs.run')} value={tabs.some((one) => one.id === tab) ? tab : 'nodes'} onChange={(id) => put('tab', id === 'nodes' ? null : id)} tabs={tabs} className="pt-1" />
      </Card>
      <p role="status" aria-live="polite" className="sr-only">
        {t('runs.announce', { status: text(`common.status_${run.status}`) ?? run.status })}
      </p>
      {replaying && <ReplayDialog data={data} run={run} from={replaying.from} onClose={() => setReplaying(null)} />}
    </Page>
  )
}

function withNode(before: URLSearchParams, path: string): URLSearchParams {
  const next = new URLSearchParams(before)
  next.set('node', path)
  next.delete('tab')
  return next
}

function Subtitle({ run }: { run: RunReport }) {
  const t = useT()
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Status status={run.status} />
      <span className="font-mono text-xs">{run.run_id}</span>
      {run.test && <Badge>{t('runs.test')}</Badge>}
      {run.replayed_from && (
        <Link href={`/runs/${run.replayed_from}`} className="text-accent-text hover:underline">
          {t('runs.replay_of')}
        </Link>
      )}
      {run.parent_run_id && (
        <Link href={`/runs/${run.parent_run_id}`} className="text-accent-text hover:underline">
          {t('runs.started_by_run')}
        </Link>
      )}
    </span>
  )
}

function Overview({ data, run, choose }: { data: RunData; run: RunReport; choose: (path: string) => void }) {
  const t = useT()
  const nodes = Object.values(run.nodes)
  const count = (status: string) => nodes.filter((one) => one.status === status).length
  const length = run.started_at === null ? null : ((run.finished_at ?? nowSeconds()) - run.started_at) * 1000
  const tiles: [string, string][] = [
    [t('runs.took'), length === null ? '—' : duration(length)],
    [t('runs.started'), ago(run.created_at)],
    [t('runs.trigger'), triggerName(run.trigger.kind)],
    [t('runs.nodes'), `${count('succeeded')} / ${nodes.length}`],
  ]
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line shadow-card sm:grid-cols-4">
        {tiles.map(([label, value]) => (
          <div key={label} className="bg-panel px-4 py-3">
            <dt className="text-xs text-mute">{label}</dt>
            <dd className="truncate text-base font-semibold tabular-nums" title={label === t('runs.started') ? dateTime(run.created_at) : undefined}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {!data.connected && !FINAL.includes(run.status) && <p className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">{t('runs.disconnected')}</p>}
      {run.error && (
        <div role="alert" className="rounded-xl border border-danger/40 bg-danger-soft p-4">
          <p className="font-medium text-danger">{t('runs.failed_at', { path: run.error.path || run.error.node || run.workflow, type: run.error.type })}</p>
          <p className="mt-1 text-[13px] break-words whitespace-pre-wrap">{run.error.message}</p>
          {run.error.path && (
            <button type="button" className="mt-1 rounded text-[13px] text-accent-text underline" onClick={() => choose(run.error!.path!)}>
              {t('runs.show_node')}
            </button>
          )}
        </div>
      )}
      {run.reason && run.status !== 'failed' && <p className="rounded-lg bg-info-soft px-3 py-2 text-[13px]">{run.reason}</p>}
      {run.waiting.map((wait) => (
        <div key={wait.id} className="flex flex-wrap items-center gap-3 rounded-xl border border-warn/40 bg-warn-soft px-4 py-3">
          <span className="min-w-0 flex-1">
            <span className="font-medium">{wait.title}</span>
            {wait.until !== null && <span className="block text-[13px]">{t('runs.until', { time: dateTime(wait.until) })}</span>}
          </span>
          {wait.kind === 'human' && (
            <Link href={`/approvals/${wait.id}`} className="rounded-lg bg-accent px-3 py-1.5 font-medium text-on-accent hover:bg-accent-hover">
              {t('runs.answer')}
            </Link>
          )}
        </div>
      ))}
      {run.outputs && Object.keys(run.outputs).length > 0 && <Outputs run={run} />}
    </div>
  )
}

function Outputs({ run }: { run: RunReport }) {
  const t = useT()
  return (
    <Card className="p-4">
      <h2 className="mb-2 font-semibold">{t('runs.outputs')}</h2>
      <Json low value={run.outputs} load={(ref) => readPayload(run.run_id, ref)} />
    </Card>
  )
}

interface NodesProps {
  data: RunData
  run: RunReport
  node: string | null
  choose: (path: string | null) => void
  replay: (from: string) => void
}

function NodesTab({ data, run, node, choose, replay }: NodesProps) {
  const t = useT()
  return (
    <div className="grid min-h-96 md:grid-cols-[minmax(14rem,20rem)_minmax(0,1fr)]">
      <div className="max-h-80 overflow-y-auto border-b border-line p-2 md:max-h-none md:border-r md:border-b-0">
        <NodeTree data={data} run={run} chosen={node} choose={choose} />
      </div>
      <div className="min-w-0 p-4">
        {node && (run.nodes[node] || data.journal.nodes[node]) ? (
          <NodeDetails key={node} data={data} run={run} path={node} replay={replay} choose={choose} />
        ) : (
          <p className="py-16 text-center text-mute">{t('runs.choose_node')}</p>
        )}
      </div>
    </div>
  )
}

function ValuesTab({ data, run }: { data: RunData; run: RunReport }) {
  const t = useT()
  const load = (ref: string) => readPayload(run.run_id, ref)
  const context = data.context.data
  const by = run.trigger.by
  return (
    <div className="flex flex-col gap-5 p-4">
      <Facts
        facts={[
          [t('runs.workflow'), run.workflow_id ? <Link href={`/workflows/${run.workflow_id}`} className="text-accent-text hover:underline">{run.workflow}</Link> : run.workflow],
          [t('runs.version'), run.version],
          [t('runs.by'), typeof by === 'string' ? by : null],
          [t('runs.created'), dateTime(run.created_at)],
          [t('runs.started'), run.started_at === null ? null : dateTime(run.started_at)],
          [t('runs.finished'), run.finished_at === null ? null : dateTime(run.finished_at)],
          [t('runs.tags'), run.tags.length ? run.tags.join(', ') : null],
        ]}
      />
      {context && (
        <section>
          <h3 className="mb-1.5 font-semibold">{t('runs.inputs')}</h3>
          <Json value={context.inputs} load={load} />
        </section>
      )}
      <section>
        <h3 className="mb-1.5 font-semibold">{t('runs.trigger')}</h3>
        <Json value={run.trigger} load={load} />
      </section>
      {run.outputs && (
        <section>
          <h3 className="mb-1.5 font-semibold">{t('runs.outputs')}</h3>
          <Json value={run.outputs} load={load} />
        </section>
      )}
    </div>
  )
}

function RelatedTab({ data }: { data: RunData }) {
  const t = useT()
  const { data: context, error } = data.context
  if (error) return <div className="p-4"><Trouble error={error} /></div>
  if (!context) return <Loading label={t('common.loading')} />
  return (
    <div className="flex flex-col gap-5 p-4">
      <section>
        <h3 className="mb-1.5 font-semibold">{t('runs.children')}</h3>
        <RunsTable runs={context.children} empty={t('runs.no_children')} />
      </section>
      <section>
        <h3 className="mb-1.5 font-semibold">{t('runs.replays')}</h3>
        <RunsTable runs={context.replays} empty={t('runs.no_replays')} compareWith={context.run_id} />
      </section>
    </div>
  )
}
