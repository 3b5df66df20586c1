import {
  applyEdgeChanges, applyNodeChanges, Background, BackgroundVariant, MiniMap, ReactFlow, SelectionMode, useReactFlow, useStore,
  type Connection, type EdgeChange, type FinalConnectionState, type NodeChange,
} from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { useCallback, useEffect, useMemo, useRef, useState, type DragEvent } from 'react'
import { useT } from '@/i18n/t'
import { useDark } from '@/shell/preferences'
import { addStep, join, rejoin, view } from './actions'
import { useCatalogue } from './catalogue'
import { useChecks } from './checks'
import { CanvasControls } from './CanvasControls'
import type { Note } from './document'
import { flowEdges, flowNodes, type FlowEdge, type FlowNode } from './flow'
import { geometryOf, PAD } from './geometry'
import { JumpNode } from './JumpNode'
import { NodeMenu } from './NodeMenu'
import { NoteNode } from './NoteNode'
import { closesCircle, find, isJump, place, withUi, type Point } from './operations'
import { StepEdge } from './StepEdge'
import { Far, StepNode } from './StepNode'
import { documentNow, edit, select, set, useDocument, useEditor } from './store'

const NODE_TYPES = { step: StepNode, note: NoteNode, jump: JumpNode }
const EDGE_TYPES = { step: StepEdge }
const NO_NOTES: Note[] = []
export const DRAGGED = 'application/x-interlace-node'
const targetOf = (id: string): string => (id.includes('/$') ? id.slice(id.indexOf('/') + 1) : id)

