import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ChartColumn, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { listBudgets, readUsage, removeBudget, type Budget, type Total } from '@/api/people'
import { useSession } from '@/api/session'
import { dateTime, number, useT } from '@/i18n/t'
import { attempt } from '@/ui/attempt'
import { Button, IconButton } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { confirm } from '@/ui/Confirm'
import { cx } from '@/ui/cx'
import { Card, Empty, Page } from '@/ui/Page'
import { ResourceTable, type Column } from '@/ui/ResourceTable'
import { Segmented } from '@/ui/Segmented'
import { Loading } from '@/ui/Spinner'
import { Trouble } from '@/ui/Trouble'
import { BudgetDialog } from './BudgetDialog'
import { Columns } from './Columns'
import { Section } from './Section'

const GROUPS = ['model', 'provider', 'node', 'user', 'org', 'run'] as const

export const money = (amount: number, unit: string): string => (unit === 'tokens' ? number(amount) : /^[A-Z]{3}$/.test(unit) ? number(amount, { style: 'currency', currency: unit, maximumFractionDigits: amount < 1 ? 4 : 2 }) : `${number(amount)} ${unit}`)

/** What language models cost, and what they may cost. */
export default function Usage() {
  const t = useT()
  const { data: session } = useSession()
  const [days, setDays] = useState('30')
  const [whose, setWhose] = useState<'mine' | 'all'>('mine')
  const [group, setGroup] = useState<(typeof GROUPS)[number]>('model')
  const wanted = { days: Number(days), all: whose === 'all' }
  const byDay = useQuery({ queryKey: ['usage', 'day', wanted], queryFn: () => readUsage({ ...wanted, group_by: 'day' }), placeholderData: (before) => before })
  const byGroup = useQuery({ queryKey: ['usage', group, wanted], queryFn: () => readUsage({ ...wanted, group_by: group }), placeholderData: (before) => before })
  return (
    <Page
      title={t('navigation.usage')}
      lead={t('settings.usage_lead')}
      actions={
        <>
          {session?.user?.operator && (
            <Segmented
              label={t('settings.whose')}
              value={whose}
              onChange={setWhose}
              options={[
                { value: 'mine', label: t('settings.mine') },
                { value: 'all', label: t('settings.installation') },
              ]}
            />
          )}
          <Segmented label={t('settings.period')} value={days} onChange={setDays} options={['7', '30', '90'].map((value) => ({ value, label: t('settings.days', { n: Number(value) }) }))} />
        </>
      }
    >
      <div className="flex flex-col gap-6">
        {byDay.error ? <Trouble error={byDay.error} retry={() => void byDay.refetch()} /> : !byDay.data ? <Loading label={t('common.loading')} /> : !byDay.data.length ? <Empty icon={<ChartColumn size={24} aria-hidden />} title={t('settings.no_usage')}>{t('settings.no_usage_lead')}</Empty> : <Charts totals={byDay.data} days={Number(days)} />}
        {(byGroup.data?.length ?? 0) > 0 && (
          <Section bare title={t('settings.by_group')} action={<Choice aria-label={t('settings.by_group')} className="w-40!" value={group} onChange={(value) => setGroup(value as (typeof GROUPS)[number])} options={GROUPS.map((value) => ({ value, label: t(`settings.group_${value}`) }))} />}>
            <Groups totals={byGroup.data!} label={t(`settings.group_${group}`)} />
          </Section>
        )}
        <Budgets />
      </div>
    </Page>
  )
}

const DAY = 86_400

/** A column for each day, empty days included. */
function perDay(totals: Total[], days: number, value: (total: Total) => number): { key: string; label: string; value: number }[] {
  const today = Math.floor(Date.now() / 1000 / DAY) * DAY
  const sums = new Map<number, number>()
  for (const total of totals) {
    const day = Math.floor(Number(total.group) / DAY) * DAY
    sums.set(day, (sums.get(day) ?? 0) + value(total))
  }
  return Array.from({ length: days }, (_, index) => {
    const day = today - (days - 1 - index) * DAY
    return { key: String(day), label: dateTime(day, { day: 'numeric', month: 'short', timeZone: 'UTC' }), value: sums.get(day) ?? 0 }
  })
}

