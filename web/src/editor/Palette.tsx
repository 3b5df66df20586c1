import { Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useT, type Key } from '@/i18n/t'
import { Input } from '@/ui/Input'
import { Loading } from '@/ui/Spinner'
import { Tip } from '@/ui/Tip'
import { Trouble } from '@/ui/Trouble'
import { addStep } from './actions'
import { DRAGGED } from './Canvas'
import { GROUPS, summaryOf, titleOf, useCatalogue, type NodeType } from './catalogue'
import { KindChip } from './icons'
import { find, handleOf } from './operations'
import { documentNow, useEditor } from './store'

export function grouped(types: NodeType[], query: string): [string, NodeType[]][] {
  const wanted = query.trim().toLowerCase()
  const found = types.filter((type) => type.type !== 'START' && (!wanted || `${titleOf(type.type)} ${type.type} ${summaryOf(type)}`.toLowerCase().includes(wanted)))
  const by = Map.groupBy(found, (type) => type.group)
  return [...GROUPS, ...[...by.keys()].filter((group) => !GROUPS.includes(group))].flatMap((group) => (by.has(group) ? [[group, by.get(group)!]] : [])) as [string, NodeType[]][]
}

/** A click adds the step after the chosen one where its handle is free, else where the canvas looks. */
function addHere(type: NodeType): void {
  const { selected } = useEditor.getState()
  const document = documentNow()
  const one = selected.size === 1 ? find(document, [...selected][0]!) : undefined
  if (one?.node.body && type.type !== 'END') addStep(type, { kind: 'free', container: one.node.id, at: null })
  else if (one && one.node.type !== 'END' && !(one.container !== null && type.type === 'END')) {
    const edge = one.body.edges?.find((candidate) => candidate.from === one.node.id && handleOf(candidate) === 'out')
    addStep(type, edge && type.type !== 'END' ? { kind: 'edge', edge } : { kind: 'after', node: one.node.id, handle: 'out' })
  } else addStep(type, { kind: 'free', container: null, at: null })
}

/** All types to choose from: dragged onto the canvas, or clicked. */
export function Palette() {
  const t = useT()
  const catalogue = useCatalogue()
  const [query, setQuery] = useState('')
  const groups = useMemo(() => grouped(catalogue.data?.types ?? [], query), [catalogue.data, query])
  if (catalogue.error) return <div className="p-3"><Trouble error={catalogue.error} retry={() => void catalogue.refetch()} /></div>
  if (!catalogue.data) return <Loading label={t('common.loading')} />
  return (
    <div className="flex h-full flex-col">
      <div className="relative p-2.5 pb-1.5">
        <Search size={14} aria-hidden className="absolute top-5 left-5 text-mute" />
        <Input type="search" className="h-8! pl-8! text-[13px]" aria-label={t('editor.search_steps')} placeholder={t('editor.search_steps')} value={query} onChange={(event) => setQuery(event.target.value)} onKeyDown={(event) => event.key === 'Enter' && groups[0] && addHere(groups[0][1][0]!)} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3" tabIndex={0} role="region" aria-label={t('editor.steps')}>
        {groups.map(([group, types]) => (
          <section key={group} aria-label={t(`editor.group_${group}` as Key)}>
            <h3 className="px-1.5 pt-2.5 pb-1 text-xs font-medium text-mute">{t(`editor.group_${group}` as Key)}</h3>
            {types.map((type) => (
              <Tip key={type.type} text={summaryOf(type)} side="right">
                <button
                  type="button"
                  draggable
                  onDragStart={(event) => {
                    event.dataTransfer.setData(DRAGGED, type.type)
                    event.dataTransfer.effectAllowed = 'copy'
                  }}
                  onClick={() => addHere(type)}
                  className="flex w-full cursor-grab items-center gap-2 rounded-lg px-1.5 py-1 text-left text-[13px] hover:bg-sunken"
                >
                  <KindChip small icon={type.icon} group={type.group} />
                  <span className="truncate">{titleOf(type.type)}</span>
                </button>
              </Tip>
            ))}
          </section>
        ))}
        {!groups.length && <p className="p-4 text-center text-[13px] text-mute">{t('common.nothing_found', { query })}</p>}
      </div>
    </div>
  )
}
