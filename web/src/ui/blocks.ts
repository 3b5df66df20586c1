const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) /
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/**
 * Cuts Markdown where one block ends and the next begins, so that while an answer grows only its last block is read
 * again. Fences, lists with blank lines between their items, and what is indented below them stay together.
 */
export function blocks(text: string): string[] {
  const found: string[] = []
  let current: string[] = []
  let fence = ''
  let list = false
  let blank = false
  const end = () => {
    if (current.some((line) => line.trim())) found.push(current.join('\n'))
    current = []
  }
  for (const line of text.split('\n')) {
    if (fence) {
      current.push(line)
      if (line.trimStart().startsWith(fence) && !line.trim().replaceAll(fence[0]!, '')) fence = ''
      continue
    }
    if (!line.trim()) {
      blank = true
      current.push(line)
      continue
    }
    const item = LIST.test(line)
    if (blank && !(list && (item || /^\s{2,}/.test(line)))) {
      end()
      list = item
    } else if (!current.length) list = item
    blank = false
    current.push(line)
    fence = FENCE.exec(line)?.[1] ?? ''
  }
  end()
  return found
}