function Charts({ totals, days }: { totals: Total[]; days: number }) {
  const t = useT()
  const tokens = (total: Total) => total.input_tokens + total.output_tokens
  const currencies = [...new Set(totals.flatMap((total) => (total.currency && total.cost !== null ? [total.currency] : [])))]
  const sum = (value: (total: Total) => number) => totals.reduce((all, total) => all + value(total), 0)
  const tiles: [string, string][] = [
    [t('settings.calls'), number(sum((total) => total.calls))],
    [t('settings.failed_calls'), number(sum((total) => total.failed))],
    [t('settings.input_tokens'), number(sum((total) => total.input_tokens))],
    [t('settings.output_tokens'), number(sum((total) => total.output_tokens))],
    ...currencies.map((currency): [string, string] => [t('settings.cost'), money(totals.filter((total) => total.currency === currency).reduce((all, total) => all + (total.cost ?? 0), 0), currency)]),
  ]
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line shadow-card sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
        {tiles.map(([label, value], index) => (
          // oxlint-disable-next-line react/no-array-index-key -- several currencies share a label
          <div key={`${label}${index}`} className="bg-panel px-4 py-3 last:odd:col-span-2 sm:last:odd:col-span-1">
            <dt className="text-xs text-mute">{label}</dt>
            <dd className="truncate text-base font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <div className={cx('grid gap-4', currencies.length > 0 && 'lg:grid-cols-2')}>
        <Card className="min-w-0 p-4">
          <Columns title={t('settings.tokens_per_day')} data={perDay(totals, days, tokens)} format={(value) => number(value)} />
        </Card>
        {currencies.slice(0, 1).map((currency) => (
          <Card key={currency} className="min-w-0 p-4">
            <Columns title={t('settings.cost_per_day')} data={perDay(totals.filter((total) => total.currency === currency), days, (total) => total.cost ?? 0)} format={(value) => money(value, currency)} />
          </Card>
        ))}
      </div>
    </div>
  )
}

function Groups({ totals, label }: { totals: Total[]; label: string }) {
  const t = useT()
  const most = Math.max(1, ...totals.map((total) => total.input_tokens + total.output_tokens))
  const columns: Column<Total>[] = [
    { id: 'group', header: label, sort: (row) => row.group ?? '', cell: (row) => <span className="font-medium break-all">{row.group ?? '—'}</span> },
    {
      id: 'tokens',
      header: t('settings.tokens'),
      sort: (row) => row.input_tokens + row.output_tokens,
      cell: (row) => (
        <span className="flex items-center gap-2">
          <span className="h-2 w-28 overflow-hidden rounded-full bg-sunken" aria-hidden>
            <span className="block h-full rounded-full bg-accent" style={{ width: `${((row.input_tokens + row.output_tokens) / most) * 100}%` }} />
          </span>
          <span className="tabular-nums">{number(row.input_tokens + row.output_tokens)}</span>
        </span>
      ),
    },
    { id: 'calls', header: t('settings.calls'), className: 'tabular-nums', sort: (row) => row.calls, cell: (row) => number(row.calls) },
    { id: 'failed', header: t('settings.failed_calls'), className: 'tabular-nums', sort: (row) => row.failed, cell: (row) => <span className={row.failed ? 'text-danger' : 'text-mute'}>{number(row.failed)}</span> },
    { id: 'cost', header: t('settings.cost'), className: 'tabular-nums', sort: (row) => row.cost ?? 0, cell: (row) => (row.cost === null || row.currency === null ? <span className="text-mute">—</span> : money(row.cost, row.currency)) },
  ]
  return <ResourceTable label={label} rows={totals} columns={columns} rowKey={(row) => `${row.group}/${row.currency}`} empty={null} />
}

function Budgets() {
  const t = useT()
  const client = useQueryClient()
  const { data: session } = useSession()
  const [making, setMaking] = useState(false)
  const budgets = useQuery({ queryKey: ['budgets'], queryFn: listBudgets })
  const may = session?.user?.operator || session?.user?.orgs.some((org) => org.role !== 'member')
  const remove = (budget: Budget) =>
    attempt(t('common.delete'), async () => {
      if (!(await confirm({ title: t('settings.delete_budget'), text: t('settings.delete_budget_text'), action: t('common.delete'), danger: true }))) return
      await removeBudget(budget.id)
      await client.invalidateQueries({ queryKey: ['budgets'] })
    })
  const scope = (value: string) => {
    const [kind, id] = value.split(':')
    if (kind === 'installation') return t('settings.installation')
    if (kind === 'org') return session?.user?.orgs.find((org) => org.id === id)?.name ?? `${t('settings.org')} ${id?.slice(-8)}`
    return id === session?.user?.id ? t('settings.me') : `${t('settings.user_name')} ${id?.slice(-8)}`
  }
  return (
    <Section
      bare
      title={t('settings.budgets')}
      action={
        may && (
          <Button size="sm" look="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
            {t('settings.new_budget')}
          </Button>
        )
      }
    >
      {budgets.error ? (
        <Trouble error={budgets.error} />
      ) : !budgets.data?.length ? (
        <p className="rounded-xl border border-dashed border-line-strong/50 py-8 text-center text-mute">{t('settings.no_budgets')}</p>
      ) : (
        <ul className="grid gap-3 sm:grid-cols-2">
          {budgets.data.map((budget) => {
            const part = budget.most > 0 ? budget.spent / budget.most : 1
            return (
              <li key={budget.id} className="rounded-xl border border-line bg-panel p-4 shadow-card">
                <div className="flex items-center justify-between gap-2">
                  <span className="font-medium">{scope(budget.scope)}</span>
                  {may && <IconButton size="sm" label={t('settings.delete_budget')} icon={<Trash2 size={14} />} onClick={() => void remove(budget)} />}
                </div>
                <p className="mt-1 text-[13px] tabular-nums">
                  {money(budget.spent, budget.unit)} / {money(budget.most, budget.unit)} {budget.unit === 'tokens' && t('settings.tokens').toLowerCase()} <span className="text-mute">{t(`settings.per_${budget.period}`)}</span>
                </p>
                <div role="progressbar" aria-label={scope(budget.scope)} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.min(100, Math.round(part * 100))} className="mt-2 h-2 overflow-hidden rounded-full bg-sunken">
                  <span className={cx('block h-full rounded-full', part >= 1 ? 'bg-danger' : part > 0.8 ? 'bg-warn' : 'bg-ok')} style={{ width: `${Math.min(100, part * 100)}%` }} />
                </div>
              </li>
            )
          })}
        </ul>
      )}
      {making && <BudgetDialog onClose={() => setMaking(false)} />}
    </Section>
  )
}
