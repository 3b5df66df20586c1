import { CircleAlert, TriangleAlert } from 'lucide-react'
import { useT } from '@/i18n/t'
import { cx } from '@/ui/cx'
import { view } from './actions'
import { titleOf, useCatalogue } from './catalogue'
import { useChecks } from './checks'
import type { Body, WorkflowDocument } from './document'
import { KindChip } from './icons'
import { NodeStatus } from './NodeStatus'
import { handleOf, inOrder } from './operations'
import { select, useDocument, useEditor } from './store'

/** The steps as a list in their order: another view of the canvas, and the one that is read aloud. */
export function Outline() {
  const t = useT()
  const document = useDocument()
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <div className="h-full overflow-y-auto p-2" tabIndex={0} role="region" aria-label={t('editor.outline')}>
      <Steps body={document} />
      {document.nodes.length === 0 && <p className="p-4 text-center text-mute">{t('editor.empty')}</p>}
    </div>
  )
}

function Steps({ body }: { body: WorkflowDocument | Body }) {
  const t = useT()
  const selected = useEditor((state) => state.selected)
  const found = useChecks((state) => state.byNode)
  const catalogue = useCatalogue().data
  return (
    <ol className="flex flex-col gap-0.5">
      {inOrder(body).map((node) => {
        const type = catalogue?.byType.get(node.type)
        const leads = (body.edges ?? []).filter((edge) => edge.from === node.id)
        return (
          <li key={node.id}>
            <button
              type="button"
              aria-current={selected.has(node.id) ? 'true' : undefined}
              onClick={() => {
                select([node.id])
                view.show([node.id])
              }}
              className={cx('flex w-full items-center gap-2 rounded-lg px-1.5 py-1 text-left', selected.has(node.id) ? 'bg-accent-soft' : 'hover:bg-sunken')}
            >
              <KindChip small icon={type?.icon} group={type?.group} />
              <span className="min-w-0 flex-1">
                <span className="block truncate text-[13px] font-medium">{node.label || node.id}</span>
                <span className="block truncate text-[11.5px] text-mute">
                  {titleOf(node.type)}
                  {leads.length > 0 && ` → ${leads.map((edge) => (handleOf(edge) === 'out' ? edge.to : `${handleOf(edge)}: ${edge.to}`)).join(', ')}`}
                </span>
              </span>
              <NodeStatus id={node.id} />
              {found[node.id]?.errors ? <CircleAlert size={14} className="text-danger" aria-label={t('editor.n_errors', { n: found[node.id]!.errors })} /> : found[node.id]?.warnings ? <TriangleAlert size={14} className="text-warn" aria-label={t('editor.n_warnings', { n: found[node.id]!.warnings })} /> : null}
            </button>
            {node.body && (
              <div className="ml-4 border-l border-line pl-1.5">
                <Steps body={node.body} />
              </div>
            )}
          </li>
        )
      })}
    </ol>
  )
}
