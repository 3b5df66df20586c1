import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import { useT } from '@/i18n/t'
import { Button, IconButton } from './Button'
import { dismiss, useToasts } from './toasts'

const ICONS = {
  ok: <CircleCheck size={18} className="text-ok" aria-hidden />,
  danger: <CircleAlert size={18} className="text-danger" aria-hidden />,
  info: <Info size={18} className="text-info" aria-hidden />,
}

export function Toasts() {
  const t = useT()
  const toasts = useToasts((state) => state.toasts)
  return (
    <div role="region" aria-label={t('common.notifications')} className="pointer-events-none fixed right-4 bottom-4 z-50 flex w-96 max-w-[calc(100vw-2rem)] flex-col gap-2">
      {toasts.map((toast) => (
        <div key={toast.id} role={toast.tone === 'danger' ? 'alert' : 'status'} className="pointer-events-auto flex animate-[rise_.2s] items-start gap-2.5 rounded-lg border border-line bg-raised p-3 shadow-card">
          <span className="mt-px">{ICONS[toast.tone]}</span>
          <div className="min-w-0 flex-1 break-words">
            <p className="font-medium">{toast.text}</p>
            {toast.detail && <p className="max-h-32 overflow-y-auto text-[13px] text-mute">{toast.detail}</p>}
            {toast.action && (
              <Button
                size="sm"
                className="mt-2"
                onClick={() => {
                  toast.action!.run()
                  dismiss(toast.id)
                }}
              >
                {toast.action.label}
              </Button>
            )}
          </div>
          <IconButton size="sm" label={t('common.dismiss')} icon={<X size={15} />} onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  )
}
