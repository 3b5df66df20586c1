import { useQuery } from '@tanstack/react-query'
import { Inbox } from 'lucide-react'
import { Link } from 'wouter'
import { api } from '@/api/client'
import { ago, useT } from '@/i18n/t'
import { Section } from './Home'

interface Request {
  id: string
  title: string
  created_at: number
}

/** What waits for an answer of the user. */
export function Waiting() {
  const t = useT()
  const waiting = useQuery({
    queryKey: ['approvals', 'home'],
    queryFn: async () => (await api<'get', '/api/v1/approvals', { items: Request[] }>('get', '/api/v1/approvals', { query: { mine: true, limit: 6 } as never })).items,
    refetchInterval: 15_000,
  })
  return (
    <Section title={t('home.approvals')} className="lg:col-span-2" more={{ label: t('home.all_approvals'), href: '/approvals' }}>
      {!waiting.data?.length ? (
        <p className="px-4 py-10 text-center text-mute">{waiting.data ? t('home.no_approvals') : t('common.loading')}</p>
      ) : (
        <ul className="divide-y divide-line">
          {waiting.data.map((one) => (
            <li key={one.id}>
              <Link href={`/approvals/${one.id}`} className="flex items-center gap-3 px-4 py-2.5 hover:bg-sunken/60 focus-visible:-outline-offset-2">
                <Inbox size={16} aria-hidden className="shrink-0 text-warn" />
                <span className="min-w-0 flex-1 truncate font-medium">{one.title}</span>
                <span className="shrink-0 text-[13px] text-mute">{ago(one.created_at)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
