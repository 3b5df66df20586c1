import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { Search, Workflow as Icon } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useLocation } from 'wouter'
import { listWorkflows } from '@/api/workflows'
import { useT } from '@/i18n/t'
import { routes } from '@/pages/routes'
import { Keys } from '@/ui/Keys'
import { useCommands } from './commands'

const ITEM = 'flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-2 data-[selected=true]:bg-accent-soft'

/** Pages, workflows, and what the open page can do. */
export function CommandPalette() {
  const t = useT()
  const [, go] = useLocation()
  const { open, offered } = useCommands()
  const setOpen = (wanted: boolean) => useCommands.setState({ open: wanted })
  const workflows = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows, enabled: open })
  const run = (what: () => void) => {
    setOpen(false)
    what()
  }
  const groups = Map.groupBy(Object.values(offered).flat(), (command) => command.group ?? t('common.palette_actions'))
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 bg-black/40" />
        <Dialog.Content aria-describedby={undefined} className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-card">
          <Dialog.Title className="sr-only">{t('common.palette')}</Dialog.Title>
          <Command label={t('common.palette')}>
            <div className="flex items-center gap-2 border-b border-line px-3">
              <Search size={17} aria-hidden className="text-mute" />
              <Command.Input autoFocus placeholder={t('common.palette_hint')} className="h-12 flex-1 bg-transparent outline-none placeholder:text-mute" />
            </div>
            <Command.List className="max-h-[55vh] overflow-y-auto p-1.5 [&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-mute">
              <Command.Empty className="p-6 text-center text-mute">{t('common.palette_empty')}</Command.Empty>
              {[...groups].map(([group, commands]) => (
                <Command.Group key={group} heading={group}>
                  {commands.map((command) => (
                    <Command.Item key={command.id} value={`${command.label} ${command.words ?? ''} ${command.id}`} onSelect={() => run(command.run)} className={ITEM}>
                      <span className="flex w-4 justify-center text-mute">{command.icon}</span>
                      <span className="flex-1 truncate">{command.label}</span>
                      {command.keys && <Keys keys={command.keys} />}
                    </Command.Item>
                  ))}
                </Command.Group>
              ))}
              <Command.Group heading={t('common.palette_go')}>
                {routes.map(
                  ({ path, nav }) =>
                    nav && (
                      <Command.Item key={path} value={`${t(nav.label)} ${path}`} onSelect={() => run(() => go(path))} className={ITEM}>
                        <nav.icon size={16} aria-hidden className="text-mute" />
                        {t(nav.label)}
                      </Command.Item>
                    ),
                )}
              </Command.Group>
              {workflows.data && (
                <Command.Group heading={t('workflows.title')}>
                  {workflows.data.map((workflow) => (
                    <Command.Item key={workflow.id} value={`${workflow.name} ${workflow.id}`} onSelect={() => run(() => go(`/workflows/${workflow.id}`))} className={ITEM}>
                      <Icon size={16} aria-hidden className="text-mute" />
                      {workflow.name}
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
