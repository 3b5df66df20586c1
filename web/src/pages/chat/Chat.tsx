import { useQuery } from '@tanstack/react-query'
import { MessageSquarePlus, PanelLeft } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useEffect, useMemo, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { readConversation } from '@/api/chat'
import { SessionList } from '@/chat/SessionList'
import { Thread } from '@/chat/Thread'
import { useT } from '@/i18n/t'
import { useOffer } from '@/shell/commands'
import { IconButton } from '@/ui/Button'

/** Conversations with agents: the list at the side, the one that is open beside it. */
export default function Chat({ params }: { params: Record<string, string | undefined> }) {
  const t = useT()
  const [, go] = useLocation()
  const [search] = useSearchParams()
  const [drawer, setDrawer] = useState(false)
  const session = params.session ?? null
  const agent = search.get('agent')
  const asked = search.get('ask')
  const conversation = useQuery({ queryKey: ['conversation', session], queryFn: () => readConversation(session!), enabled: session !== null })
  const title = (session && conversation.data?.title) || t('navigation.chat')
  useEffect(() => {
    document.title = `${title} · Interlace`
  }, [title])
  useOffer(
    'chat',
    useMemo(() => [{ id: 'new-chat', label: t('chat.new'), icon: <MessageSquarePlus size={15} />, run: () => go('/chat') }], [t, go]),
  )
  return (
    <div className="flex h-full min-h-0">
      <aside aria-label={t('chat.sessions')} className="hidden w-64 shrink-0 border-r border-line bg-panel/60 lg:block">
        <SessionList current={session} />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-2 sm:px-4">
          <Dialog.Root open={drawer} onOpenChange={setDrawer}>
            <Dialog.Trigger asChild>
              <IconButton className="lg:hidden" label={t('chat.sessions')} icon={<PanelLeft size={17} />} />
            </Dialog.Trigger>
            <Dialog.Portal>
              <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
              <Dialog.Content aria-describedby={undefined} className="fixed inset-y-0 left-0 z-40 w-72 border-r border-line bg-panel">
                <Dialog.Title className="sr-only">{t('chat.sessions')}</Dialog.Title>
                <SessionList current={session} onGo={() => setDrawer(false)} />
              </Dialog.Content>
            </Dialog.Portal>
          </Dialog.Root>
          <h1 className="min-w-0 flex-1 truncate px-1 font-semibold">{title}</h1>
          <IconButton className="lg:hidden" label={t('chat.new')} icon={<MessageSquarePlus size={17} />} onClick={() => go('/chat')} />
        </header>
        <Thread
          key={session ?? `new-${agent ?? 'auto'}`}
          session={session}
          agent={agent}
          {...(asked && !session ? { first: asked } : {})}
          onBegun={(id) => go(`/chat/${id}`, { replace: true })}
          onAgent={(chosen) => go(chosen ? `/chat?agent=${encodeURIComponent(chosen)}` : '/chat')}
        />
      </div>
    </div>
  )
}
