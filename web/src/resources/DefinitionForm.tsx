import { useMemo, useState } from 'react'
import { Problem } from '@/api/client'
import { useSchema } from '@/api/resources'
import { useT } from '@/i18n/t'
import { SchemaForm } from '@/schema/SchemaForm'
import type { JsonSchema } from '@/schema/schema'
import type { FormSurroundings } from '@/schema/context'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Spinner'
import { done } from '@/ui/toasts'
import { Trouble } from '@/ui/Trouble'
import { useTrying } from './trying'

interface Props {
  kind: string
  value: Record<string, unknown>
  onSave: (value: Record<string, unknown>) => Promise<unknown>
  /** Fields that are not shown; their values stay as they are. */
  leave?: string[]
  /** Only these fields, in this order. */
  only?: string[]
  action?: string
  /** Hints for single fields, as `ui` of their schemas. */
  hints?: Record<string, JsonSchema['ui']>
  surroundings?: FormSurroundings
  quiet?: boolean
}

/** The form of a definition, drawn from its schema; what is wrong is said at its field. */
export function DefinitionForm({ kind, value, onSave, leave, only, action, hints, surroundings, quiet }: Props) {
  const t = useT()
  const schema = useSchema(kind)
  const [draft, setDraft] = useState(value)
  const { busy, error, trying } = useTrying()
  const shown = useMemo(() => {
    if (!schema.data) return undefined
    const properties = schema.data.properties ?? {}
    const names = (only ?? Object.keys(properties)).filter((name) => name in properties && !leave?.includes(name))
    return { ...schema.data, properties: Object.fromEntries(names.map((name) => [name, hints?.[name] ? { ...properties[name], ui: { ...properties[name]!.ui, ...hints[name] } } : properties[name]!])) }
  }, [schema.data, only, leave, hints])
  const problems = error instanceof Problem ? Object.fromEntries(Object.entries(error.fields).map(([field, message]) => [field.replace(/^definition\./, ''), message])) : {}
  if (schema.error) return <Trouble error={schema.error} />
  if (!shown) return <Loading label={t('common.loading')} />
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void trying(() => onSave(draft)).then((ok) => ok && !quiet && done(t('resources.saved')))
      }}
    >
      <SchemaForm schema={shown} value={draft} onChange={setDraft} surroundings={{ ...surroundings, problems }} />
      {error !== null && <Trouble error={error} />}
      <div>
        <Button type="submit" look="primary" busy={busy}>
          {action ?? t('common.save')}
        </Button>
      </div>
    </form>
  )
}
