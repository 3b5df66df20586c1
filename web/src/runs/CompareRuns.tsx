import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '@/api/client'
import type { RunRow } from '@/api/runs'
import { ago, useT } from '@/i18n/t'
import { Choice } from '@/ui/Choice'
import { Modal } from '@/ui/Modal'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import { Value } from './Value'

/** What differs between the run that is shown and another one, node by node. */
export function CompareRuns({ run, runs, onClose }: { run: string; runs: RunRow[]; onClose: () => void }) {
  const t = useT()
  const others = runs.filter((one) => one.id !== run)
  const [other, setOther] = useState(others[0]?.id)
  const found = useQuery({
    queryKey: ['run-diff', other, run],
    queryFn: (): Promise<Record<string, unknown>> => api('get', '/api/v1/runs/{run_id}/diff/{other}', { path: { run_id: other!, other: run } }),
    enabled: other !== undefined,
  })
  return (
    <Modal open wide onOpenChange={onClose} title={t('editor.compare_runs')} description={t('editor.compare_runs_lead')}>
      <div className="mb-3 w-80">
        <Choice aria-label={t('editor.other_run')} value={other} onChange={setOther} options={others.map((one) => ({ value: one.id, label: `${one.id.slice(-8)} · ${ago(one.created_at)}`, help: one.status }))} />
      </div>
      {found.error ? <Trouble error={found.error} /> : !found.data ? <Loading label={t('common.loading')} /> : <RunDiff found={found.data} />}
    </Modal>
  )
}

interface NodeDifference {
  path: string
  [more: string]: unknown
}

function RunDiff({ found }: { found: Record<string, unknown> }) {
  const t = useT()
  const nodes = (found.nodes ?? []) as NodeDifference[] | Record<string, Record<string, unknown>>
  const rows = Array.isArray(nodes) ? nodes : Object.entries(nodes).map(([path, one]) => ({ path, ...one }))
  const rest = Object.fromEntries(Object.entries(found).filter(([name]) => name !== 'nodes'))
  return (
    <div className="flex flex-col gap-3">
      <Value value={rest} label={t('editor.run')} />
      {!rows.length && <p className="text-mute">{t('editor.runs_alike')}</p>}
      {rows.map(({ path, ...difference }) => (
        <section key={path}>
          <h3 className="mb-1 text-[13px] font-semibold">
            <code>{path}</code>
          </h3>
          <Value value={difference} label={path} />
        </section>
      ))}
    </div>
  )
}
