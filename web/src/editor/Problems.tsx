import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, TriangleAlert, Wand } from 'lucide-react'
import type { ProblemOfDocument } from '@/api/client'
import { useT } from '@/i18n/t'
import { Button } from '@/ui/Button'
import { view } from './actions'
import { applyFix, fixesOf, useChecks } from './checks'
import { find } from './operations'
import { documentNow, select, set } from './store'

/** Everything that validation found, each with a way to it and, where there is one, a fix. */
export function Problems() {
  const t = useT()
  const { problems, error } = useChecks()
  if (error) return <p role="alert" className="p-4 text-danger">{error}</p>
  if (!problems.length) {
    return (
      <p className="flex items-center justify-center gap-2 p-6 text-mute">
        <CircleCheck size={18} className="text-ok" aria-hidden /> {t('editor.no_problems')}
      </p>
    )
  }
  return (
    <ul className="divide-y divide-line">
      {problems.map((problem, index) => (
        <Row key={`${problem.code} ${problem.node} ${problem.field} ${index}`} problem={problem} />
      ))}
    </ul>
  )
}

function Row({ problem }: { problem: ProblemOfDocument }) {
  const t = useT()
  const fixes = useQuery({ queryKey: ['fixes', problem.code, problem.node, problem.field, problem.message], queryFn: () => fixesOf(problem), staleTime: 0, gcTime: 0 })
  const go = () => {
    if (problem.node && find(documentNow(), problem.node)) {
      select([problem.node])
      view.show([problem.node])
    } else select([])
    set({ tab: 'settings' })
  }
  return (
    <li className="flex flex-wrap items-start gap-x-2.5 gap-y-1 px-4 py-2">
      {problem.severity === 'error' ? <CircleAlert size={16} aria-label={t('editor.error')} className="mt-0.5 text-danger" /> : <TriangleAlert size={16} aria-label={t('editor.warning')} className="mt-0.5 text-warn" />}
      <button type="button" onClick={go} className="min-w-0 flex-1 rounded text-left hover:underline">
        {problem.node && <code className="mr-1.5 text-xs font-medium">{[problem.node, problem.field].filter(Boolean).join('.')}</code>}
        <span>{problem.message}</span> <span className="text-mute">{problem.fix}</span>
      </button>
      {fixes.data?.slice(0, 2).map((fix) => (
        <Button key={fix.label} size="sm" icon={<Wand size={13} />} onClick={() => applyFix(fix)}>
          {fix.label}
        </Button>
      ))}
    </li>
  )
}
