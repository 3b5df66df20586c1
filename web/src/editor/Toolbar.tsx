import { ChevronLeft, CircleAlert, CircleCheck, Ellipsis, History, Keyboard, ListTree, Play, Plus, Redo2, TriangleAlert, Undo2, Braces, Upload, Save, Download, LayoutGrid, Copy } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { fileName, saveFile } from '@/api/workflows'
import { api } from '@/api/client'
import { ago, t as translate, useT } from '@/i18n/t'
import { cancelRun } from '@/api/runs'
import { useRun } from '@/runs/store'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { Menu } from '@/ui/Menu'
import { done, failed } from '@/ui/toasts'
import { copySelected, tidy } from './actions'
import { resolveConflict, useSaving } from './autosave'
import { useChecks } from './checks'
import { starting, runNow, useWish } from './run'
import { documentNow, goBack, goForward, set, useDocument, useEditor, type Side } from './store'

const KeepDialog = lazy(() => import('./KeepDialog').then(({ KeepDialog }) => ({ default: KeepDialog })))

async function exportNow(): Promise<void> {
  const document = documentNow()
  const found: { yaml: string } = await api('post', '/api/v1/workflows/convert', { body: { document: document as never } })
  saveFile(fileName(document.name), found.yaml)
}

const trying = (what: string, work: Promise<unknown>): void => void work.catch((error: unknown) => failed(what, error))
const side = (wanted: Side) => set({ side: useEditor.getState().side === wanted ? null : wanted })

export function Toolbar() {
  const t = useT()
  const name = useDocument().name
  const { version, publishedVersion } = useEditor()
  const past = useEditor((state) => state.history.past.length > 0)
  const future = useEditor((state) => state.history.future.length > 0)
  const shownSide = useEditor((state) => state.side)
  const yaml = useEditor((state) => state.yaml)
  const changed = useEditor((state) => state.history.present !== state.kept)
  const [keeping, setKeeping] = useState(false)
  return (
    <header className="flex h-13 shrink-0 items-center gap-1 border-b border-line bg-panel px-2">
      <Link href="/workflows" aria-label={t('workflows.title')} className="rounded-lg p-2 text-mute hover:bg-sunken">
        <ChevronLeft size={17} />
      </Link>
      <div className="mr-2 flex min-w-0 flex-col">
        <h1 className="truncate text-[14px] leading-tight font-semibold">{name}</h1>
        <SavingLine />
      </div>
      {publishedVersion !== null ? <Badge tone="ok" className="hidden lg:inline-flex">{t('editor.published_n', { n: publishedVersion })}</Badge> : version !== null && <Badge className="hidden lg:inline-flex">{t('workflows.not_published')}</Badge>}
      <span className="mx-1 hidden h-6 w-px bg-line sm:block" />
      <IconButton size="sm" label={t('editor.steps')} aria-pressed={shownSide === 'add'} className={shownSide === 'add' ? 'bg-accent-soft! text-accent-text!' : ''} icon={<Plus size={16} />} onClick={() => side('add')} />
      <IconButton size="sm" label={t('editor.outline')} aria-pressed={shownSide === 'outline'} className={shownSide === 'outline' ? 'bg-accent-soft! text-accent-text!' : ''} icon={<ListTree size={16} />} onClick={() => side('outline')} />
      <IconButton size="sm" label={t('editor.versions')} aria-pressed={shownSide === 'versions'} className={shownSide === 'versions' ? 'bg-accent-soft! text-accent-text!' : ''} icon={<History size={16} />} onClick={() => side('versions')} />
      <IconButton size="sm" label={t('editor.yaml')} aria-pressed={yaml} className={yaml ? 'bg-accent-soft! text-accent-text!' : ''} icon={<Braces size={16} />} onClick={() => set({ yaml: !yaml })} />
      <span className="mx-1 hidden h-6 w-px bg-line sm:block" />
      <IconButton size="sm" label={`${t('common.undo')} (Ctrl+Z)`} disabled={!past} icon={<Undo2 size={16} />} onClick={goBack} />
      <IconButton size="sm" label={`${t('editor.redo')} (Ctrl+Shift+Z)`} disabled={!future} icon={<Redo2 size={16} />} onClick={goForward} />
      <span className="flex-1" />
      <ProblemsButton />
      <RunButton />
      <Button icon={<Save size={15} />} disabled={!changed && publishedVersion === version} onClick={() => setKeeping(true)}>
        <span className="hidden md:inline">{t('editor.keep')}</span>
      </Button>
      <Menu
        trigger={<IconButton label={t('common.more')} icon={<Ellipsis size={17} />} />}
        items={[
          { label: t('editor.tidy'), icon: <LayoutGrid size={14} />, keys: 'Shift+L', onSelect: () => trying(t('editor.tidy'), tidy()) },
          { label: t('editor.copy_nodes'), icon: <Copy size={14} />, keys: 'Ctrl+C', onSelect: () => trying(t('common.copy'), copySelected()) },
          'line',
          { label: t('workflows.export'), icon: <Download size={14} />, onSelect: () => trying(t('workflows.export'), exportNow()) },
          { label: t('editor.import_here'), icon: <Upload size={14} />, onSelect: () => set({ yaml: true }) },
          { label: t('editor.versions'), icon: <History size={14} />, onSelect: () => set({ side: 'versions' }) },
          'line',
          { label: t('editor.shortcuts'), icon: <Keyboard size={14} />, keys: '?', onSelect: () => set({ help: true }) },
        ]}
      />
      <Suspense>{keeping && <KeepDialog onClose={() => setKeeping(false)} />}</Suspense>
    </header>
  )
}

