import { BookOpen, Calculator, Database, Lightbulb, Plug, type LucideIcon } from 'lucide-react'
import { useResources } from '@/api/resources'
import { useT } from '@/i18n/t'
import { Mark } from '@/shell/Navigation'
import { NoModel, useModelMissing } from './NoModel'

/** An empty conversation: first messages that fit what there is, or what is missing. */
export function Welcome({ name, onPick, compact }: { name: string; onPick: (text: string) => void; compact?: boolean }) {
  const t = useT()
  const missing = useModelMissing()
  const [bases, databases, connectors] = [useResources('knowledge-bases'), useResources('databases'), useResources('connectors')]
  const first = <T extends { name: string }>(rows: T[] | undefined): string | undefined => rows?.[0]?.name
  const [base, database, connector] = [first(bases.data), first(databases.data), first(connectors.data)]
  const offered: [LucideIcon, string][] = [
    ...(base ? [[BookOpen, t('chat.try_base', { name: base })] as [LucideIcon, string]] : []),
    ...(database ? [[Database, t('chat.try_database', { name: database })] as [LucideIcon, string]] : []),
    ...(connector ? [[Plug, t('chat.try_connector', { name: connector })] as [LucideIcon, string]] : []),
    [Lightbulb, t('chat.try_plan')],
    [Calculator, t('chat.try_sum')],
  ]
  return (
    <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col items-center justify-center gap-6 px-4 py-8 text-center">
      {!compact && (
        <div className="flex flex-col items-center gap-3">
          <span className="[&_svg]:size-11">
            <Mark />
          </span>
          <h2 className="text-2xl font-semibold tracking-tight">{t('chat.hello')}</h2>
          <p className="max-w-md text-mute">{t('chat.hello_lead', { name })}</p>
        </div>
      )}
      {missing === null ? (
        <ul aria-label={t('chat.suggestions')} className="grid w-full gap-2 sm:grid-cols-2">
          {offered.slice(0, 4).map(([Icon, text]) => (
            <li key={text}>
              <button type="button" onClick={() => onPick(text)} className="flex h-full w-full items-start gap-2.5 rounded-xl border border-line bg-panel p-3.5 text-left hover:border-accent-text hover:bg-accent-soft/40">
                <Icon size={17} aria-hidden className="mt-0.5 shrink-0 text-accent-text" />
                <span>{text}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <NoModel />
      )}
    </div>
  )
}
