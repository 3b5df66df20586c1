import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { listBudgets, readUsage, removeBudget, setBudget, type Budget } from '@/api/models'
import { useSession } from '@/api/session'
import { money } from '@/chat/Costs'
import { number, useT } from '@/i18n/t'
import { useTrying } from '@/resources/trying'
import { Button, IconButton } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Card } from '@/ui/Page'
import { failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

/** What was spent in 30 days, and how much may be. */
export function Budgets() {
  const t = useT()
  const client = useQueryClient()
  const [adding, setAdding] = useState(false)
  const budgets = useQuery({ queryKey: ['budgets'], queryFn: listBudgets })
  const usage = useQuery({ queryKey: ['usage'], queryFn: readUsage })
  const amount = (value: number, unit: string) => (unit === 'tokens' ? t('resources.tokens', { n: number(value) }) : money(value, unit))
  const remove = async (budget: Budget) => {
    try {
      await removeBudget(budget.id)
      await client.invalidateQueries({ queryKey: ['budgets'] })
    } catch (error) {
      failed(t('common.delete'), error)
    }
  }
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card>
        <header className="flex min-h-12 items-center justify-between border-b border-line px-4">
          <h2 className="font-semibold">{t('resources.budgets')}</h2>
          <Button size="sm" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
            {t('resources.new_budget')}
          </Button>
        </header>
        {!budgets.data?.length ? (
          <p className="px-4 py-6 text-center text-[13px] text-mute">{t('resources.no_budgets')}</p>
        ) : (
          <ul className="divide-y divide-line">
            {budgets.data.map((budget) => {
              const part = budget.most ? Math.min(1, budget.spent / budget.most) : 1
              return (
                <li key={budget.id} className="flex items-center gap-3 px-4 py-3">
                  <div className="min-w-0 flex-1">
                    <p className="flex justify-between gap-2 text-[13px]">
                      <span className="truncate font-medium">
                        {budget.scope === 'installation' ? t('resources.of_installation') : budget.scope} · {t(budget.period === 'day' ? 'resources.per_day' : 'resources.per_month')}
                      </span>
                      <span className="shrink-0 tabular-nums">
                        {amount(budget.spent, budget.unit)} / {amount(budget.most, budget.unit)}
                      </span>
                    </p>
                    <div role="meter" aria-label={budget.scope} aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100} className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-sunken">
                      <div className={part >= 1 ? 'h-full bg-danger' : part > 0.8 ? 'h-full bg-warn' : 'h-full bg-accent'} style={{ width: `${part * 100}%` }} />
                    </div>
                  </div>
                  <IconButton size="sm" label={t('common.remove_named', { name: budget.scope })} icon={<Trash2 size={14} />} onClick={() => void remove(budget)} />
                </li>
              )
            })}
          </ul>
        )}
      </Card>
      <Card>
        <header className="flex min-h-12 items-center border-b border-line px-4">
          <h2 className="font-semibold">{t('resources.usage')}</h2>
        </header>
        {!usage.data?.length ? (
          <p className="px-4 py-6 text-center text-[13px] text-mute">{t('resources.no_usage')}</p>
        ) : (
          <ul className="divide-y divide-line">
            {usage.data.map((row) => (
              <li key={`${String(row.key ?? row.group)}${row.currency}`} className="flex items-center justify-between gap-3 px-4 py-2.5 text-[13px]">
                <span className="truncate font-medium">{String(row.key ?? row.group ?? '—')}</span>
                <span className="shrink-0 text-mute tabular-nums">
                  {t('chat.tokens', { input: number(row.input_tokens), output: number(row.output_tokens) })}
                  {row.cost !== null && ` · ${money(row.cost, row.currency)}`}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {adding && <NewBudget onClose={() => setAdding(false)} />}
    </div>
  )
}

function NewBudget({ onClose }: { onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const session = useSession()
  const user = session.data?.user
  const [scope, setScope] = useState('installation')
  const [period, setPeriod] = useState<'day' | 'month'>('month')
  const [unit, setUnit] = useState('USD')
  const [most, setMost] = useState('')
  const { busy, error, trying } = useTrying()
  const scopes = [{ value: 'installation', label: t('resources.of_installation') }, ...(user ? [{ value: `user:${user.id}`, label: user.name }] : []), ...(user?.orgs ?? []).map((org) => ({ value: `org:${org.id}`, label: org.name }))]
  const save = async () => {
    const ok = await trying(async () => {
      await setBudget({ scope, period, unit, most: Number(most) })
      await client.invalidateQueries({ queryKey: ['budgets'] })
    })
    if (ok) onClose()
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('resources.new_budget')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={most === ''} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('resources.budget_for')}>{(ids) => <Choice {...ids} value={scope} options={scopes} onChange={setScope} />}</Labelled>
        <div className="grid gap-4 sm:grid-cols-3">
          <Labelled label={t('resources.most')} required>{(ids) => <Input {...ids} type="number" min={0} step="any" value={most} onChange={(event) => setMost(event.target.value)} />}</Labelled>
          <Labelled label={t('resources.unit')}>{(ids) => <Choice {...ids} value={unit} options={['USD', 'EUR', 'JPY', 'tokens'].map((value) => ({ value, label: value }))} onChange={setUnit} />}</Labelled>
          <Labelled label={t('resources.period')}>
            {(ids) => <Choice {...ids} value={period} options={[{ value: 'day', label: t('resources.per_day') }, { value: 'month', label: t('resources.per_month') }]} onChange={(next) => setPeriod(next as 'day')} />}
          </Labelled>
        </div>
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
