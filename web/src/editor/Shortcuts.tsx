import { useT, type Key } from '@/i18n/t'
import { Keys } from '@/ui/Keys'
import { Modal } from '@/ui/Modal'
import { set } from './store'

const SHORTCUTS: [string, Key][] = [
  ['Ctrl+K', 'editor.key_find'],
  ['A', 'editor.key_add'],
  ['C', 'editor.key_connect'],
  ['F2', 'editor.key_rename'],
  ['D', 'editor.key_disable'],
  ['Del', 'editor.key_delete'],
  ['Ctrl+D', 'editor.key_duplicate'],
  ['Ctrl+C', 'editor.key_copy'],
  ['Ctrl+X', 'editor.key_cut'],
  ['Ctrl+V', 'editor.key_paste'],
  ['Ctrl+A', 'editor.key_all'],
  ['Ctrl+Z', 'editor.key_undo'],
  ['Ctrl+Shift+Z', 'editor.key_redo'],
  ['Shift+L', 'editor.key_tidy'],
  ['Shift+F', 'editor.key_fit'],
  ['Ctrl+Enter', 'editor.key_run'],
  ['Ctrl+S', 'editor.key_save'],
  ['Shift+P', 'editor.key_problems'],
  ['Escape', 'editor.key_escape'],
  ['?', 'editor.key_help'],
]

export function Shortcuts() {
  const t = useT()
  return (
    <Modal open onOpenChange={() => set({ help: false })} title={t('editor.shortcuts')} description={t('editor.shortcuts_lead')}>
      <dl className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2">
        {SHORTCUTS.map(([keys, label]) => (
          <div key={keys} className="flex items-center justify-between gap-3">
            <dt>{t(label)}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}
