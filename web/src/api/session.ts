import { useQuery } from '@tanstack/react-query'
import { Problem, send } from './client'

export interface Session {
  authenticated: boolean
  user: { id: string; name: string; email: string | null; operator: boolean; has_password?: boolean; orgs: { id: string; name: string; role: string }[] } | null
  session: { id: string; method: string; expires_at: number } | null
  scopes: string[]
  ways: { password: boolean; key: boolean; link: boolean; oidc: { name: string; title: string; url: string }[] }
  first_start: boolean
  version: string
}

const PATH = '/api/v1/session'

export async function readSession(): Promise<Session> {
  return (await (await send(PATH, { headers: { accept: 'application/json' } })).json()) as Session
}

export async function signIn(by: { email: string; password: string } | { key: string }): Promise<void> {
  await send(PATH, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(by) })
}

/** Signs out; gives where the browser goes to be signed out at its identity provider, if it is to. */
export async function signOut(): Promise<string | null> {
  const answer = await send(PATH, { method: 'DELETE' })
  return answer.status === 200 ? ((await answer.json()) as { url: string }).url : null
}

/** Who is signed in. */
export const useSession = () =>
  useQuery<Session, Problem>({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 })

/** Whether the session may do what a scope allows. */
export function allows(session: Session | undefined, scope: string): boolean {
  const held = session?.scopes ?? []
  return held.includes('*') || held.includes(scope) || held.includes(`${scope.split(':')[0]}:*`)
}