export function Canvas() {
  const t = useT()
  const flow = useReactFlow<FlowNode, FlowEdge>()
  const document = useDocument()
  const workflow = useEditor((state) => state.workflow)
  const selected = useEditor((state) => state.selected)
  const selectedEdges = useEditor((state) => state.selectedEdges)
  const handles = useChecks((state) => state.handles)
  const catalogue = useCatalogue().data
  const dark = useDark()
    const far = useStore((state) => state.transform[2] < 0.45)
  const geometry = useMemo(() => geometryOf(document, handles), [document, handles])
  const [nodes, setNodes] = useState<FlowNode[]>([])
  const [edges, setEdges] = useState<FlowEdge[]>([])
  const notes = document.ui?.notes ?? NO_NOTES
  useEffect(() => setNodes((before) => flowNodes(geometry, notes, selected, before)), [geometry, notes, selected])
  useEffect(() => setEdges((before) => flowEdges(document, geometry, selectedEdges, before)), [document, geometry, selectedEdges])

  useEffect(() => {
    view.centre = () => {
      const box = globalThis.document.querySelector('.react-flow')!.getBoundingClientRect()
      const at = flow.screenToFlowPosition({ x: box.x + box.width / 2, y: box.y + box.height / 2 })
      return [Math.round(at.x - 116), Math.round(at.y - 30)]
    }
    view.show = (ids, zoom) => {
      if (!ids.length) return void flow.fitView({ padding: 0.15, maxZoom: 1, duration: 250 })
      if (zoom) return void flow.fitView({ nodes: ids.map((id) => ({ id })), padding: 0.4, maxZoom: 1, duration: 250 })
      const node = flow.getInternalNode(ids[0]!)
      const at = node?.internals.positionAbsolute
      if (!at) return
      const box = globalThis.document.querySelector('.react-flow')!.getBoundingClientRect()
      const { x, y, zoom: scale } = flow.getViewport()
      const [left, top] = [at.x * scale + x, at.y * scale + y]
      const [width, height] = [(node.width ?? 232) * scale, (node.height ?? 60) * scale]
      if (left > 20 && top > 20 && left + width < box.width - 20 && top + height < box.height - 20) return
      void flow.setCenter(at.x + (node.width ?? 232) / 2, at.y + (node.height ?? 60) / 2, { zoom: Math.max(scale, 0.6), duration: 250 })
    }
  }, [flow])

  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const chosen = changes.filter((change) => change.type === 'select')
    const kept = changes.filter((change) => change.type !== 'remove')
    setNodes((before) => applyNodeChanges(kept, before))
    if (chosen.length) {
      const now = new Set(useEditor.getState().selected)
      for (const change of chosen) {
        if (change.selected) now.add(change.id)
        else now.delete(change.id)
      }
      set({ selected: now })
    }
    // Arrow keys move nodes without dragging: such moves are steps of their own.
    const moved = changes.filter((change) => change.type === 'position' && change.dragging === false && change.position)
    if (moved.length) commit(moved.map((change) => [(change as { id: string }).id, (change as { position: { x: number; y: number } }).position]))
  }, [])
  const onEdgesChange = useCallback((changes: EdgeChange<FlowEdge>[]) => {
    setEdges((before) => applyEdgeChanges(changes.filter((change) => change.type !== 'remove'), before))
    const chosen = changes.filter((change) => change.type === 'select')
    if (!chosen.length) return
    const now = new Set(useEditor.getState().selectedEdges)
    for (const change of chosen) {
      if (change.selected) now.add(change.id)
      else now.delete(change.id)
    }
    set({ selectedEdges: now })
  }, [])

  const isValid = useCallback((connection: { source: string; target: string }) => {
    const now = documentNow()
    const source = find(now, connection.source)
    if (isJump(targetOf(connection.target))) return connection.target.startsWith(`${source?.container}/`)
    const target = find(now, connection.target)
    return Boolean(source && target && source.container === target.container && target.node.type !== 'START' && !closesCircle(now, connection.source, connection.target))
  }, [])
  const onConnect = useCallback((connection: Connection) => {
    join({ from: connection.source, handle: connection.sourceHandle ?? 'out', to: targetOf(connection.target) })
  }, [])
  const onReconnect = useCallback((old: FlowEdge, connection: Connection) => {
    rejoin(old.data!.edge, { from: connection.source, handle: connection.sourceHandle ?? 'out', to: targetOf(connection.target) })
  }, [])
  const onConnectEnd = useCallback((_: unknown, state: FinalConnectionState) => {
    // Let go over nothing: a new step is wanted there.
    if (state.isValid !== null || !state.fromNode || state.fromHandle?.type !== 'source') return
    set({ adding: { kind: 'after', node: state.fromNode.id, handle: state.fromHandle.id ?? 'out' } })
  }, [])

  const containerAt = useCallback(
    (at: { x: number; y: number }): { container: string | null; inside: Point } => {
      let best: { container: string | null; inside: Point; depth: number } = { container: null, inside: [at.x, at.y], depth: -1 }
      for (const step of geometry.steps) {
        if (!step.node.body || !step.open) continue
        const absolute = flow.getInternalNode(step.node.id)?.internals.positionAbsolute
        if (!absolute) continue
        const inside: Point = [at.x - absolute.x, at.y - absolute.y]
        const within = inside[0] >= 0 && inside[1] >= 0 && inside[0] <= step.size.width && inside[1] <= step.size.height
        if (within && step.depth > best.depth) best = { container: step.node.id, inside: [Math.max(inside[0], PAD.side), Math.max(inside[1], PAD.top)], depth: step.depth }
      }
      return best
    },
    [flow, geometry],
  )
  const onDrop = (event: DragEvent) => {
    const type = catalogue?.byType.get(event.dataTransfer.getData(DRAGGED))
    if (!type) return
    event.preventDefault()
    const at = flow.screenToFlowPosition({ x: event.clientX - 60, y: event.clientY - 28 })
    const { container, inside } = containerAt(at)
    if (container !== null && type.type === 'END') return
    addStep(type, { kind: 'free', container, at: [Math.round(inside[0]), Math.round(inside[1])] })
  }

  const remembered = useRef(`interlace.view.${workflow}`)
  const firstView = useMemo(() => {
    const known = localStorage.getItem(remembered.current)
    if (known) return JSON.parse(known) as { x: number; y: number; zoom: number }
    // All of a wide flow would be too small to read: it begins at its beginning.
    const at = geometryOf(documentNow(), {}).steps
    const width = Math.max(...at.map((step) => step.position[0] + step.size.width)) - Math.min(...at.map((step) => step.position[0]))
    const start = at.find((step) => step.node.type === 'START') ?? at[0]
    return width > 1_500 && start ? { x: 60 - start.position[0] * 0.85, y: 300 - start.position[1] * 0.85, zoom: 0.85 } : undefined
  }, [])
  const menu = useRef<{ open: (at: { x: number; y: number }, id: string | null) => void }>(null)
  return (
    <Far value={far}>
      <NodeMenu ref={menu}>
        <ReactFlow<FlowNode, FlowEdge>
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          onNodeDragStop={(_, __, dragged) => commit(dragged.map((node) => [node.id, node.position]))}
          onConnect={onConnect}
          onReconnect={onReconnect}
          onConnectEnd={onConnectEnd}
          isValidConnection={isValid}
          onPaneClick={() => select([])}
          onNodeContextMenu={(event, node) => {
            if (!useEditor.getState().selected.has(node.id)) select([node.id])
            menu.current?.open({ x: event.clientX, y: event.clientY }, node.id)
          }}
          onNodeDoubleClick={() => set({ tab: 'settings' })}
          onDrop={onDrop}
          onDragOver={(event) => {
            event.preventDefault()
            event.dataTransfer.dropEffect = 'copy'
          }}
          onMoveEnd={(_, viewport) => localStorage.setItem(remembered.current, JSON.stringify(viewport))}
          {...(firstView ? { defaultViewport: firstView } : { fitView: true, fitViewOptions: { padding: 0.2, maxZoom: 1 } })}
          minZoom={0.08}
          maxZoom={2}
          deleteKeyCode={null}
          multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
          selectionKeyCode="Shift"
          selectionMode={SelectionMode.Partial}
          panOnScroll
          zoomOnDoubleClick={false}
          snapToGrid
          snapGrid={[8, 8]}
          connectionRadius={28}
          onlyRenderVisibleElements
          elevateNodesOnSelect={false}
          colorMode={dark ? 'dark' : 'light'}
          aria-label={t('editor.canvas')}
          ariaLabelConfig={{
            'node.a11yDescription.default': t('editor.a11y_node'),
            'node.a11yDescription.keyboardDisabled': t('editor.a11y_node'),
            'edge.a11yDescription.default': t('editor.a11y_edge'),
            'minimap.ariaLabel': t('editor.minimap'),
            'handle.ariaLabel': t('editor.handle'),
          }}
        >
          <Background variant={BackgroundVariant.Dots} gap={24} size={1.2} />
          {nodes.length > 6 && <MiniMap<FlowNode> pannable zoomable nodeColor={mapColour} nodeStrokeWidth={0} className="hidden! sm:block!" />}
          <CanvasControls />
        </ReactFlow>
      </NodeMenu>
    </Far>
  )
}

const mapColour = (node: FlowNode): string => (node.type === 'note' ? 'var(--warn-soft)' : node.parentId ? 'var(--line-strong)' : 'var(--mute)')

function commit(moves: [string, { x: number; y: number }][]): void {
  const positions: Record<string, Point> = {}
  const papers: Record<string, Point> = {}
  for (const [id, { x, y }] of moves) {
    const at: Point = [Math.round(x), Math.round(y)]
    if (id.startsWith('note:')) papers[id.slice(5)] = at
    else if (!id.includes('/$')) positions[id] = at
  }
  edit((document) => {
    const before = document.ui?.positions ?? {}
    const moved = Object.entries(positions).filter(([id, at]) => before[id]?.[0] !== at[0] || before[id]?.[1] !== at[1])
    const next = moved.length ? place(document, Object.fromEntries(moved)) : document
    if (!Object.keys(papers).length) return next
    return withUi(next, (ui) => ({ ...ui, notes: (ui.notes ?? []).map((note) => (papers[note.id] ? { ...note, position: papers[note.id]! } : note)) }))
  }, 'move')
}
