import { Type } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { Textarea } from '@/ui/Input'
import { Tip } from '@/ui/Tip'
import { Text, type ControlProps } from '../Control'

const Code = lazy(() => import('@/ui/Code'))

/** A value of any type: a text or expression, or JSON. */
export function AnyValue(props: ControlProps) {
  const t = useT()
  const { value, onChange, label, ids } = props
  const [asJson, setAsJson] = useState(value !== undefined && value !== null && typeof value !== 'string')
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        {asJson ? <JsonText value={value} onChange={onChange} label={label} id={ids.id} /> : <Text {...props} value={typeof value === 'string' || value == null ? value : JSON.stringify(value)} />}
      </div>
      <Tip text={t(asJson ? 'common.as_text' : 'common.as_json')}>
        <Button size="sm" look="ghost" className="mt-1 px-1! text-[11px]! text-mute!" aria-label={t(asJson ? 'common.as_text' : 'common.as_json')} onClick={() => setAsJson(!asJson)}>
          {asJson ? <Type size={13} aria-hidden /> : <span aria-hidden>JSON</span>}
        </Button>
      </Tip>
    </div>
  )
}

/** JSON that is taken over when it can be read; until then it stays as it was typed, and says so. */
export function JsonText({ value, onChange, label, id, rows = 3 }: { value: unknown; onChange: (value: unknown) => void; label: string; id?: string; rows?: number }) {
  const t = useT()
  const shown = value === undefined ? '' : JSON.stringify(value, null, 2)
  const [text, setText] = useState(shown)
  const [known, setKnown] = useState(shown)
  const [bad, setBad] = useState(false)
  if (known !== shown) {
    setKnown(shown)
    if (!same(text, shown)) setText(shown)
  }
  const change = (next: string) => {
    setText(next)
    try {
      onChange(next.trim() === '' ? undefined : (JSON.parse(next) as unknown))
      setBad(false)
    } catch {
      setBad(true)
    }
  }
  return (
    <div>
      <Suspense fallback={<Textarea id={id} aria-label={label} rows={rows} value={text} onChange={(event) => change(event.target.value)} className="font-mono text-[13px]" />}>
        <Code value={text} onChange={change} language="json" label={label} id={id ?? label} />
      </Suspense>
      {bad && (
        <p role="alert" className="mt-1 text-xs text-danger">
          {t('common.bad_json')}
        </p>
      )}
    </div>
  )
}

function same(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return one.trim() === other.trim()
  }
}
