import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { Collection } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { Modal } from '@/ui/Modal'
import { Trouble } from '@/ui/Trouble'
import { useTrying } from './trying'

interface Props {
  collection: Collection
  path: string
  title: string
  lead?: string
  placeholder?: string
  /** Stores it under the name; gives its id. */
  save: (name: string) => Promise<{ id: string }>
  onClose: () => void
  ready?: boolean
  children?: ReactNode
}

/** Asks for a name and what else a new resource needs, and opens it. */
export function NewResource({ collection, path, title, lead, placeholder, save, onClose, ready = true, children }: Props) {
  const t = useT()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const { busy, error, trying } = useTrying()
  const create = () =>
    trying(async () => {
      const made = await save(name.trim())
      await client.invalidateQueries({ queryKey: ['resources', collection] })
      go(`${path}/${made.id}`)
    })
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={lead}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" form="new-resource" look="primary" busy={busy} disabled={!name.trim() || !ready}>
            {t('common.create')}
          </Button>
        </>
      }
    >
      <form
        id="new-resource"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <Labelled label={t('common.name')} required>
          {(ids) => <Input {...ids} autoFocus maxLength={100} value={name} placeholder={placeholder} onChange={(event) => setName(event.target.value)} />}
        </Labelled>
        {children}
        {error !== null && <Trouble error={error} />}
      </form>
    </Modal>
  )
}
