/** Unix time in seconds. Pages that show it are drawn again as their data is. */
export const nowSeconds = (): number => Date.now() / 1000

export const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
