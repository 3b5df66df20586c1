import { useQueryClient } from '@tanstack/react-query'
import { Ban, Download, Ellipsis, ExternalLink, GitCompareArrows, PencilRuler, RotateCcw, Trash2 } from 'lucide-react'
import { useLocation } from 'wouter'
import { cancelRun, exportRun, removeRun, type RunReport } from '@/api/runs'
import { saveFile } from '@/api/workflows'
import { useT } from '@/i18n/t'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Menu, type MenuEntry } from '@/ui/Menu'
import { done, failed } from '@/ui/toasts'
import { FINAL, type RunData } from './useRun'

/** What can be done with a run. */
export function RunActions({ data, run, onReplay }: { data: RunData; run: RunReport; onReplay: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const ended = FINAL.includes(run.status)
  const trying = async (what: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      failed(what, error)
    }
  }
  const cancel = () =>
    trying(t('runs.cancel'), async () => {
      if (!(await confirm({ title: t('runs.cancel_title'), text: t('runs.cancel_text'), action: t('runs.cancel'), danger: true }))) return
      await cancelRun(run.run_id)
      await client.invalidateQueries({ queryKey: ['runs'] })
      done(t('runs.cancelled'))
    })
  const remove = () =>
    trying(t('common.delete'), async () => {
      if (!(await confirm({ title: t('runs.delete_title'), text: t('runs.delete_text'), action: t('common.delete'), danger: true }))) return
      await removeRun(run.run_id)
      go('/runs')
      await client.invalidateQueries({ queryKey: ['runs', 'list'] })
    })
  const save = () => trying(t('runs.export'), async () => saveFile(`run-${run.run_id}.json`, JSON.stringify(await exportRun(run.run_id), null, 2), 'application/json'))
  const prefect = data.context.data?.prefect_url
  const items: MenuEntry[] = [
    { label: t('runs.export'), icon: <Download size={14} />, onSelect: () => void save() },
    ...(run.replayed_from ? [{ label: t('runs.compare_origin'), icon: <GitCompareArrows size={14} />, onSelect: () => go(`/compare/${run.replayed_from}/${run.run_id}`) }] : []),
    ...(prefect ? [{ label: t('runs.in_prefect'), icon: <ExternalLink size={14} />, onSelect: () => void window.open(prefect, '_blank', 'noreferrer') }] : []),
    'line',
    { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, disabled: !ended, onSelect: () => void remove() },
  ]
  return (
    <>
      {run.workflow_id && (
        <Button icon={<PencilRuler size={16} />} onClick={() => go(`/workflows/${run.workflow_id}?run=${run.run_id}`)}>
          {t('runs.on_canvas')}
        </Button>
      )}
      {!ended && (
        <Button look="danger" icon={<Ban size={16} />} onClick={() => void cancel()}>
          {t('runs.cancel')}
        </Button>
      )}
      <Button look={ended ? 'primary' : 'secondary'} icon={<RotateCcw size={16} />} onClick={onReplay}>
        {t('runs.replay')}
      </Button>
      <Menu trigger={<IconButton look="secondary" label={t('common.more')} icon={<Ellipsis size={16} />} />} items={items} />
    </>
  )
}
