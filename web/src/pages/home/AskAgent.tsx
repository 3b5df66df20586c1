import { ArrowUp, MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useRoles } from '@/api/resources'
import { NoModel } from '@/chat/NoModel'
import { useT } from '@/i18n/t'
import { IconButton } from '@/ui/Button'
import { Input } from '@/ui/Input'
import { Card } from '@/ui/Page'
import { Loading } from '@/ui/Spinner'

/** An agent that answers, or what is missing until it does. */
export function AskAgent() {
  const t = useT()
  const [, go] = useLocation()
  const [words, setWords] = useState('')
  const roles = useRoles()
  const model = roles.data?.find((one) => one.role === 'general')?.models[0]
  return (
    <Card className="flex flex-col p-5">
      <h2 className="flex items-center gap-2 font-semibold">
        <MessagesSquare size={18} aria-hidden className="text-accent-text" /> {t('home.agent_title')}
      </h2>
      {!roles.data ? (
        <Loading label={t('common.loading')} />
      ) : model ? (
        <>
          <p className="mt-1 text-[13px] text-mute">{t('home.agent_lead', { model })}</p>
          <form
            className="mt-3 flex gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              go(`/chat?ask=${encodeURIComponent(words.trim() || t('home.ask_hint'))}`)
            }}
          >
            <Input aria-label={t('home.ask')} placeholder={t('home.ask_hint')} value={words} onChange={(event) => setWords(event.target.value)} />
            <IconButton type="submit" look="primary" label={t('home.ask')} icon={<ArrowUp size={16} />} />
          </form>
        </>
      ) : (
        <div className="mt-3">
          <NoModel />
        </div>
      )}
    </Card>
  )
}
