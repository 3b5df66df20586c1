import { useQuery } from '@tanstack/react-query'
import { ArrowRight, LayoutTemplate, Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { listRuns, took } from '@/api/runs'
import { useSession } from '@/api/session'
import { listWorkflows } from '@/api/workflows'
import { ago, duration, useT } from '@/i18n/t'
import { NewWorkflow } from '@/pages/workflows/NewWorkflow'
import { Status } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Card, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import { AskAgent } from './AskAgent'
import { FirstRun } from './FirstRun'
import { Templates } from './Templates'
import { Waiting } from './Waiting'

/** The first page: a workflow that runs, an agent that answers, templates, what ran last and what waits. */
export default function Home() {
  const t = useT()
  const [, go] = useLocation()
  const session = useSession()
  const [creating, setCreating] = useState(false)
  const workflows = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows })
  const name = session.data?.user?.name
  return (
    <Page
      title={name ? t('workflows.hello', { name }) : 'Interlace'}
      lead={t('home.lead')}
      actions={
        <>
          <Button icon={<LayoutTemplate size={16} />} onClick={() => go('/templates')}>
            {t('workflows.from_template')}
          </Button>
          <Button look="primary" icon={<Plus size={16} />} onClick={() => setCreating(true)}>
            {t('workflows.new')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <FirstRun />
          <AskAgent />
        </div>
        <Templates />
        <div className="grid gap-5 lg:grid-cols-5">
          <Runs />
          <Waiting />
        </div>
      </div>
      {creating && <NewWorkflow open onOpenChange={setCreating} taken={workflows.data?.map((row) => row.name) ?? []} />}
    </Page>
  )
}

export function Section({ title, more, className, children }: { title: string; more?: { label: string; href: string }; className?: string; children: ReactNode }) {
  return (
    <div className={className}>
      <Card className="h-full">
        <header className="flex min-h-11 items-center justify-between border-b border-line px-4">
          <h2 className="font-semibold">{title}</h2>
          {more && (
            <Link href={more.href} className="flex items-center gap-1 rounded text-[13px] text-accent-text hover:underline">
              {more.label} <ArrowRight size={14} aria-hidden />
            </Link>
          )}
        </header>
        {children}
      </Card>
    </div>
  )
}

function Runs() {
  const t = useT()
  const runs = useQuery({ queryKey: ['runs', 'home'], queryFn: () => listRuns({ limit: 8 }), refetchInterval: 10_000 })
  return (
    <Section title={t('home.runs')} className="lg:col-span-3" more={{ label: t('home.all_runs'), href: '/runs' }}>
      {runs.error ? (
        <div className="p-4">
          <Trouble error={runs.error} retry={() => void runs.refetch()} />
        </div>
      ) : !runs.data ? (
        <Loading label={t('common.loading')} />
      ) : !runs.data.length ? (
        <p className="px-4 py-10 text-center text-mute">{t('home.no_runs')}</p>
      ) : (
        <ul className="divide-y divide-line">
          {runs.data.map((run) => {
            const time = took(run)
            return (
              <li key={run.id}>
                <Link href={run.workflow_id ? `/workflows/${run.workflow_id}?run=${run.id}` : `/runs/${run.id}`} className="flex items-center gap-3 px-4 py-2.5 hover:bg-sunken/60 focus-visible:-outline-offset-2">
                  <span className="min-w-0 flex-1 truncate font-medium">{run.workflow}</span>
                  <span className="hidden text-[13px] text-mute tabular-nums sm:inline">{time === null ? '' : duration(time)}</span>
                  <span className="w-28 shrink-0 text-right text-[13px] whitespace-nowrap text-mute tabular-nums">{ago(run.created_at)}</span>
                  <span className="flex w-24 shrink-0 justify-end">
                    <Status status={run.status} />
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
