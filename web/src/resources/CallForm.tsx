import { Play } from 'lucide-react'
import { useState } from 'react'
import { Problem } from '@/api/client'
import { useT } from '@/i18n/t'
import { SchemaForm } from '@/schema/SchemaForm'
import type { JsonSchema } from '@/schema/schema'
import { Button } from '@/ui/Button'
import { confirm } from '@/ui/Confirm'
import { Trouble } from '@/ui/Trouble'
import { Result } from './Result'
import { useTrying } from './trying'

interface Props {
  schema: JsonSchema
  /** Makes the call; `confirmed` after a person agreed to these arguments. */
  call: (values: Record<string, unknown>, confirmed: boolean) => Promise<unknown>
  aside?: (result: unknown) => string
}

/** A call by hand: the form of its arguments, and what it gave. */
export function CallForm({ schema, call, aside }: Props) {
  const t = useT()
  const [values, setValues] = useState<Record<string, unknown>>({})
  const [result, setResult] = useState<unknown>()
  const { busy, error, trying, setError } = useTrying()
  const run = async () => {
    setResult(undefined)
    await trying(async () => {
      try {
        setResult(await call(values, false))
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.code !== 'not_confirmed') throw problem
        const agreed = await confirm({ title: t('resources.confirm_call'), text: problem.message, action: t('resources.call') })
        if (agreed) setResult(await call(values, true))
      }
    })
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      {Object.keys(schema.properties ?? {}).length ? (
        <SchemaForm
          schema={schema}
          value={values}
          onChange={(next) => {
            setValues(next)
            setError(null)
          }}
        />
      ) : (
        <p className="text-[13px] text-mute">{t('resources.no_arguments')}</p>
      )}
      <div>
        <Button type="submit" look="primary" busy={busy} icon={<Play size={15} />}>
          {t('resources.call')}
        </Button>
      </div>
      {error !== null && <Trouble error={error} />}
      {result !== undefined && <Result label={t('resources.result')} value={result} aside={aside?.(result)} />}
    </form>
  )
}
