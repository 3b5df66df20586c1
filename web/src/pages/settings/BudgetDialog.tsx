import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setBudget, type Budget } from '@/api/people'
import { useSession } from '@/api/session'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Combobox } from '@/ui/Combobox'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Trouble } from '@/ui/Trouble'

/** Sets what may be spent in a day or month; calls of models beyond it are refused. */
export function BudgetDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const user = session?.user
  const scopes = [
    ...(user?.operator ? [{ value: 'installation', label: t('settings.installation') }, { value: `user:${user.id}`, label: t('settings.me') }] : []),
    ...(user?.orgs.filter((org) => org.role !== 'member').map((org) => ({ value: `org:${org.id}`, label: org.name })) ?? []),
  ]
  const [scope, setScope] = useState(scopes[0]?.value ?? '')
  const [period, setPeriod] = useState<Budget['period']>('month')
  const [unit, setUnit] = useState('tokens')
  const [most, setMost] = useState('1000000')
  const [error, setError] = useState<unknown>(null)
  const save = async () => {
    setError(null)
    try {
      await setBudget({ scope, period, unit: unit.trim(), most: Number(most) })
      await client.invalidateQueries({ queryKey: ['budgets'] })
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('settings.new_budget')}
      description={t('settings.budget_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" disabled={!scope || !unit.trim() || !(Number(most) >= 0) || most === ''} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Labelled label={t('settings.belongs_to')}>{(ids) => <Choice {...ids} value={scope} options={scopes} onChange={setScope} />}</Labelled>
        <Labelled label={t('settings.period')}>{(ids) => <Choice {...ids} value={period} onChange={(value) => setPeriod(value as Budget['period'])} options={(['day', 'month'] as const).map((value) => ({ value, label: t(`settings.per_${value}`) }))} />}</Labelled>
        <Labelled label={t('settings.most')}>{(ids) => <Input {...ids} type="number" min={0} value={most} onChange={(event) => setMost(event.target.value)} />}</Labelled>
        <Labelled label={t('settings.unit')} help={t('settings.unit_help')}>{(ids) => <Combobox {...ids} value={unit} onChange={setUnit} options={['tokens', 'USD', 'EUR', 'JPY'].map((value) => ({ value, label: value }))} />}</Labelled>
        {error !== null && <div className="sm:col-span-2"><Trouble error={error} /></div>}
      </div>
    </Modal>
  )
}
