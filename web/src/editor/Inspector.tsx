import { Pencil, Trash2 } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useT } from '@/i18n/t'
import type { FormSurroundings, TextProps } from '@/schema/context'
import { SchemaForm } from '@/schema/SchemaForm'
import { Button, IconButton } from '@/ui/Button'
import { cx } from '@/ui/cx'
import { Input, Textarea } from '@/ui/Input'
import { Tabs } from '@/ui/Tabs'
import { summaryOf, titleOf, useCatalogue } from './catalogue'
import { problemsOf, useChecks } from './checks'
import type { NodeSpec } from './document'
import { ExpressionField } from './ExpressionField'
import { KindChip } from './icons'
import { disconnect, edgeKey, walk } from './operations'
import { useOptions } from './options'
import { edit, removeSelected, set, update, useDocument, useEditor, useSelected } from './store'
import { InputsForm, WorkflowSettings } from './WorkflowSettings'

const NodeData = lazy(() => import('@/runs/NodeData').then(({ NodeData }) => ({ default: NodeData })))

/** The panel at the side: the settings of what is chosen. */
export function Inspector() {
  const t = useT()
  const node = useSelected()
  const selected = useEditor((state) => state.selected)
  const selectedEdges = useEditor((state) => state.selectedEdges)
  if (node) return <NodeInspector key={node.id} node={node} />
  if (selected.size > 1) {
    return (
      <div className="flex flex-col gap-3 p-4">
        <p className="font-semibold">{t('editor.n_selected', { n: selected.size })}</p>
        <p className="text-[13px] text-mute">{t('editor.n_selected_lead')}</p>
        <Button look="danger" icon={<Trash2 size={15} />} onClick={removeSelected}>
          {t('common.delete')}
        </Button>
      </div>
    )
  }
  if (selectedEdges.size) return <EdgeInspector keys={selectedEdges} />
  return <WorkflowSettings />
}

function EdgeInspector({ keys }: { keys: ReadonlySet<string> }) {
  const t = useT()
  const document = useDocument()
  const edges = useMemo(() => [document.edges, ...[...walk(document)].map(({ node }) => node.body?.edges ?? [])].flat().filter((edge) => keys.has(edgeKey(edge))), [document, keys])
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="font-semibold">{t('editor.edge')}</p>
      {edges.map((edge) => (
        <div key={edgeKey(edge)} className="flex items-center gap-2">
          <code className="min-w-0 flex-1 truncate text-[13px]">{`${edge.from}${edge.handle && edge.handle !== 'out' ? `.${edge.handle}` : ''} → ${edge.to}`}</code>
          <Button size="sm" onClick={() => set({ adding: { kind: 'edge', edge } })}>
            {t('editor.insert_step')}
          </Button>
        </div>
      ))}
      <Button look="danger" icon={<Trash2 size={15} />} onClick={() => edit((now) => disconnect(now, keys), null, { selectedEdges: new Set() })}>
        {t('common.delete')}
      </Button>
    </div>
  )
}

function NodeInspector({ node }: { node: NodeSpec }) {
  const t = useT()
  const catalogue = useCatalogue().data
  const tab = useEditor((state) => state.tab)
  const type = catalogue?.byType.get(node.type)
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex items-start gap-2.5 px-4 pt-3 pb-2">
        <KindChip icon={type?.icon} group={type?.group} />
        <div className="min-w-0 flex-1">
          <Input
            aria-label={t('editor.label')}
            className="h-7! border-transparent! px-1! font-semibold hover:border-line-strong!"
            value={node.label ?? ''}
            placeholder={titleOf(node.type)}
            onChange={(event) => update(node.id, ({ label: _, ...rest }) => (event.target.value ? { ...rest, label: event.target.value } : rest), `label ${node.id}`)}
          />
          <div className="flex items-center gap-1 px-1 text-xs text-mute">
            <span>{titleOf(node.type)} ·</span>
            <code className="truncate">{node.id}</code>
            <IconButton size="sm" className="size-6!" label={t('editor.rename_id', { id: node.id })} icon={<Pencil size={12} />} onClick={() => set({ renaming: node.id })} />
          </div>
        </div>
      </header>
      <Tabs
        className="flex-1"
        label={t('editor.parts_of', { id: node.id })}
        value={tab}
        onChange={(next) => set({ tab: next as 'settings' | 'data' })}
        tabs={[
          { id: 'settings', label: t('editor.settings'), content: <NodeSettings node={node} /> },
          { id: 'data', label: t('editor.data'), content: <Suspense><NodeData node={node} /></Suspense> },
        ]}
      />
    </div>
  )
}

