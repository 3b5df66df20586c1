import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

const NEAR = 80

/** Keeps a scrolled box at its end while what is in it grows, unless somebody scrolled away. */
export function useSticky(key: string | null): { box: RefObject<HTMLDivElement | null>; content: RefObject<HTMLDivElement | null>; pinned: boolean; toEnd: () => void } {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [pinned, setPinned] = useState(true)
  const wanted = useRef(true)
  const toEnd = useCallback(() => {
    wanted.current = true
    setPinned(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])
  useEffect(() => {
    toEnd()
    const [outer, inner] = [box.current, content.current]
    if (!outer || !inner) return
    let before = outer.scrollTop
    const onScroll = () => {
      const near = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // What grew below moves nothing: only going up leaves the end.
      if (near) wanted.current = true
      else if (outer.scrollTop < before - 1) wanted.current = false
      before = outer.scrollTop
      setPinned(wanted.current)
    }
    const watched = new ResizeObserver(() => {
      if (wanted.current) outer.scrollTop = outer.scrollHeight
      before = outer.scrollTop
    })
    watched.observe(inner)
    outer.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      watched.disconnect()
      outer.removeEventListener('scroll', onScroll)
    }
  }, [key, toEnd])
  return { box, content, pinned, toEnd }
}
