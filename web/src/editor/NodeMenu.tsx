import { useImperativeHandle, useState, type ReactNode, type Ref } from 'react'
import { DropdownMenu } from 'radix-ui'
import { Copy, CornerDownRight, CopyPlus, CircleSlash, Pencil, Play, Trash2, Spline } from 'lucide-react'
import { t, useT } from '@/i18n/t'
import { menuEntries, MENU_BOX, type MenuEntry } from '@/ui/Menu'
import { failed } from '@/ui/toasts'
import { runUntil } from './run'
import { copySelected, duplicateSelected } from './actions'
import { shownHandles, usedHandles } from './geometry'
import { useChecks } from './checks'
import { find } from './operations'
import { documentNow, removeSelected, set, update, useEditor } from './store'

interface Handle {
  open: (at: { x: number; y: number }, id: string | null) => void
}

/** What can be done with a node, for its right click and for the keyboard. */
export function nodeEntries(id: string): MenuEntry[] {
  const found = find(documentNow(), id)
  if (!found) return []
  const { node, body } = found
  const handles = shownHandles(node, useChecks.getState().handles[id], usedHandles(body).get(id) ?? new Set())
  return [
    ...handles.map((handle): MenuEntry => ({
      label: handles.length > 1 ? t('editor.add_after', { handle }) : t('editor.add_next'),
      icon: <CornerDownRight size={14} />,
      ...(handle === handles[0] ? { keys: 'A' } : {}),
      onSelect: () => set({ adding: { kind: 'after', node: id, handle } }),
    })),
    { label: t('editor.connect_to'), icon: <Spline size={14} />, keys: 'C', disabled: node.type === 'END', onSelect: () => set({ connecting: id }) },
    'line',
    { label: t('editor.run_to_here'), icon: <Play size={14} />, onSelect: () => void runUntil(id) },
    { label: t('editor.rename'), icon: <Pencil size={14} />, keys: 'F2', onSelect: () => set({ renaming: id }) },
    {
      label: t(node.disabled ? 'editor.enable' : 'editor.disable'), icon: <CircleSlash size={14} />, keys: 'D', disabled: node.type === 'START',
      onSelect: () => update(id, ({ disabled, ...rest }) => (disabled ? rest : { ...rest, disabled: true })),
    },
    'line',
    { label: t('common.copy'), icon: <Copy size={14} />, keys: 'Ctrl+C', onSelect: () => void copySelected().catch((error: unknown) => failed(t('common.copy'), error)) },
    { label: t('editor.duplicate'), icon: <CopyPlus size={14} />, keys: 'Ctrl+D', onSelect: duplicateSelected },
    { label: t('common.delete'), icon: <Trash2 size={14} />, keys: 'Del', danger: true, disabled: node.type === 'START', onSelect: removeSelected },
  ]
}

export function NodeMenu({ ref, children }: { ref: Ref<Handle>; children: ReactNode }) {
  useT()
  const [shown, setShown] = useState<{ x: number; y: number; id: string | null } | null>(null)
  useImperativeHandle(ref, () => ({ open: (at, id) => setShown({ ...at, id }) }), [])
  const chosen = useEditor((state) => [...state.selected][0])
  const id = shown?.id ?? chosen
  return (
    <div className="h-full w-full" onContextMenu={(event) => event.preventDefault()}>
      {children}
      <DropdownMenu.Root open={shown !== null} onOpenChange={(open) => !open && setShown(null)}>
        <DropdownMenu.Trigger asChild>
          <span className="fixed size-0" style={{ left: shown?.x ?? 0, top: shown?.y ?? 0 }} aria-hidden />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content align="start" className={MENU_BOX}>
            {shown && id ? menuEntries(DropdownMenu, nodeEntries(id)) : null}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </div>
  )
}
