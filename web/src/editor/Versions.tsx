import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ReactFlow, ReactFlowProvider } from '@xyflow/react'
import { ago, dateTime, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Modal } from '@/ui/Modal'
import { Segmented } from '@/ui/Segmented'
import { Loading } from '@/ui/Spinner'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { useDark } from '@/shell/preferences'
import { useChecks } from './checks'
import { DiffList } from './DiffList'
import type { WorkflowDocument } from './document'
import { flowEdges, flowNodes, type FlowEdge, type FlowNode, type Mark } from './flow'
import { geometryOf } from './geometry'
import { JumpNode } from './JumpNode'
import { NoteNode } from './NoteNode'
import { StepEdge } from './StepEdge'
import { StepNode } from './StepNode'
import { documentNow, useEditor } from './store'
import { compare, lineDiff, listVersions, publish, readVersion, restore, type Comparison, type Version } from './versions'

/** The versions that were kept: each can be compared with the canvas, restored and published. */
export function Versions() {
  const t = useT()
  const workflow = useEditor((state) => state.workflow)
  const published = useEditor((state) => state.publishedVersion)
  const versions = useQuery({ queryKey: ['versions', workflow], queryFn: () => listVersions(workflow) })
  const [comparing, setComparing] = useState<number | null>(null)
  const trying = (what: string, work: Promise<void>, text: string) => void work.then(() => done(text), (error: unknown) => failed(what, error))
  if (versions.error) return <div className="p-3"><Trouble error={versions.error} retry={() => void versions.refetch()} /></div>
  if (!versions.data) return <Loading label={t('common.loading')} />
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <div className="h-full overflow-y-auto p-2.5" tabIndex={0} role="region" aria-label={t('editor.versions')}>
      <ul className="flex flex-col gap-1.5">
        {versions.data.map((version: Version) => (
          <li key={version.number} className="rounded-lg border border-line p-2.5">
            <div className="flex items-center gap-2">
              <span className="font-medium">{t('workflows.version', { n: version.number })}</span>
              {version.number === published && <Badge tone="ok">{t('workflows.published')}</Badge>}
              <time className="ml-auto text-xs text-mute" title={dateTime(version.created_at)}>
                {ago(version.created_at)}
              </time>
            </div>
            {version.note && <p className="text-[13px]">{version.note}</p>}
            <div className="mt-1.5 flex flex-wrap gap-1">
              <Button size="sm" onClick={() => setComparing(version.number)}>
                {t('editor.compare')}
              </Button>
              <Button size="sm" onClick={() => trying(t('editor.restore'), restore(version.number), t('editor.restored', { n: version.number }))}>
                {t('editor.restore')}
              </Button>
              {version.number !== published && (
                <Button size="sm" onClick={() => trying(t('editor.publish'), publish(version.number), t('editor.published_done', { n: version.number }))}>
                  {t('editor.publish')}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {comparing !== null && <CompareVersion number={comparing} onClose={() => setComparing(null)} />}
    </div>
  )
}

function CompareVersion({ number, onClose }: { number: number; onClose: () => void }) {
  const t = useT()
  const workflow = useEditor((state) => state.workflow)
  const [how, setHow] = useState<'canvas' | 'list' | 'text'>('canvas')
  const found = useQuery({
    queryKey: ['compare', workflow, number],
    queryFn: async () => {
      const before = await readVersion(workflow, number)
      return { before, result: await compare(before, documentNow()) }
    },
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Modal open wide onOpenChange={onClose} title={t('editor.compare_title', { n: number })} description={t('editor.compare_lead')}>
      <div className="mb-3">
        <Segmented label={t('editor.compare_how')} value={how} onChange={setHow} options={[{ value: 'canvas', label: t('editor.compare_canvas') }, { value: 'list', label: t('editor.compare_list') }, { value: 'text', label: t('editor.compare_text') }]} />
      </div>
      {found.error ? <Trouble error={found.error} /> : !found.data ? <Loading label={t('common.loading')} /> : how === 'list' ? <DiffList found={found.data.result} /> : how === 'text' ? <TextDiff found={found.data.result} /> : <CanvasDiff before={found.data.before} found={found.data.result} />}
    </Modal>
  )
}

const LINES = { same: '', added: 'bg-ok-soft', removed: 'bg-danger-soft' }

function TextDiff({ found }: { found: Comparison }) {
  const t = useT()
  const lines = useMemo(() => lineDiff(found.before, found.after), [found])
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <pre tabIndex={0} aria-label={t('editor.compare_text')} className="max-h-[60vh] overflow-auto rounded-lg border border-line p-2 text-xs leading-5">
      {lines.map((line, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have nothing else
        <div key={index} className={LINES[line.kind]}>
          <span aria-hidden className="mr-2 inline-block w-3 text-mute select-none">{line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ''}</span>
          {line.text}
        </div>
      ))}
    </pre>
  )
}

const NODE_TYPES = { step: StepNode, note: NoteNode, jump: JumpNode }
const EDGE_TYPES = { step: StepEdge }
const NONE: ReadonlySet<string> = new Set()

/** Both versions on one canvas: what came is green, what went red and where it stood, what changed amber. */
function CanvasDiff({ before, found }: { before: WorkflowDocument; found: Comparison }) {
  const dark = useDark()
  const handles = useChecks((state) => state.handles)
  const { nodes, edges } = useMemo(() => {
    const now = documentNow()
    const gone = new Set(found.diff.removed.filter((node) => node.inside === null).map((node) => node.id))
    const both: WorkflowDocument = {
      ...now,
      nodes: [...now.nodes, ...before.nodes.filter((node) => gone.has(node.id))],
      edges: [...now.edges, ...(before.edges ?? []).filter((edge) => gone.has(edge.from) || gone.has(edge.to))],
      ui: { ...now.ui, notes: [], positions: { ...before.ui?.positions, ...now.ui?.positions } },
    }
    const marks: Record<string, Mark> = {}
    for (const node of found.diff.changed) marks[node.id] = 'changed'
    for (const node of found.diff.added) marks[node.id] = 'added'
    for (const node of found.diff.removed) marks[node.id] = 'removed'
    const geometry = geometryOf(both, handles)
    return { nodes: flowNodes(geometry, [], NONE, [], marks), edges: flowEdges(both, geometry, NONE, []) }
  }, [before, found, handles])
  return (
    <div className="h-[60vh] rounded-lg border border-line">
      <ReactFlowProvider>
        <ReactFlow<FlowNode, FlowEdge> nodes={nodes} edges={edges} nodeTypes={NODE_TYPES} edgeTypes={EDGE_TYPES} fitView fitViewOptions={{ padding: 0.1, maxZoom: 1 }} minZoom={0.05} nodesDraggable={false} nodesConnectable={false} elementsSelectable={false} colorMode={dark ? 'dark' : 'light'} />
      </ReactFlowProvider>
    </div>
  )
}
