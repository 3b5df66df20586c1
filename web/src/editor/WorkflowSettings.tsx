import { useMemo, useState } from 'react'
import { useT } from '@/i18n/t'
import { JsonText } from '@/schema/controls/AnyValue'
import { SchemaBuilder } from '@/schema/controls/SchemaBuilder'
import type { JsonSchema } from '@/schema/schema'
import { SchemaForm } from '@/schema/SchemaForm'
import { Input, Textarea } from '@/ui/Input'
import { Labelled } from '@/ui/Labelled'
import { useCatalogue } from './catalogue'
import { problemsOf, useChecks } from './checks'
import type { WorkflowDocument } from './document'
import { edit, useDocument } from './store'

const VARIABLES: JsonSchema = {
  type: 'object',
  properties: {
    variables: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        title: 'Variable',
        properties: {
          type: { enum: ['any', 'string', 'number', 'integer', 'boolean', 'array', 'object'], default: 'any' },
          default: { title: 'First value' },
          scope: { enum: ['run', 'session', 'workflow'], default: 'run' },
        },
      },
    },
  },
}

/** The inputs that a run asks for: the schema of START. */
export function InputsForm() {
  const t = useT()
  const document = useDocument()
  const problems = useChecks((state) => state.problems)
  const found = Object.entries(problemsOf(problems, null)).filter(([field]) => field.startsWith('inputs'))
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-[13px] font-semibold">{t('editor.inputs')}</h3>
      <p className="text-xs text-mute">{t('editor.inputs_help')}</p>
      <SchemaBuilder label={t('editor.inputs')} value={document.inputs} onChange={(inputs) => edit((now) => ({ ...now, inputs: inputs ?? { type: 'object' } }), 'inputs')} />
      {found.map(([field, message]) => (
        <p key={field} role="alert" className="text-xs text-danger">{message}</p>
      ))}
    </section>
  )
}

/** What holds for the whole workflow; shown while nothing is chosen. */
export function WorkflowSettings() {
  const t = useT()
  const document = useDocument()
  const catalogue = useCatalogue().data
  const problems = useChecks((state) => state.problems)
  const found = useMemo(() => ({ problems: problemsOf(problems, null) }), [problems])
  const put = <K extends keyof WorkflowDocument>(key: K, value: WorkflowDocument[K] | undefined) =>
    edit(({ [key]: _, ...rest }) => (value === undefined ? rest : { ...rest, [key]: value }) as WorkflowDocument, key)
  return (
    <div className="flex flex-col gap-5 p-4">
      <h2 className="font-semibold">{t('editor.workflow')}</h2>
      <NameField />
      <Labelled label={t('common.description')}>{(ids) => <Textarea {...ids} value={document.description ?? ''} onChange={(event) => put('description', event.target.value || undefined)} />}</Labelled>
      <InputsForm />
      <section className="flex flex-col gap-2">
        <SchemaForm schema={VARIABLES} surroundings={found} value={{ variables: document.variables }} onChange={({ variables }) => put('variables', variables as WorkflowDocument['variables'])} />
      </section>
      {catalogue && (
        <details className="border-t border-line pt-3">
          <summary className="cursor-pointer rounded text-[13px] font-semibold">{t('editor.run_settings')}</summary>
          <div className="mt-3">
            <SchemaForm schema={catalogue.settings} path="settings" surroundings={found} value={document.settings ?? {}} onChange={(settings) => put('settings', Object.keys(settings).length ? settings : undefined)} />
          </div>
        </details>
      )}
      <details className="border-t border-line pt-3">
        <summary className="cursor-pointer rounded text-[13px] font-semibold">{t('editor.triggers')}</summary>
        <p className="my-2 text-xs text-mute">{t('editor.triggers_help')}</p>
        <JsonText label={t('editor.triggers')} value={document.triggers} onChange={(triggers) => put('triggers', triggers as WorkflowDocument['triggers'])} />
        {Object.entries(found.problems).filter(([field]) => field.startsWith('triggers')).map(([field, message]) => (
          <p key={field} role="alert" className="mt-1 text-xs text-danger">{message}</p>
        ))}
      </details>
    </div>
  )
}

/** The name is taken over when the field is left: half a name is no name. */
function NameField() {
  const t = useT()
  const name = useDocument().name
  const [text, setText] = useState(name)
  const [known, setKnown] = useState(name)
  if (known !== name) {
    setKnown(name)
    setText(name)
  }
  const end = () => (text.trim() ? text.trim() !== name && edit((now) => ({ ...now, name: text.trim() })) : setText(name))
  return <Labelled label={t('common.name')} help={t('editor.name_help')}>{(ids) => <Input {...ids} value={text} maxLength={200} onChange={(event) => setText(event.target.value)} onBlur={end} />}</Labelled>
}
