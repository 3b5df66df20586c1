import { text } from '@/i18n/t'

const KINDS: [test: RegExp, key: string][] = [
  [/^timeout$/, 'fix_timeout'],
  [/^(connection|dns|tls)/, 'fix_connection'],
  [/^rate_limit|http_429|overloaded/, 'fix_rate'],
  [/^http_(401|403)/, 'fix_credentials'],
  [/^http_404/, 'fix_missing'],
  [/^http_5/, 'fix_remote'],
  [/not_allowed|blocked|forbidden|refused/, 'fix_allowed'],
  [/secret/, 'fix_secret'],
  [/no_model|model_missing|no_provider|unconfigured/, 'fix_model'],
  [/expression|template/, 'fix_expression'],
  [/code|exception|python/, 'fix_code'],
  [/validation|schema|type/, 'fix_value'],
]

const MODELS = new Set(['LLM', 'AGENT', 'CLASSIFIER', 'PARAMETER_EXTRACTOR', 'QUESTION_UNDERSTANDING'])

/** What to do about an error: what the error says itself, else what its kind asks for. */
export function fixOf(error: { type: string; fix?: unknown; [more: string]: unknown }, nodeType?: string): string | undefined {
  if (typeof error.fix === 'string' && error.fix) return error.fix
  if (error.type === 'http_404' && MODELS.has(nodeType ?? '')) return text('runs.fix_model')
  const found = KINDS.find(([test]) => test.test(error.type))
  return found ? text(`runs.${found[1]}`, { type: nodeType ?? '' }) : undefined
}
