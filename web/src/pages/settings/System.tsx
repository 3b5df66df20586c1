import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, RotateCw, TriangleAlert } from 'lucide-react'
import { useMemo, useState } from 'react'
import { readDoctor, type Check } from '@/api/people'
import { useSession } from '@/api/session'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { CopyText } from '@/ui/CopyText'
import { Input } from '@/ui/Input'
import { Card, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import { Section } from './Section'

const ICONS = {
  ok: <CircleCheck size={18} className="text-ok" aria-hidden />,
  warning: <TriangleAlert size={18} className="text-warn" aria-hidden />,
  failed: <CircleAlert size={18} className="text-danger" aria-hidden />,
}

/** How the installation is, and which settings count. */
export default function System() {
  const t = useT()
  const { data: session } = useSession()
  const doctor = useQuery({ queryKey: ['doctor'], queryFn: readDoctor, retry: false })
  return (
    <Page
      title={t('navigation.system')}
      lead={t('settings.system_lead', { version: session?.version ?? '' })}
      actions={
        <Button icon={<RotateCw size={15} />} busy={doctor.isFetching} onClick={() => void doctor.refetch()}>
          {t('settings.check_again')}
        </Button>
      }
    >
      {doctor.error ? (
        <Trouble error={doctor.error} retry={() => void doctor.refetch()} />
      ) : !doctor.data ? (
        <Loading label={t('common.loading')} />
      ) : (
        <div className="flex flex-col gap-6">
          <Section bare title={t(doctor.data.ok ? 'settings.all_well' : 'settings.not_well')}>
            <Card>
              <ul className="divide-y divide-line">
                {doctor.data.checks.map((check) => (
                  <Line key={`${check.name}${check.detail}`} check={check} />
                ))}
              </ul>
            </Card>
          </Section>
          <Settings settings={doctor.data.settings} />
        </div>
      )}
    </Page>
  )
}

function Line({ check }: { check: Check }) {
  const t = useT()
  return (
    <li className="flex items-start gap-3 px-4 py-2.5">
      <span className="mt-px">{ICONS[check.state]}</span>
      <span className="sr-only">{t(`settings.check_${check.state}`)}</span>
      <span className="w-28 shrink-0 font-medium sm:w-40">{check.name}</span>
      <span className="min-w-0 flex-1 text-[13px] break-words">
        {check.detail}
        {check.fix && check.state !== 'ok' && <span className="mt-1.5 block"><CopyText text={check.fix} label={t('settings.fix')} /></span>}
      </span>
    </li>
  )
}

const shown = (value: unknown): string => (value === null ? '—' : typeof value === 'string' ? value : JSON.stringify(value))

function Settings({ settings }: { settings: Record<string, unknown> }) {
  const t = useT()
  const [query, setQuery] = useState('')
  const found = useMemo(() => {
    const wanted = query.trim().toLowerCase()
    return Object.entries(settings).filter(([name, value]) => !wanted || `interlace_${name} ${shown(value)}`.toLowerCase().includes(wanted)).toSorted(([a], [b]) => a.localeCompare(b))
  }, [settings, query])
  return (
    <Section bare title={t('settings.effective')} action={<Input type="search" className="w-64!" aria-label={t('settings.search_settings')} placeholder={t('common.search')} value={query} onChange={(event) => setQuery(event.target.value)} />}>
      <Card className="overflow-hidden">
        <table className="w-full table-fixed text-left text-[13px]">
          <thead>
            <tr className="border-b border-line text-xs text-mute">
              <th scope="col" className="w-1/2 px-4 py-2 font-medium sm:w-80">{t('settings.setting')}</th>
              <th scope="col" className="px-4 py-2 font-medium">{t('settings.value')}</th>
            </tr>
          </thead>
          <tbody>
            {found.map(([name, value]) => (
              <tr key={name} className="border-b border-line last:border-0">
                <td className="px-4 py-1.5 align-top">
                  <code className="text-xs break-all">INTERLACE_{name.toUpperCase()}</code>
                </td>
                <td className="px-4 py-1.5 align-top break-all">{shown(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {!found.length && <p className="px-4 py-6 text-center text-mute">{t('common.nothing_found', { query })}</p>}
      </Card>
    </Section>
  )
}
