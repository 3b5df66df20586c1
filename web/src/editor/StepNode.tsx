import { Handle, Position, type Node, type NodeProps } from '@xyflow/react'
import { ChevronDown, ChevronRight, CircleAlert, Pin, Plus, TriangleAlert } from 'lucide-react'
import { createContext, memo, useContext } from 'react'
import { text, useT } from '@/i18n/t'
import { useRun } from '@/runs/store'
import { cx } from '@/ui/cx'
import { toggleOpen } from './actions'
import { titleOf, useCatalogue } from './catalogue'
import { useChecks } from './checks'
import type { NodeSpec } from './document'
import { HEAD, hasRows, ROW } from './geometry'
import { KindChip, KindIcon } from './icons'
import { NodeStatus, PassPicker } from './NodeStatus'
import { set } from './store'
import { summaryLine } from './summary'

export type StepData = { spec: NodeSpec; handles: string[]; open: boolean; mark?: 'added' | 'removed' | 'changed' }
export type StepFlowNode = Node<StepData, 'step'>

/** Whether the canvas is so far away that only shapes can be told apart. */
export const Far = createContext(false)

const MARKS = { added: 'ring-2 ring-ok', removed: 'ring-2 ring-danger opacity-60', changed: 'ring-2 ring-warn' }

/** The one node component: every type looks like this, containers have room for their body. */
export const StepNode = memo(function StepNode({ id, data, selected }: NodeProps<StepFlowNode>) {
  const { spec, handles, open, mark } = data
  const far = useContext(Far)
  const type = useCatalogue().data?.byType.get(spec.type)
  const status = useRun((state) => state.shown[id]?.status)
  const container = Boolean(spec.body) && open
  return (
    <div
      data-status={status}
      className={cx(
        'group/step h-full w-full rounded-xl border bg-panel text-left shadow-card',
        container && 'bg-panel/60 dark:bg-panel/40',
        selected ? 'border-accent-text ring-2 ring-accent-text/40' : EDGE_OF[status ?? ''] ?? 'border-line-strong/50',
        spec.disabled && 'border-dashed opacity-60',
        mark && MARKS[mark],
      )}
    >
      {spec.type !== 'START' && <Handle type="target" position={Position.Left} style={{ top: HEAD / 2 }} className="hit" />}
      {far ? (
        <div className="flex h-full items-center justify-center" style={{ color: `var(--kind-${type?.group ?? 'flow'})` }}>
          <KindIcon icon={type?.icon} size={container ? 40 : 28} />
        </div>
      ) : (
        <Head id={id} spec={spec} icon={type?.icon} group={type?.group} container={Boolean(spec.body)} open={open} />
      )}
      <Outlets id={id} handles={handles} far={far} kind={spec.type} />
    </div>
  )
})

const EDGE_OF: Record<string, string> = {
  running: 'border-info',
  succeeded: 'border-ok/70',
  failed: 'border-danger',
  unknown: 'border-danger',
  suspended: 'border-warn',
  skipped: 'border-line opacity-70',
  not_reached: 'border-line opacity-70',
}

function Head({ id, spec, icon, group, container, open }: { id: string; spec: NodeSpec; icon: string | undefined; group: string | undefined; container: boolean; open: boolean }) {
  const t = useT()
  const found = useChecks((state) => state.byNode[id])
  const pinned = useRun((state) => Boolean(state.pins[id]))
  return (
    <div className="flex items-center gap-2.5 px-2.5" style={{ height: HEAD }}>
      <KindChip icon={icon} group={group} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-1 text-[13px] leading-tight font-semibold">
          <span className="truncate">{spec.label || titleOf(spec.type)}</span>
          {pinned && <Pin size={12} aria-label={t('editor.pinned')} className="shrink-0 text-warn" />}
        </div>
        <div className="truncate text-[11.5px] leading-tight text-mute">{summaryLine(spec) || id}</div>
      </div>
      {container && <PassPicker id={id} />}
      <NodeStatus id={id} />
      {found &&
        (found.errors ? (
          <CircleAlert size={16} aria-label={t('editor.n_errors', { n: found.errors })} className="shrink-0 text-danger" />
        ) : (
          <TriangleAlert size={16} aria-label={t('editor.n_warnings', { n: found.warnings })} className="shrink-0 text-warn" />
        ))}
      {container && (
        <button type="button" className="nodrag -mr-1 rounded p-1 text-mute hover:bg-sunken" aria-expanded={open} aria-label={t(open ? 'editor.fold' : 'editor.unfold')} onClick={() => toggleOpen(id)}>
          {open ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
        </button>
      )}
      {container && open && !spec.body!.nodes.length && (
        <button
          type="button"
          className="nodrag absolute inset-x-7 top-[62px] bottom-7 flex items-center justify-center gap-1.5 rounded-lg border border-dashed border-line-strong/60 text-[13px] text-mute hover:border-accent-text hover:text-accent-text"
          onClick={() => set({ adding: { kind: 'free', container: id, at: null } })}
        >
          <Plus size={15} aria-hidden /> {t('editor.first_of_body')}
        </button>
      )}
    </div>
  )
}

function Outlets({ id, handles, far, kind }: { id: string; handles: string[]; far: boolean; kind: string }) {
  const rows = hasRows(handles)
  return handles.map((handle, index) => {
    const top = rows ? HEAD + index * ROW + ROW / 2 : HEAD / 2
    return (
      <div key={handle}>
        {rows && !far && (
          <div className={cx('absolute right-3.5 left-3 truncate text-right text-[11.5px] leading-6', handle === 'error' ? 'text-danger' : 'text-mute')} style={{ top: top - 12 }}>
            {handleName(handle)}
          </div>
        )}
        <Handle id={handle} type="source" position={Position.Right} style={{ top }} className={cx('hit', handle === 'error' && 'danger')} />
        {!far && <AddAfter id={id} handle={handle} top={top} kind={kind} />}
      </div>
    )
  })
}

export const handleName = (handle: string): string => (handle === 'out' ? '→' : (text(`editor.handle_${handle}`) ?? handle))

function AddAfter({ id, handle, top }: { id: string; handle: string; top: number; kind: string }) {
  const t = useT()
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={t('editor.add_after_handle', { node: id, handle })}
      className="nodrag absolute -right-8 flex size-5 items-center justify-center rounded-full border border-line-strong bg-panel text-mute opacity-0 group-hover/step:opacity-100 hover:border-accent-text hover:text-accent-text"
      style={{ top: top - 10 }}
      onClick={(event) => {
        event.stopPropagation()
        set({ adding: { kind: 'after', node: id, handle } })
      }}
    >
      <Plus size={13} />
    </button>
  )
}
