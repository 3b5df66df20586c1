import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Cpu, Ellipsis, Pencil, Plus, PlugZap, Share2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { listProviders, removeProvider, testProvider, type Provider } from '@/api/models'
import { useRoles } from '@/api/resources'
import { NoModel } from '@/chat/NoModel'
import { duration, number, text, useT } from '@/i18n/t'
import { ShareModal } from '@/resources/Share'
import { Badge } from '@/ui/Badge'
import { Button, IconButton } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Menu } from '@/ui/Menu'
import { Card, Empty, Page } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'
import { done, failed } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { Budgets } from './Budgets'
import { ProviderForm } from './ProviderForm'

/** Providers of language models: which answer, what they cost, and how much may be spent. */
export default function Models() {
  const t = useT()
  const client = useQueryClient()
  const [search, setSearch] = useSearchParams()
  const [editing, setEditing] = useState<Provider | null>(null)
  const [sharing, setSharing] = useState<Provider | null>(null)
  const [testing, setTesting] = useState<string | null>(null)
  const providers = useQuery({ queryKey: ['providers'], queryFn: listProviders })
  const again = async () => {
    await Promise.all(['providers', 'model-roles'].map((key) => client.invalidateQueries({ queryKey: [key] })))
  }
  const test = async (provider: Provider, model: string | null) => {
    setTesting(provider.name)
    try {
      const found = await testProvider(provider.id ?? provider.name, model)
      if (found.ok) done(t('resources.model_answered', { model: found.model ?? provider.name, text: found.text ?? '', time: duration(found.latency_ms ?? 0) }))
      else failed(t('resources.model_failed'), new Error(found.error?.message ?? ''))
    } catch (error) {
      failed(t('resources.model_failed'), error)
    } finally {
      setTesting(null)
    }
  }
  const remove = async (provider: Provider) => {
    if (!(await confirm({ title: t('resources.delete_title', { name: provider.name }), text: t('resources.delete_provider'), action: t('common.delete'), danger: true }))) return
    try {
      await removeProvider(provider.id!)
      await again()
    } catch (error) {
      failed(t('common.delete'), error)
    }
  }
  const make = (
    <Button look="primary" icon={<Plus size={16} />} onClick={() => setSearch({ new: '' }, { replace: true })}>
      {t('resources.new_provider')}
    </Button>
  )
  return (
    <Page title={t('navigation.models')} lead={t('resources.models_lead')} actions={make}>
      <div className="flex flex-col gap-5">
        <NoModel />
        <Roles />
        {providers.error ? (
          <Trouble error={providers.error} retry={() => void providers.refetch()} />
        ) : !providers.data ? (
          <Loading label={t('common.loading')} />
        ) : !providers.data.length ? (
          <Empty icon={<Cpu size={24} aria-hidden />} title={t('resources.none', { title: t('navigation.models') })} actions={make}>
            {t('resources.models_empty')}
          </Empty>
        ) : (
          providers.data.map((provider) => (
            <Card key={provider.name}>
              <header className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
                <h2 className="font-semibold">{provider.name}</h2>
                {provider.source === 'installation' && <Badge tone="info">{t('resources.of_installation')}</Badge>}
                <Badge tone={provider.api_key.set ? 'ok' : 'mute'}>{t(provider.api_key.set ? 'resources.key_set' : 'resources.key_unset')}</Badge>
                <code className="min-w-0 flex-1 truncate text-xs text-mute">{provider.base_url}</code>
                <Button size="sm" icon={<PlugZap size={14} />} busy={testing === provider.name} onClick={() => void test(provider, null)}>
                  {t('resources.test')}
                </Button>
                {provider.id && (
                  <Menu
                    trigger={<IconButton size="sm" label={t('resources.actions_of', { name: provider.name })} icon={<Ellipsis size={16} />} />}
                    items={[
                      { label: t('common.edit'), icon: <Pencil size={14} />, onSelect: () => setEditing(provider) },
                      { label: t('resources.share'), icon: <Share2 size={14} />, onSelect: () => setSharing(provider) },
                      'line',
                      { label: t('common.delete'), icon: <Trash2 size={14} />, danger: true, onSelect: () => void remove(provider) },
                    ]}
                  />
                )}
              </header>
              <ModelTable provider={provider} />
            </Card>
          ))
        )}
        <Budgets />
      </div>
      {search.has('new') && <ProviderForm provider={null} onClose={() => setSearch({}, { replace: true })} onSaved={again} />}
      {editing && <ProviderForm provider={editing} onClose={() => setEditing(null)} onSaved={again} />}
      {sharing && <ShareModal row={{ id: sharing.id!, name: sharing.name, visibility: sharing.visibility ?? 'private', org_id: sharing.org_id }} queryKey={['providers']} onClose={() => setSharing(null)} />}
    </Page>
  )
}

function Roles() {
  const t = useT()
  const roles = useRoles()
  return (
    <ul aria-label={t('resources.roles')} className="grid gap-3 sm:grid-cols-3">
      {(roles.data ?? []).map((role) => (
        <li key={role.role} className="rounded-xl border border-line bg-panel p-4 shadow-card">
          <p className="text-[13px] text-mute">{text(`resources.role_${role.role}`) ?? role.role}</p>
          <p className="truncate font-medium" title={role.models.join(' → ')}>
            {role.models[0] ?? (role.role === 'embedding' ? t('resources.role_embedded') : '—')}
          </p>
          {role.models.length > 1 && <p className="truncate text-xs text-mute">{t('resources.then', { names: role.models.slice(1).join(', ') })}</p>}
        </li>
      ))}
    </ul>
  )
}

function ModelTable({ provider }: { provider: Provider }) {
  const t = useT()
  if (!provider.models.length) return <p className="px-4 py-5 text-[13px] text-mute">{t(provider.any_model ? 'resources.any_model' : 'resources.no_models')}</p>
  const roleOf = (name: string) => Object.entries(provider.roles).filter(([, model]) => model === name).map(([role]) => role)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <div tabIndex={0} role="region" aria-label={t('resources.models_of', { name: provider.name })} className="overflow-x-auto">
      <table className="w-full text-left text-[13px]">
        <thead className="text-xs text-mute">
          <tr>
            {[t('resources.model'), t('resources.context'), t('resources.price'), t('resources.capabilities')].map((header) => (
              <th key={header} scope="col" className="px-4 py-2 font-medium whitespace-nowrap">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {provider.models.map((model) => (
            <tr key={model.name} className="border-t border-line">
              <td className="px-4 py-2 whitespace-nowrap">
                <span className="font-medium">{model.name}</span>
                {roleOf(model.name).map((role) => (
                  <Badge key={role} tone="accent" className="ml-2">
                    {role}
                  </Badge>
                ))}
              </td>
              <td className="px-4 py-2 tabular-nums">{model.context_window ? number(model.context_window) : '—'}</td>
              <td className="px-4 py-2 whitespace-nowrap tabular-nums">{model.price ? `${number(model.price.input)} / ${number(model.price.output)} ${model.price.currency}` : '—'}</td>
              <td className="px-4 py-2 text-mute">{model.capabilities?.join(', ') ?? t('resources.tried_out')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