function SavingLine() {
  const t = useT()
  const { state, at, error, theirs } = useSaving()
  const version = useEditor((editor) => editor.version)
  if (state === 'conflict') {
    return (
      <span role="alert" className="flex items-center gap-1.5 text-xs text-danger">
        {t('editor.conflict', { who: theirs?.updated_by ?? '?' })}
        <button type="button" className="rounded underline" onClick={() => trying(t('editor.saving'), resolveConflict('theirs'))}>
          {t('editor.take_theirs')}
        </button>
        <button type="button" className="rounded underline" onClick={() => trying(t('editor.saving'), resolveConflict('mine'))}>
          {t('editor.keep_mine')}
        </button>
      </span>
    )
  }
  const text = {
    kept: version === null ? '' : t('workflows.version', { n: version }),
    waiting: t('editor.unsaved'),
    saving: t('editor.saving'),
    saved: at === null ? t('editor.saved') : t('editor.saved_ago', { ago: ago(at) }),
    failed: t('editor.save_failed', { error }),
  }[state]
  return (
    <span role="status" className={`truncate text-xs ${state === 'failed' ? 'text-danger' : 'text-mute'}`}>
      {text}
    </span>
  )
}

function ProblemsButton() {
  const t = useT()
  const problems = useChecks((state) => state.problems)
  const pending = useChecks((state) => state.pending)
  const bottom = useEditor((state) => state.bottom)
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const warnings = problems.length - errors
  const icon = errors ? <CircleAlert size={16} className="text-danger" aria-hidden /> : warnings ? <TriangleAlert size={16} className="text-warn" aria-hidden /> : <CircleCheck size={16} className="text-ok" aria-hidden />
  return (
    <Button look="ghost" size="sm" icon={icon} aria-pressed={bottom === 'problems'} aria-label={t('editor.problems_n', { n: problems.length })} className={pending ? 'opacity-70' : ''} onClick={() => set({ bottom: bottom === 'problems' ? null : 'problems' })}>
      {problems.length || ''}
    </Button>
  )
}

function RunButton() {
  const t = useT()
  const valid = useChecks((state) => state.valid)
  const { status, runId } = useRun()
  const busy = useWish((state) => state.busy)
  const active = status === 'running' || status === 'queued'
  if (active && runId) {
    return (
      <Button look="danger" onClick={() => trying(translate('editor.cancel_run'), cancelRun(runId).then(() => done(translate('editor.cancelled'))))}>
        {t('editor.cancel_run')}
      </Button>
    )
  }
  return (
    <Button look="primary" icon={<Play size={15} />} busy={busy} disabled={!valid} title={valid ? 'Ctrl+Enter' : t('editor.not_valid')} onClick={() => starting(runNow())}>
      {t('editor.run')}
    </Button>
  )
}
