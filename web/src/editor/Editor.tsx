import { ReactFlowProvider } from '@xyflow/react'
import { X } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo } from 'react'
import { useT } from '@/i18n/t'
import { useRun } from '@/runs/store'
import { useOffer } from '@/shell/commands'
import { IconButton } from '@/ui/Button'
import { text } from '@/i18n/t'
import { view } from './actions'
import { Canvas } from './Canvas'
import { titleOf, useCatalogue } from './catalogue'
import { KindIcon } from './icons'
import { Inspector } from './Inspector'
import { walk } from './operations'
import { Outline } from './Outline'
import { Palette } from './Palette'
import { useWish } from './run'
import { followKeys } from './shortcuts'
import { select, set, useDocument, useEditor } from './store'
import { Toolbar } from './Toolbar'

// What is not seen at first comes when it is wanted.
const RunDialog = lazy(() => import('@/runs/RunDialog').then(({ RunDialog }) => ({ default: RunDialog })))
const RunPanel = lazy(() => import('@/runs/RunPanel').then(({ RunPanel }) => ({ default: RunPanel })))
const AddStep = lazy(() => import('./Dialogs').then(({ AddStep }) => ({ default: AddStep })))
const ConnectTo = lazy(() => import('./Dialogs').then(({ ConnectTo }) => ({ default: ConnectTo })))
const Rename = lazy(() => import('./Dialogs').then(({ Rename }) => ({ default: Rename })))
const Problems = lazy(() => import('./Problems').then(({ Problems }) => ({ default: Problems })))
const Shortcuts = lazy(() => import('./Shortcuts').then(({ Shortcuts }) => ({ default: Shortcuts })))
const Versions = lazy(() => import('./Versions').then(({ Versions }) => ({ default: Versions })))
const YamlPanel = lazy(() => import('./YamlPanel').then(({ YamlPanel }) => ({ default: YamlPanel })))

/** The whole editor: what is added at the left, the canvas, what is chosen at the right, problems and runs below. */
export function Editor() {
  const t = useT()
  const { side, bottom, yaml, help, adding, connecting, renaming } = useEditor()
  const asking = useWish((state) => state.open)
  useEffect(() => followKeys(), [])
  // Nearly every step has such a field: it should be there before the first is opened.
  useEffect(() => void import('./ExpressionEditor'), [])
  useFinding()
  return (
    <ReactFlowProvider>
      <div className="flex h-full min-h-0 flex-col">
        <Toolbar />
        <div className="flex min-h-0 flex-1">
          {side && (
            <aside aria-label={t(side === 'add' ? 'editor.steps' : side === 'outline' ? 'editor.outline' : 'editor.versions')} className="hidden w-60 shrink-0 border-r border-line bg-panel sm:block">
              <Suspense>{side === 'add' ? <Palette /> : side === 'outline' ? <Outline /> : <Versions />}</Suspense>
            </aside>
          )}
          <div className="flex min-w-0 flex-1 flex-col">
            <div className="min-h-0 flex-1">
              <Canvas />
            </div>
            {bottom && (
              <section aria-label={t(bottom === 'problems' ? 'editor.problems' : 'editor.run_panel')} className="flex h-64 shrink-0 flex-col border-t border-line bg-panel">
                <header className="flex h-9 shrink-0 items-center justify-between border-b border-line pr-1.5 pl-4">
                  <h2 className="text-[13px] font-semibold">{t(bottom === 'problems' ? 'editor.problems' : 'editor.run_panel')}</h2>
                  <IconButton size="sm" side="top" label={t('common.close')} icon={<X size={14} />} onClick={() => set({ bottom: null })} />
                </header>
                {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
                <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label={t('editor.details')}>
                  <Suspense>{bottom === 'problems' ? <Problems /> : <RunPanel />}</Suspense>
                </div>
              </section>
            )}
          </div>
          {yaml && (
            <Suspense>
              <YamlPanel />
            </Suspense>
          )}
          <aside aria-label={t('editor.inspector')} className="hidden w-96 shrink-0 overflow-y-auto border-l border-line bg-panel lg:block">
            <Inspector />
          </aside>
        </div>
      </div>
      <Suspense>
        {adding && <AddStep />}
        {connecting && <ConnectTo />}
        {renaming && <Rename />}
        {asking && <RunDialog />}
        {help && <Shortcuts />}
      </Suspense>
      <Announcer />
    </ReactFlowProvider>
  )
}

/** Says how the run fares to those who do not see it. */
function Announcer() {
  const t = useT()
  const status = useRun((state) => state.announced)
  return (
    <p className="sr-only" aria-live="polite">
      {status ? t('editor.run_is', { status: text(`common.status_${status}`) ?? status }) : ''}
    </p>
  )
}

/** The steps in Ctrl+K. */
function useFinding(): void {
  const t = useT()
  const document = useDocument()
  const catalogue = useCatalogue().data
  const commands = useMemo(
    () =>
      [...walk(document)].map(({ node }) => ({
        id: `node ${node.id}`,
        label: node.label || node.id,
        words: `${node.id} ${titleOf(node.type)}`,
        group: t('editor.steps_here'),
        icon: <KindIcon icon={catalogue?.byType.get(node.type)?.icon} size={15} />,
        run: () => {
          select([node.id])
          requestAnimationFrame(() => view.show([node.id], true))
        },
      })),
    [document, catalogue, t],
  )
  useOffer('editor', commands)
}
