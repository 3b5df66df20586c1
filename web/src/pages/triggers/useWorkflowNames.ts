import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { listWorkflows } from '@/api/workflows'

/** The workflows by id, and those that triggers can start: published ones. */
export function useWorkflowNames() {
  const { data } = useQuery({ queryKey: ['workflows'], queryFn: listWorkflows })
  return useMemo(() => {
    const names = new Map((data ?? []).map((row) => [row.id, row.name]))
    return { name: (id: string) => names.get(id) ?? id.slice(-8), published: (data ?? []).filter((row) => row.published_version !== null), known: data !== undefined }
  }, [data])
}
