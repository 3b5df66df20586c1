import { ExternalLink, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '@/api/client'
import { useT } from '@/i18n/t'
import { useTrying } from '@/resources/trying'
import { words } from '@/schema/schema'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'

const SLOTS: Record<string, string[]> = {
  bearer: ['token'],
  api_key: ['key'],
  basic: ['username', 'password'],
  oauth2_client: ['client_id', 'client_secret'],
  oauth2_code: ['client_id', 'client_secret'],
}

/** Credentials are written and never shown again. */
export function Credentials({ connector, auth }: { connector: string; auth: { type: string } }) {
  const t = useT()
  const slots = SLOTS[auth.type] ?? []
  const [values, setValues] = useState<Record<string, string>>({})
  const { busy, error, trying } = useTrying()
  const save = async () => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    if (await trying(() => api('put', '/api/v1/connectors/{connector}/credentials', { path: { connector }, body: { values: given } }))) {
      setValues({})
      done(t('resources.credentials_saved'))
    }
  }
  const authorize = () =>
    trying(async () => {
      const { url }: { url: string } = await api('post', '/api/v1/connectors/{connector}/authorize', { path: { connector } })
      window.open(url, '_blank', 'noopener')
    })
  if (!slots.length) return <p className="text-mute">{t('resources.no_credentials')}</p>
  return (
    <form
      className="flex max-w-lg flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <p className="text-[13px] text-mute">{t('resources.credentials_lead')}</p>
      {slots.map((slot) => (
        <Labelled key={slot} label={words(slot)}>
          {(ids) => <Input {...ids} type="password" autoComplete="new-password" value={values[slot] ?? ''} placeholder="••••••••" onChange={(event) => setValues({ ...values, [slot]: event.target.value })} />}
        </Labelled>
      ))}
      {error !== null && <Trouble error={error} />}
      <div className="flex gap-2">
        <Button type="submit" look="primary" busy={busy} icon={<KeyRound size={15} />} disabled={!Object.values(values).some(Boolean)}>
          {t('common.save')}
        </Button>
        {auth.type === 'oauth2_code' && (
          <Button icon={<ExternalLink size={15} />} onClick={() => void authorize()}>
            {t('resources.authorize')}
          </Button>
        )}
      </div>
    </form>
  )
}
