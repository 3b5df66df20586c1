import { useQuery } from '@tanstack/react-query'
import { LayoutTemplate } from 'lucide-react'
import { Link } from 'wouter'
import { api } from '@/api/client'
import { text, useT } from '@/i18n/t'
import { Section } from './Home'

interface Template {
  id: string
  name: string
  description: string
}

/** The first of the workflows to start from. */
export function Templates() {
  const t = useT()
  const templates = useQuery({ queryKey: ['templates'], queryFn: async () => (await api<'get', '/api/v1/templates', { items: Template[] }>('get', '/api/v1/templates')).items, staleTime: Infinity })
  if (!templates.data?.length) return null
  return (
    <Section title={t('home.template_title')} more={{ label: t('home.all_templates'), href: '/templates' }}>
      <ul className="grid gap-px overflow-hidden rounded-b-xl bg-line sm:grid-cols-2 lg:grid-cols-3">
        {templates.data.slice(0, 6).map((one) => (
          <li key={one.id} className="bg-panel">
            <Link href={`/templates?open=${one.id}`} className="flex h-full gap-3 p-4 hover:bg-sunken/60 focus-visible:-outline-offset-2">
              <LayoutTemplate size={17} aria-hidden className="mt-0.5 shrink-0 text-accent-text" />
              <span className="min-w-0">
                <span className="block font-medium">{text(`templates.${one.id}`) ?? one.name}</span>
                <span className="line-clamp-2 text-[13px] text-mute">{text(`templates.${one.id}_about`) ?? one.description}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
