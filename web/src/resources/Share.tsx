import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '@/api/client'
import { useSession } from '@/api/session'
import type { ResourceRow } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Choice'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { useTrying } from './trying'

type Shareable = Pick<ResourceRow, 'id' | 'name' | 'visibility' | 'publish_status' | 'org_id'>

export function VisibilityBadge({ row }: { row: Pick<ResourceRow, 'visibility' | 'publish_status'> }) {
  const t = useT()
  const waits = row.publish_status === 'pending'
  const tone = row.visibility === 'private' ? 'mute' : waits ? 'warn' : 'info'
  const label = row.visibility === 'org' ? t('resources.visible_org') : row.visibility === 'market' ? t('resources.visible_market') : t('resources.visible_private')
  return <Badge tone={tone}>{waits ? t('resources.pending', { where: label }) : label}</Badge>
}

/** Who else uses a resource: nobody, an organisation, or everybody through the market. */
export function ShareModal({ row, queryKey, onClose }: { row: Shareable; queryKey: unknown[]; onClose: () => void }) {
  const t = useT()
  const client = useQueryClient()
  const session = useSession()
  const [where, setWhere] = useState(row.visibility)
  const orgs = useQuery({ queryKey: ['orgs'], queryFn: async () => (await api<'get', '/api/v1/orgs', { items: { id: string; name: string }[] }>('get', '/api/v1/orgs')).items })
  const mine = session.data?.user?.orgs ?? orgs.data ?? []
  const [org, setOrg] = useState(row.org_id ?? mine[0]?.id ?? '')
  const { busy, error, trying } = useTrying()
  const save = async () => {
    const ok = await trying(async () => {
      if (where === 'private') await api('post', '/api/v1/market/{object_id}/unpublish', { path: { object_id: row.id } })
      else await api('post', '/api/v1/market/{object_id}/publish', { path: { object_id: row.id }, body: { where: where as 'org' | 'market', ...(where === 'org' ? { org: org || (mine[0]?.id ?? '') } : {}) } })
      await client.invalidateQueries({ queryKey })
    })
    if (!ok) return
    done(t('resources.shared'))
    onClose()
  }
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('resources.share_title', { name: row.name })}
      description={t('resources.share_lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={busy} disabled={where === 'org' && !mine.length} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Labelled label={t('resources.visibility')}>
          {(ids) => (
            <Choice
              {...ids}
              value={where}
              onChange={setWhere}
              options={[
                { value: 'private', label: t('resources.visible_private'), help: t('resources.visible_private_help') },
                { value: 'org', label: t('resources.visible_org'), help: t('resources.visible_org_help') },
                { value: 'market', label: t('resources.visible_market'), help: t('resources.visible_market_help') },
              ]}
            />
          )}
        </Labelled>
        {where === 'org' &&
          (mine.length ? (
            <Labelled label={t('resources.org')}>{(ids) => <Choice {...ids} value={org || mine[0]!.id} options={mine.map((one) => ({ value: one.id, label: one.name }))} onChange={setOrg} />}</Labelled>
          ) : (
            <p className="text-[13px] text-mute">{t('resources.no_org')}</p>
          ))}
        {error !== null && <Trouble error={error} />}
      </div>
    </Modal>
  )
}