function NodeSettings({ node }: { node: NodeSpec }) {
  useT()
  const catalogue = useCatalogue().data
  const problems = useChecks((state) => state.problems)
  const options = useOptions()
  const type = catalogue?.byType.get(node.type)
  const found = useMemo(() => problemsOf(problems, node.id), [problems, node.id])
  const expressionField = useCallback((props: TextProps) => <ExpressionField {...props} node={node.id} />, [node.id])
  const surroundings: FormSurroundings = { problems: found, expressionField, options }
  const general = problems.filter((problem) => problem.node === node.id && !problem.field?.startsWith('config.'))
  return (
    <div className="flex flex-col gap-5 p-4">
      {type && <p className="text-[13px] text-mute">{summaryOf(type)}</p>}
      {general.length > 0 && (
        <ul className={cx('flex flex-col gap-1 rounded-lg px-3 py-2 text-[13px]', general.every((problem) => problem.severity === 'warning') ? 'bg-warn-soft' : 'bg-danger-soft')}>
          {general.map((problem) => (
            <li key={problem.code + problem.field + problem.message} className={problem.severity === 'warning' ? 'text-warn' : 'text-danger'}>
              {problem.message} {problem.fix}
            </li>
          ))}
        </ul>
      )}
      {node.type === 'START' ? (
        <InputsForm />
      ) : type ? (
        <SchemaForm schema={type.config} value={node.config ?? {}} path="config" surroundings={surroundings} onChange={(config) => update(node.id, ({ config: _, ...rest }) => (Object.keys(config).length ? { ...rest, config } : rest), `config ${node.id}`)} />
      ) : null}
      {node.type !== 'START' && catalogue && <Behaviour node={node} schema={catalogue.shared} surroundings={surroundings} />}
    </div>
  )
}

const SHOWN_ELSEWHERE = ['label', 'note']

/** What all types share: errors, retries, time-outs, waiting. */
function Behaviour({ node, schema, surroundings }: { node: NodeSpec; schema: Parameters<typeof SchemaForm>[0]['schema']; surroundings: FormSurroundings }) {
  const t = useT()
  const { id, type, config, body, label, note, ...behaviour } = node
  const [open, setOpen] = useState(Object.keys(behaviour).length > 0)
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="border-t border-line pt-3">
      <summary className="cursor-pointer rounded text-[13px] font-semibold">{t('editor.behaviour')}</summary>
      <div className="mt-3 flex flex-col gap-4">
        {open && (
          <SchemaForm
            schema={schema}
            value={behaviour}
            surroundings={surroundings}
            leave={SHOWN_ELSEWHERE}
            onChange={(next) =>
              update(id, () => ({ id, type, ...(label ? { label } : {}), ...(note ? { note } : {}), ...next, ...(config ? { config } : {}), ...(body ? { body } : {}) }) as NodeSpec, `behaviour ${id}`)
            }
          />
        )}
        <label className="flex flex-col gap-1 text-[13px] font-medium">
          {t('editor.note')}
          <Textarea className="font-normal" value={note ?? ''} placeholder={t('editor.node_note_hint')} onChange={(event) => update(id, ({ note: _, ...rest }) => (event.target.value ? { ...rest, note: event.target.value } : rest), `note ${id}`)} />
        </label>
      </div>
    </details>
  )
}
