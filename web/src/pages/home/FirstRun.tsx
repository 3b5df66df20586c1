import { useQueryClient } from '@tanstack/react-query'
import { CircleCheck, Play, Workflow } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { api } from '@/api/client'
import { follow } from '@/api/events'
import { readRun, took, type RunEvent, type RunReport } from '@/api/runs'
import { duration, useT } from '@/i18n/t'
import { useTrying } from '@/resources/trying'
import { Button } from '@/ui/Button'
import { Card } from '@/ui/Page'
import { Spinner } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

const Markdown = lazy(() => import('@/ui/Markdown'))
const EXAMPLE = 'storm_report'
const FINAL = new Set(['run.succeeded', 'run.failed', 'run.cancelled'])

/** A workflow that comes with the installation: run here, with its result. */
export function FirstRun() {
  const t = useT()
  const client = useQueryClient()
  const [steps, setSteps] = useState(0)
  const [report, setReport] = useState<RunReport | null>(null)
  const { busy, error, trying } = useTrying()
  const control = useRef<AbortController>(null)
  useEffect(() => () => control.current?.abort(), [])
  const run = () =>
    trying(async () => {
      setReport(null)
      setSteps(0)
      control.current = new AbortController()
      const { run_id }: { run_id: string } = await api('post', '/api/v1/templates/{template}/run', { path: { template: EXAMPLE }, body: { inputs: {} } })
      await follow(`/api/v1/runs/${run_id}/events`, {
        signal: control.current.signal,
        isLast: (event) => FINAL.has(event.type),
        onEvent: (event) => (event.data as RunEvent).type === 'node.succeeded' && setSteps((n) => n + 1),
      })
      setReport(await readRun(run_id))
      await client.invalidateQueries({ queryKey: ['runs'] })
    })
  const text = report?.outputs ? Object.values(report.outputs).find((one): one is string => typeof one === 'string') : undefined
  return (
    <Card className="flex flex-col p-5">
      <h2 className="flex items-center gap-2 font-semibold">
        <Workflow size={18} aria-hidden className="text-accent-text" /> {t('home.run_title')}
      </h2>
      <p className="mt-1 text-[13px] text-mute">{t('home.run_lead')}</p>
      <div className="mt-3 flex flex-wrap items-center gap-3">
        <Button look="primary" icon={<Play size={15} />} busy={busy} onClick={() => void run()}>
          {busy ? t('home.running') : t(report ? 'home.run_again' : 'home.run')}
        </Button>
        <span role="status" className="flex items-center gap-1.5 text-[13px] text-mute">
          {busy && (
            <>
              <Spinner size={14} /> {t('home.steps', { n: steps })}
            </>
          )}
          {report?.status === 'succeeded' && (
            <>
              <CircleCheck size={15} aria-hidden className="text-ok" /> {t('home.run_done', { time: duration(took(report) ?? 0) })}
            </>
          )}
        </span>
        {report && (
          <Link href={`/runs/${report.run_id}`} className="ml-auto rounded text-[13px] text-accent-text hover:underline">
            {t('home.see_run')}
          </Link>
        )}
      </div>
      {error !== null && (
        <div className="mt-3">
          <Trouble error={error} />
        </div>
      )}
      {report && report.status !== 'succeeded' && <p role="alert" className="mt-3 rounded-lg bg-danger-soft p-3 text-[13px]">{t('home.run_failed')}: {report.error?.message}</p>}
      {text && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <div tabIndex={0} role="region" aria-label={t('home.run_title')} className="mt-4 max-h-80 overflow-auto rounded-lg border border-line p-4 text-[13px]">
          <Suspense fallback={<Spinner />}>
            <Markdown text={text} />
          </Suspense>
        </div>
      )}
    </Card>
  )
}
