import { t } from '@/i18n/t'
import { failed } from '@/ui/toasts'
import { copySelected, cutSelected, duplicateSelected, pasteText, tidy, view } from './actions'
import { saveNow } from './autosave'
import { runNow, starting } from './run'
import { documentNow, goBack, goForward, removeSelected, select, set, update, useEditor } from './store'

const TYPING = 'input, textarea, select, [contenteditable="true"], .cm-editor'

const one = (): string | undefined => {
  const { selected } = useEditor.getState()
  return selected.size === 1 ? [...selected].find((id) => !id.startsWith('note:')) : undefined
}

const withControl: Record<string, (event: KeyboardEvent) => void> = {
  z: (event) => (event.shiftKey ? goForward() : goBack()),
  y: () => goForward(),
  a: () => select(documentNow().nodes.map((node) => node.id)),
  d: () => duplicateSelected(),
  c: () => void copySelected().catch((error: unknown) => failed(t('common.copy'), error)),
  x: () => void cutSelected().catch((error: unknown) => failed(t('common.copy'), error)),
}

const plain: Record<string, () => void> = {
  a: () => {
    const id = one()
    if (id) set({ adding: { kind: 'after', node: id, handle: 'out' } })
    else set({ adding: { kind: 'free', container: null, at: null } })
  },
  c: () => {
    const id = one()
    if (id) set({ connecting: id })
  },
  d: () => {
    const id = one()
    if (id) update(id, ({ disabled, ...rest }) => (disabled || rest.type === 'START' ? rest : { ...rest, disabled: true }))
  },
  f2: () => {
    const id = one()
    if (id) set({ renaming: id })
  },
  delete: removeSelected,
  backspace: removeSelected,
  escape: () => select([]),
  '?': () => set({ help: true }),
}

const shifted: Record<string, () => void> = {
  l: () => void tidy().catch((error: unknown) => failed(t('editor.tidy'), error)),
  f: () => view.show([]),
  p: () => set({ bottom: useEditor.getState().bottom === 'problems' ? null : 'problems' }),
}

/** The keys of the editor. Where somebody types, only those that no text field knows. */
function onKey(event: KeyboardEvent): void {
  const target = event.target as Element
  const key = event.key.toLowerCase()
  const control = event.ctrlKey || event.metaKey
  if (control && key === 'enter') {
    event.preventDefault()
    starting(runNow())
  } else if (control && key === 's') {
    event.preventDefault()
    void saveNow()
  } else if (target.closest?.(TYPING) || document.querySelector('[role="dialog"], [role="menu"]')) {
    return
  } else if (control && key in withControl && !event.altKey) {
    if ((key === 'c' || key === 'x') && String(getSelection())) return
    event.preventDefault()
    withControl[key]!(event)
  } else if (!control && !event.altKey) {
    // On a button Enter and the space bar press it; letters are ours everywhere else.
    const wanted = event.shiftKey && key !== '?' ? shifted[key] : plain[key]
    if (!wanted) return
    event.preventDefault()
    wanted()
  }
}

function onPaste(event: ClipboardEvent): void {
  if ((event.target as Element).closest?.(TYPING)) return
  const text = event.clipboardData?.getData('text/plain') ?? ''
  if (pasteText(text)) event.preventDefault()
}

export function followKeys(): () => void {
  window.addEventListener('keydown', onKey)
  window.addEventListener('paste', onPaste)
  return () => {
    window.removeEventListener('keydown', onKey)
    window.removeEventListener('paste', onPaste)
  }
}
