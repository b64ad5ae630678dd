/** What one more hit left of a limit. */
export type RateLimitResult = {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Until the window ends and counting starts again. */
  resetMs: number;
};

export const WINDOW_SECONDS = 60;

/**
 * The headers that tell a client where it stands: the X- ones as Laravel has them, and those of the IETF's
 * draft-ietf-httpapi-ratelimit-headers. One that is over the limit also learns when to come back.
 */
export function rateLimitHeaders(rateLimit: RateLimitResult, now: Date): [name: string, value: string][] {
  const reset = Math.max(1, Math.ceil(rateLimit.resetMs / 1000));
  const headers: [string, string][] = [
    ['X-RateLimit-Limit', String(rateLimit.limit)],
    ['X-RateLimit-Remaining', String(rateLimit.remaining)],
    ['RateLimit-Policy', `"default";q=${rateLimit.limit};w=${WINDOW_SECONDS}`],
    ['RateLimit', `"default";r=${rateLimit.remaining};t=${reset}`],
  ];
  if (!rateLimit.allowed) {
    headers.push(['Retry-After', String(reset)]);
    headers.push(['X-RateLimit-Reset', String(Math.ceil((now.getTime() + rateLimit.resetMs) / 1000))]);
  }
  return headers;
}
