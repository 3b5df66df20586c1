import { createContext, useContext, type ReactNode } from 'react'
import type { Ids } from '@/ui/Labelled'
import type { Option } from '@/ui/Choice'
import type { Shape } from './schema'

export interface TextProps {
  value: string
  onChange: (value: string) => void
  shape: Shape
  ids: Ids
  label: string
  path: string
  multiline: boolean
  placeholder?: string | undefined
}

/** What a form is given by the page it stands on; every part is optional. */
export interface FormSurroundings {
  /** Problems by path of the field (`config.cases[0].when`), as the server found them. */
  problems?: Record<string, string>
  /** Draws texts that may hold expressions; plain inputs without. */
  expressionField?: (props: TextProps) => ReactNode
  /** What can be chosen for a `ui.widget` such as `resource`, `model` or `workflow`; undefined while it loads. */
  options?: (widget: string, resource: string | undefined) => Option[] | undefined
  /** Widgets of the page's own, by `ui.widget`. */
  widgets?: Record<string, (props: WidgetProps) => ReactNode>
  disabled?: boolean
}

export interface WidgetProps {
  value: unknown
  onChange: (value: unknown) => void
  shape: Shape
  label: string
  ids: Ids
  path: string
}

export const Surroundings = createContext<FormSurroundings>({})
export const useSurroundings = (): FormSurroundings => useContext(Surroundings)
