import { Plug } from 'lucide-react'
import { useT } from '@/i18n/t'
import { ResourceList } from '@/resources/ResourceList'
import { NewConnector } from './NewConnector'

export default function Connectors() {
  const t = useT()
  return (
    <ResourceList
      collection="connectors"
      path="/connectors"
      title={t('navigation.connectors')}
      lead={t('resources.connectors_lead')}
      emptyLead={t('resources.connectors_empty')}
      icon={Plug}
      createLabel={t('resources.new_connector')}
      create={(close) => <NewConnector onClose={close} />}
      columns={[
        { id: 'url', header: t('resources.address'), cell: (row) => <code className="text-xs break-all text-mute">{String(row.base_url)}</code> },
        { id: 'actions-count', header: t('resources.actions'), sort: (row) => Number(row.actions), cell: (row) => String(row.actions) },
      ]}
    />
  )
}
