import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { listAudit, type AuditLine } from '@/api/people'
import { useSession } from '@/api/session'
import { ago, dateTime, text, useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Choice } from '@/ui/Choice'
import { Input } from '@/ui/Input'
import { Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'

const ACTIONS = ['workflow', 'approval', 'schedule', 'webhook', 'subscription', 'resource', 'secret', 'key', 'user', 'org', 'login', 'budget', 'market']

/** Unix seconds of a day's begin in the browser's time; undefined where there is none. */
function dayBegin(day: string, plus = 0): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day)
  return found ? new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + plus).getTime() / 1000 : undefined
}

/** Who did what, when, and from where. */
export default function Audit() {
  const t = useT()
  const { data: session } = useSession()
  const [action, setAction] = useState('')
  const [user, setUser] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const who = useDeferredValue(user.trim())
  const until = dayBegin(to, 1)
  const wanted = { action: action || undefined, user: who || undefined, since: dayBegin(from), until: until === undefined ? undefined : until - 0.001 }
  const lines = useInfiniteQuery({
    queryKey: ['audit', wanted],
    queryFn: ({ pageParam }) => listAudit(wanted, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
  })
  const columns: Column<AuditLine>[] = [
    { id: 'at', header: t('settings.when'), cell: (row) => <time className="whitespace-nowrap" title={dateTime(row.at)}>{ago(row.at)}</time> },
    { id: 'who', header: t('settings.who'), cell: (row) => <span className="font-medium">{row.user_name ?? row.user_id}</span> },
    { id: 'action', header: t('settings.action'), cell: (row) => <Badge>{row.action}</Badge> },
    {
      id: 'what',
      header: t('settings.what'),
      cell: (row) => (
        <span className="flex flex-col">
          <span className="line-clamp-2 break-all">{row.name || row.object_id}</span>
          <span className="text-xs text-mute">
            {row.kind} · <code>{row.object_id.slice(-12)}</code>
          </span>
        </span>
      ),
    },
    { id: 'detail', header: t('settings.detail'), cell: (row) => <code className="line-clamp-2 max-w-80 text-xs break-all text-mute">{Object.keys(row.detail).length ? JSON.stringify(row.detail) : ''}</code> },
    { id: 'source', header: t('settings.from'), cell: (row) => <span className="text-[13px] whitespace-nowrap text-mute">{row.source}</span> },
  ]
  return (
    <Page title={t('navigation.audit')} lead={t(session?.user?.operator ? 'settings.audit_lead_all' : 'settings.audit_lead')}>
      <div role="group" aria-label={t('settings.filters')} className="mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-end">
        <Choice aria-label={t('settings.any_action')} className="sm:w-44!" value={action} onChange={setAction} options={[{ value: '', label: t('settings.any_action') }, ...ACTIONS.map((value) => ({ value, label: text(`settings.audit_${value}`) ?? value }))]} />
        <Input aria-label={t('settings.who')} placeholder={t('settings.user_name')} className="sm:w-44!" value={user} onChange={(event) => setUser(event.target.value)} />
        <label className="flex items-center gap-2 text-[13px] text-mute">
          {t('settings.from_day')}
          <Input type="date" className="sm:w-40!" value={from} onChange={(event) => setFrom(event.target.value)} />
        </label>
        <label className="flex items-center gap-2 text-[13px] text-mute">
          {t('settings.to_day')}
          <Input type="date" className="sm:w-40!" value={to} onChange={(event) => setTo(event.target.value)} />
        </label>
      </div>
      <ResourceTable
        label={t('navigation.audit')}
        rows={lines.data?.pages.flatMap((page) => page.items)}
        columns={columns}
        rowKey={(row) => row.id}
        error={lines.error}
        retry={() => void lines.refetch()}
        more={lines.hasNextPage ? { busy: lines.isFetchingNextPage, load: () => void lines.fetchNextPage() } : undefined}
        empty={<Empty icon={<ScrollText size={24} aria-hidden />} title={t('settings.no_audit')} />}
      />
    </Page>
  )
}
