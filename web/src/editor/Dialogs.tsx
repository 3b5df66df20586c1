import { useState } from 'react'
import { api } from '@/api/client'
import { useT, type Key } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { inform } from '@/ui/toasts'
import { addStep, join } from './actions'
import { summaryOf, titleOf, useCatalogue } from './catalogue'
import { useChecks } from './checks'
import { Choose } from './Choose'
import type { WorkflowDocument } from './document'
import { shownHandles, usedHandles } from './geometry'
import { KindChip } from './icons'
import { closesCircle, disconnect, edgeKey, find, JUMPS } from './operations'
import { grouped } from './Palette'
import { documentNow, edit, set, useDocument, useEditor } from './store'

/** Asks which type the new step is of; typing finds it. */
export function AddStep() {
  const t = useT()
  const adding = useEditor((state) => state.adding)
  const document = useDocument()
  const catalogue = useCatalogue().data
  if (!adding || !catalogue) return null
  const container = adding.kind === 'free' ? adding.container : (find(document, adding.kind === 'after' ? adding.node : adding.edge.from)?.container ?? null)
  const types = catalogue.types.filter((type) => !(type.type === 'END' && (container !== null || adding.kind === 'edge')))
  const groups = grouped(types, '').map(([group, found]): [string, { id: string; label: string; help: string; words: string; icon: React.ReactNode }[]] => [
    t(`editor.group_${group}` as Key),
    found.map((type) => ({ id: type.type, label: titleOf(type.type), help: summaryOf(type), words: type.type, icon: <KindChip small icon={type.icon} group={type.group} /> })),
  ])
  return <Choose title={t('editor.add_step')} hint={t('editor.search_steps')} empty={t('common.palette_empty')} groups={groups} onClose={() => set({ adding: null })} onChoose={(id) => addStep(catalogue.byType.get(id)!, adding)} />
}

/** Joins nodes without a mouse: a handle of the chosen node, and where it leads. What is joined already is parted. */
export function ConnectTo() {
  const t = useT()
  const id = useEditor((state) => state.connecting)
  const document = useDocument()
  const known = useChecks((state) => state.handles)
  const catalogue = useCatalogue().data
  const found = id === null ? undefined : find(document, id)
  if (!found || id === null) return null
  const handles = shownHandles(found.node, known[id], usedHandles(found.body).get(id) ?? new Set())
  const all = found.node.on_error === 'branch' && !handles.includes('error') ? [...handles, 'error'] : handles
  const joined = new Set((found.body.edges ?? []).filter((edge) => edge.from === id).map(edgeKey))
  const targets = found.body.nodes.filter((node) => node.id !== id && node.type !== 'START' && !closesCircle(document, id, node.id))
  const groups = all.map((handle): [string, { id: string; label: string; help: string; icon: React.ReactNode }[]] => [
    t('editor.from_handle', { handle }),
    [
      ...targets.map((node) => {
        const key = edgeKey({ from: id, handle, to: node.id })
        const type = catalogue?.byType.get(node.type)
        return { id: key, label: node.label || node.id, help: joined.has(key) ? t('editor.disconnect') : titleOf(node.type), icon: <KindChip small icon={type?.icon} group={type?.group} /> }
      }),
      ...(found.container === null ? [] : JUMPS.map((jump) => ({ id: edgeKey({ from: id, handle, to: jump }), label: t(jump === '$break' ? 'editor.break' : 'editor.continue'), help: joined.has(edgeKey({ from: id, handle, to: jump })) ? t('editor.disconnect') : '', icon: <span className="size-6" /> }))),
    ],
  ])
  const choose = (key: string) => {
    const [from, handle, to] = key.split(' ') as [string, string, string]
    if (joined.has(key)) edit((now) => disconnect(now, new Set([key])))
    else if (join({ from, handle, to })) inform(t('editor.connected', { from, to }))
    set({ connecting: null })
  }
  return <Choose title={t('editor.connect_to')} hint={t('editor.search_nodes')} empty={t('common.palette_empty')} groups={groups} onClose={() => set({ connecting: null })} onChoose={choose} />
}

/** Gives a node another id; the server rewrites every reference. */
export function Rename() {
  const id = useEditor((state) => state.renaming)
  return id === null ? null : <RenameForm key={id} id={id} />
}

function RenameForm({ id }: { id: string }) {
  const t = useT()
  const [name, setName] = useState(id)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const rename = async () => {
    setBusy(true)
    try {
      const before = documentNow()
      const found: { document: WorkflowDocument } = await api('post', '/api/v1/workflows/rename-node', { body: { document: before as never, old: id, new: name.trim() } })
      edit((now) => ({ ...found.document, ui: { ...now.ui, ...found.document.ui } }), null, { renaming: null, selected: new Set([name.trim()]) })
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem))
      setBusy(false)
    }
  }
  return (
    <Modal
      open
      onOpenChange={() => set({ renaming: null })}
      title={t('editor.rename_title', { id })}
      description={t('editor.rename_lead')}
      footer={
        <>
          <Button onClick={() => set({ renaming: null })}>{t('common.cancel')}</Button>
          <Button type="submit" form="rename-node" look="primary" busy={busy} disabled={!name.trim() || name.trim() === id}>
            {t('editor.rename')}
          </Button>
        </>
      }
    >
      <form
        id="rename-node"
        onSubmit={(event) => {
          event.preventDefault()
          void rename()
        }}
      >
        <Labelled label={t('editor.id')} help={t('editor.id_help')} error={error}>
          {(ids) => <Input {...ids} autoFocus spellCheck={false} className="font-mono" value={name} maxLength={64} onChange={(event) => setName(event.target.value)} />}
        </Labelled>
      </form>
    </Modal>
  )
}

