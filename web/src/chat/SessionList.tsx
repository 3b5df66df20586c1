import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, MessageSquarePlus, Pencil, Search, Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { changeSession, listSessions, removeSession, type ChatSession } from '@/api/chat'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { cx } from '@/ui/cx'
import { Input } from '@/ui/Input'
import { Menu } from '@/ui/Menu'
import { Loading } from '@/ui/Spinner'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

function age(session: ChatSession): 'today' | 'yesterday' | 'week' | 'older' {
  const midnight = new Date().setHours(0, 0, 0, 0) / 1000
  if (session.created_at >= midnight) return 'today'
  if (session.created_at >= midnight - 86_400) return 'yesterday'
  return session.created_at >= midnight - 6 * 86_400 ? 'week' : 'older'
}

/** The conversations, the newest first, found by their titles and by what was said. */
export function SessionList({ current, onGo }: { current: string | null; onGo?: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [words, setWords] = useState('')
  const [renaming, setRenaming] = useState<string | null>(null)
  const q = useDeferredValue(words.trim())
  const sessions = useInfiniteQuery({
    queryKey: ['sessions', q],
    queryFn: ({ pageParam }) => listSessions(q, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: (known) => known,
  })
  const all = sessions.data?.pages.flatMap((page) => page.items) ?? []
  const remove = async (session: ChatSession) => {
    if (!(await confirm({ title: t('chat.delete_title', { name: session.title || t('chat.untitled') }), text: t('chat.delete_text'), action: t('common.delete'), danger: true }))) return
    try {
      await removeSession(session.id)
      await client.invalidateQueries({ queryKey: ['sessions'] })
      if (session.id === current) go('/chat')
      done(t('chat.deleted'))
    } catch (error) {
      failed(t('common.delete'), error)
    }
  }
  const rename = async (session: ChatSession, title: string) => {
    setRenaming(null)
    if (!title.trim() || title.trim() === session.title) return
    try {
      await changeSession(session.id, { title: title.trim() })
      await client.invalidateQueries({ queryKey: ['sessions'] })
      await client.invalidateQueries({ queryKey: ['conversation', session.id] })
    } catch (error) {
      failed(t('chat.rename'), error)
    }
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-col gap-2 p-3">
        <Button
          look="primary"
          icon={<MessageSquarePlus size={16} />}
          onClick={() => {
            go('/chat')
            onGo?.()
          }}
        >
          {t('chat.new')}
        </Button>
        <div className="relative">
          <Search size={15} aria-hidden className="absolute top-2.5 left-2.5 text-mute" />
          <Input type="search" className="pl-8!" aria-label={t('chat.search')} placeholder={t('chat.search')} value={words} onChange={(event) => setWords(event.target.value)} />
        </div>
      </div>
      <nav aria-label={t('chat.sessions')} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {sessions.error ? (
          <Trouble error={sessions.error} retry={() => void sessions.refetch()} />
        ) : !sessions.data ? (
          <Loading label={t('common.loading')} />
        ) : !all.length ? (
          <p className="px-3 py-6 text-center text-[13px] text-mute">{q ? t('common.nothing_found', { query: q }) : t('chat.none')}</p>
        ) : (
          [...Map.groupBy(all, age)].map(([group, items]) => (
            <section key={group} className="mb-2">
              <h2 className="px-2.5 py-1 text-xs font-medium text-mute">{t(`chat.age_${group}`)}</h2>
              <ul>
                {items.map((session) => (
                  <li key={session.id} className={cx('group flex items-center rounded-lg', session.id === current ? 'bg-accent-soft' : 'hover:bg-sunken')}>
                    {renaming === session.id ? (
                      <Input
                        autoFocus
                        aria-label={t('chat.rename')}
                        defaultValue={session.title}
                        maxLength={200}
                        onFocus={(event) => event.target.select()}
                        onBlur={(event) => void rename(session, event.target.value)}
                        onKeyDown={(event) => {
                          if (event.key === 'Enter') event.currentTarget.blur()
                          if (event.key === 'Escape') setRenaming(null)
                        }}
                      />
                    ) : (
                      <>
                        <Link href={`/chat/${session.id}`} onClick={onGo} aria-current={session.id === current ? 'page' : undefined} className={cx('min-w-0 flex-1 truncate rounded-lg px-2.5 py-1.5', session.id === current && 'font-medium text-accent-text')}>
                          {session.title || t('chat.untitled')}
                        </Link>
                        <Menu
                          trigger={<IconButton size="sm" className="mr-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 data-[state=open]:opacity-100 pointer-coarse:opacity-100" label={t('chat.actions_of', { name: session.title || t('chat.untitled') })} icon={<Ellipsis size={15} />} />}
                          items={[
                            { label: t('chat.rename'), icon: <Pencil size={14} />, onSelect: () => setTimeout(() => setRenaming(session.id)) },
                            'line',
                            { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, onSelect: () => void remove(session) },
                          ]}
                        />
                      </>
                    )}
                  </li>
                ))}
              </ul>
            </section>
          ))
        )}
        {sessions.hasNextPage && (
          <Button size="sm" look="ghost" className="w-full" busy={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
            {t('common.load_more')}
          </Button>
        )}
      </nav>
    </div>
  )
}
