import { Play } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { api } from '@/api/client'
import { duration, useT } from '@/i18n/t'
import { Rows } from '@/resources/Rows'
import { useTrying } from '@/resources/trying'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'

const Code = lazy(() => import('@/ui/Code'))

interface Found {
  columns: string[]
  rows: Record<string, unknown>[]
  row_count: number
  truncated: boolean
  elapsed_ms: number
}

/** One statement that reads. */
export function QueryPad({ database, dialect }: { database: string; dialect: string }) {
  const t = useT()
  const [sql, setSql] = useState('SELECT 1')
  const [found, setFound] = useState<Found | null>(null)
  const { busy, error, trying } = useTrying()
  const run = () => trying(async () => setFound(await api('post', '/api/v1/databases/{database}/query', { path: { database }, body: { sql, values: {}, max_rows: 200 } })))
  return (
    <div
      className="flex flex-col gap-3"
      onKeyDownCapture={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        event.stopPropagation()
        void run()
      }}
    >
      <Suspense fallback={<Loading label={t('common.loading')} />}>
        <Code value={sql} onChange={setSql} language="sql" label={t('resources.sql')} />
      </Suspense>
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" icon={<Play size={15} />} busy={busy} disabled={!sql.trim()} onClick={() => void run()}>
          {t('resources.run_query')}
        </Button>
        <span className="text-[13px] text-mute">{t('resources.query_lead', { dialect })}</span>
      </div>
      {error !== null && <Trouble error={error} />}
      {found && (
        <>
          <p role="status" className="text-[13px] text-mute">
            {t('resources.rows', { n: found.row_count })} · {duration(found.elapsed_ms)}
            {found.truncated && ` · ${t('resources.truncated')}`}
          </p>
          <Rows label={t('resources.result')} columns={found.columns} rows={found.rows} />
        </>
      )}
    </div>
  )
}
