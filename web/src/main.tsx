import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Tooltip } from 'radix-ui'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/client'
import { App } from './App'
import './app.css'
import { setLanguage } from './i18n/t'
import { followPreferences, wantedLanguage } from './shell/preferences'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (times, error) => times < 2 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
    },
  },
})

followPreferences()
await setLanguage(wantedLanguage())
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Tooltip.Provider delayDuration={400}>
        <App />
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
)
