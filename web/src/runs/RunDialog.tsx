import { useState } from 'react'
import { Problem } from '@/api/client'
import { start, useWish } from '@/editor/run'
import { useDocument, useEditor } from '@/editor/store'
import { useT } from '@/i18n/t'
import type { FormSurroundings } from '@/schema/context'
import { initial } from '@/schema/schema'
import { SchemaForm } from '@/schema/SchemaForm'
import { Button } from '@/ui/Button'
import { Modal } from '@/ui/Modal'
import { Trouble } from '@/ui/Trouble'
import { FileInput } from './FileInput'

/** The form of the inputs; what does not fit is said at its field, and nothing starts. */
export function RunDialog() {
  const open = useWish((state) => state.open)
  return open ? <Form /> : null
}

function Form() {
  const t = useT()
  const { inputs } = useDocument()
  const { until, busy, last } = useWish()
  const workflow = useEditor((state) => state.workflow)
  const schema = inputs ?? {}
  const [value, setValue] = useState<Record<string, unknown>>(() => last[workflow] ?? defaults(schema))
  const [error, setError] = useState<unknown>(null)
  const close = () => useWish.setState({ open: false })
  const problems = error instanceof Problem ? Object.fromEntries(error.problems.map((problem) => [(problem.field ?? '').replace(/^inputs\.?/, ''), problem.message])) : {}
  const surroundings: FormSurroundings = { problems, widgets: { file: (props) => <FileInput {...props} /> } }
  const run = () => {
    setError(null)
    start(value, until).catch(setError)
  }
  const unplaced = error !== null && !Object.keys(problems).some((name) => name in (schema.properties ?? {}))
  return (
    <Modal
      open
      onOpenChange={close}
      title={until === null ? t('editor.run') : t('editor.run_until', { id: until })}
      description={t('editor.run_lead')}
      footer={
        <>
          <Button onClick={close}>{t('common.cancel')}</Button>
          <Button type="submit" form="run-inputs" look="primary" busy={busy}>
            {t('editor.run')}
          </Button>
        </>
      }
    >
      <form
        id="run-inputs"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <SchemaForm schema={withFiles(schema)} value={value} onChange={setValue} surroundings={surroundings} />
        {unplaced && (
          <div className="mt-4">
            <Trouble error={error} />
          </div>
        )}
      </form>
    </Modal>
  )
}

type Schema = NonNullable<ReturnType<typeof useDocument>['inputs']>

function defaults(schema: Schema): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) if (property.default !== undefined) made[name] = initial(property, schema)
  return made
}

/** Inputs that are files get a field to upload one. */
const withFiles = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, property.format === 'file' ? { ...property, ui: { widget: 'file' } } : property])),
})
