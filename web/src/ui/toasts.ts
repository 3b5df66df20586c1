import { create } from 'zustand'

export interface Toast {
  id: number
  tone: 'ok' | 'danger' | 'info'
  text: string
  detail?: string
  action?: { label: string; run: () => void }
}

export const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }))
let last = 0

export function dismiss(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }))
}

function add(toast: Omit<Toast, 'id'>): void {
  const id = ++last
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.slice(-3), { ...toast, id }] }))
  if (toast.tone !== 'danger') setTimeout(() => dismiss(id), toast.action ? 10_000 : 4_500)
}

export const done = (text: string, action?: Toast['action']): void => add({ tone: 'ok', text, ...(action ? { action } : {}) })
export const inform = (text: string): void => add({ tone: 'info', text })

/** Says what failed: `text` is what was tried, the error says why. */
export function failed(text: string, error: unknown): void {
  add({ tone: 'danger', text, detail: error instanceof Error ? error.message : String(error) })
}
