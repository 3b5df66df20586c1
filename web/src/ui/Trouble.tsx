import { CircleAlert, RotateCw } from 'lucide-react'
import { Problem } from '@/api/client'
import { useT } from '@/i18n/t'
import { Button } from './Button'

/** An error in the place of what could not be loaded: what happened, the code, and a way to try again. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useT()
  const problem = error instanceof Problem ? error : null
  return (
    <div role="alert" className="flex items-start gap-3 rounded-xl border border-danger/40 bg-danger-soft p-4">
      <CircleAlert size={20} className="mt-0.5 shrink-0 text-danger" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{problem?.status === 404 ? t('common.not_found') : t('common.failed_to_load')}</p>
        <p className="break-words text-[13px]">{error instanceof Error ? error.message : String(error)}</p>
        {problem && problem.problems.length > 0 && (
          <ul className="mt-2 list-disc pl-5 text-[13px]">
            {problem.problems.slice(0, 8).map((one) => (
              <li key={`${one.code}${one.node}${one.field}${one.message}`}>
                {one.node && <code>{one.node}</code>} {one.message} {one.fix}
              </li>
            ))}
          </ul>
        )}
        {problem && <p className="mt-1 text-xs text-mute">{problem.code}</p>}
      </div>
      {retry && (
        <Button size="sm" icon={<RotateCw size={14} />} onClick={retry}>
          {t('common.try_again')}
        </Button>
      )}
    </div>
  )
}
