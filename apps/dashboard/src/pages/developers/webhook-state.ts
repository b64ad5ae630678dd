import type { Webhook } from '@quittance/client';

export type EndpointState = {
  state: 'enabled' | 'paused' | 'failing' | 'disabled';
  /** When it began, or ends when it is paused. */
  at: string | null;
  why: string | null;
};

/** What an endpoint's fields say together, the most pressing first. */
export function endpointState(endpoint: Webhook, now: Date): EndpointState {
  const { enabled, disabled_reason, disabled_at, paused_until, failing_since } = endpoint;
  if (!enabled) return { state: 'disabled', at: disabled_at, why: disabled_reason };
  if (failing_since !== null)
    return { state: 'failing', at: failing_since, why: 'No delivery has arrived since then.' };
  if (paused_until !== null && new Date(paused_until) > now)
    return { state: 'paused', at: paused_until, why: 'It has asked for a pause until then.' };
  return { state: 'enabled', at: null, why: null };
}

/** Why an attempt had no answer. */
const failures: Readonly<Record<string, string>> = {
  timed_out: 'no complete answer within 15 seconds',
  not_resolved: 'the host name has no address',
  private_address: 'the host name leads into a private network',
  not_secure: 'the URL is not https',
  not_connected: 'no connection',
  broken_off: 'the connection ended before the answer did',
  headers_too_large: 'headers of more than 16 kB',
  not_signed: 'a fault of the operator: a new secret is needed',
};

type Attempt = { status: number | null; failure: string | null };

/** How an attempt ended, in words. */
export const outcomeOf = ({ status, failure }: Attempt): string =>
  status !== null ? `answered ${status}` : failure === null ? 'no answer' : (failures[failure] ?? failure);
