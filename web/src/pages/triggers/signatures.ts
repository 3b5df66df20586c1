import type { Signature } from '@/api/triggers'

/** How known senders sign: what to tell them, and the header that they send. */
export const PRESETS = ['github', 'gitlab', 'stripe', 'slack', 'shopify', 'twilio', 'standard', 'hmac'] as const
export type Preset = (typeof PRESETS)[number]

export const HEADERS: Record<Preset, string> = {
  github: 'X-Hub-Signature-256',
  gitlab: 'X-Gitlab-Token',
  stripe: 'Stripe-Signature',
  slack: 'X-Slack-Signature',
  shopify: 'X-Shopify-Hmac-Sha256',
  twilio: 'X-Twilio-Signature',
  standard: 'webhook-signature',
  hmac: 'X-Signature',
}

/** The header by which a sender tells that a delivery comes again. */
export const REPEATS: Partial<Record<Preset, string>> = { github: 'X-GitHub-Delivery', gitlab: 'X-Gitlab-Event-UUID', standard: 'webhook-id', shopify: 'X-Shopify-Webhook-Id', twilio: 'I-Twilio-Idempotency-Token' }

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that sends what the webhook takes. */
export function curl(url: string, method: string, signature: Signature | null, body: unknown): string {
  const text = JSON.stringify(body)
  const head = `curl -X ${method} ${quoted(url)} \\\n  -H 'content-type: application/json'`
  const data = method === 'GET' ? '' : ` \\\n  -d "$BODY"`
  if (!signature) return method === 'GET' ? head.replace(` \\\n  -H 'content-type: application/json'`, '') : `${head} \\\n  -d ${quoted(text)}`
  const lines = [`SECRET=…   # the webhook's secret`, `BODY=${quoted(text)}`]
  switch (signature.type) {
    case 'gitlab':
      return [...lines, `${head} \\\n  -H "X-Gitlab-Token: $SECRET"${data}`].join('\n')
    case 'github':
      return [...lines, `SIGN=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)`, `${head} \\\n  -H "X-Hub-Signature-256: sha256=$SIGN"${data}`].join('\n')
    case 'shopify':
      return [...lines, `SIGN=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -binary | base64)`, `${head} \\\n  -H "X-Shopify-Hmac-Sha256: $SIGN"${data}`].join('\n')
    case 'stripe':
      return [...lines, 'NOW=$(date +%s)', `SIGN=$(printf %s "$NOW.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)`, `${head} \\\n  -H "Stripe-Signature: t=$NOW,v1=$SIGN"${data}`].join('\n')
    case 'slack':
      return [...lines, 'NOW=$(date +%s)', `SIGN=$(printf %s "v0:$NOW:$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)`, `${head} \\\n  -H "X-Slack-Request-Timestamp: $NOW" -H "X-Slack-Signature: v0=$SIGN"${data}`].join('\n')
    case 'hmac': {
      const base64 = signature.encoding === 'base64'
      const stamped = Boolean(signature.timestamp_header)
      const made = `SIGN=$(printf %s "${stamped ? '$NOW.' : ''}$BODY" | openssl dgst -${signature.algorithm ?? 'sha256'} -hmac "$SECRET" ${base64 ? '-binary | base64' : "-r | cut -d' ' -f1"})`
      const stamp = stamped ? ` -H "${signature.timestamp_header}: $NOW"` : ''
      return [...lines, ...(stamped ? ['NOW=$(date +%s)'] : []), made, `${head} \\\n  -H "${signature.header}: ${signature.prefix ?? ''}$SIGN"${stamp}${data}`].join('\n')
    }
    case 'standard':
      return [
        ...lines,
        'ID=msg_$(date +%s%N); NOW=$(date +%s)',
        `KEY=$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n')`,
        `SIGN=$(printf %s "$ID.$NOW.$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | base64)`,
        `${head} \\\n  -H "webhook-id: $ID" -H "webhook-timestamp: $NOW" -H "webhook-signature: v1,$SIGN"${data}`,
      ].join('\n')
    default:
      return head + data.replace('"$BODY"', quoted(text))
  }
}
