import type { Api } from './api.ts';
import type { Body, Data } from './operations.ts';
import type {
  OperatedAccount,
  OperatedAuditEntry,
  OperatedChains,
  OperatedDeadLetter,
  OperatedPayouts,
  OperatedReconciliation,
} from './operator-views.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/**
 * The console of operators, for a person who is one. It is no part of the API for merchants: it belongs to the dashboard of the same
 * release, and changes with it. What changes something needs a step-up.
 */
export class Operator {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  chains(options?: RequestOptions): Promise<OperatedChains> {
    return this.#api.get('/api/operator/chains', options);
  }

  /** Queues, wallets and sweeps. */
  payouts(options?: RequestOptions): Promise<OperatedPayouts> {
    return this.#api.get('/api/operator/payouts', options);
  }

  /** @throws NotFoundError when the gateway was not given the URL of the auditor */
  reconciliation(options?: RequestOptions): Promise<OperatedReconciliation> {
    return this.#api.get('/api/operator/reconciliation', options);
  }

  /** @throws ConflictError when they are paused */
  pausePayouts(asset: string, reason: string, options?: RequestOptions): Promise<void> {
    return this.#api.act('PUT', path`/api/operator/pauses/${asset}`, { reason }, options);
  }

  /** @throws ConflictError when they were not paused here, or no check has just found the asset right */
  resumePayouts(asset: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/operator/pauses/${asset}`, options);
  }

  /** The oldest 200. */
  deadLetters(options?: RequestOptions): Promise<OperatedDeadLetter[]> {
    return this.#api.getData('/api/operator/dead-letters', options);
  }

  retryDeadLetter(
    { service, event }: Pick<OperatedDeadLetter, 'service' | 'event'>,
    options?: RequestOptions,
  ): Promise<void> {
    return this.#api.act('POST', '/api/operator/dead-letters/retry', { service, event }, options);
  }

  accounts(
    query?: { search?: string | undefined; page?: number; perPage?: number },
    options?: RequestOptions,
  ): List<OperatedAccount, PageMeta> {
    return this.#api.list('/api/operator/accounts', query, options);
  }

  createAccount(account: { name: string }, options?: RequestOptions): Promise<OperatedAccount> {
    return this.#api.send('POST', '/api/operator/accounts', account, options);
  }

  /** @param requests a minute, for each API token; null: RATE_LIMIT_PER_MINUTE */
  async limitAccount(id: string, requests: number | null, options?: RequestOptions): Promise<void> {
    const body = { requests_per_minute: requests };
    await this.#api.send('PATCH', path`/api/operator/accounts/${id}`, body, options);
  }

  /** Its `token` is shown this once: pass it on. */
  invite(id: string, invitation: Body<'invite'>, options?: RequestOptions): Promise<Data<'invite'>> {
    return this.#api.send('POST', path`/api/operator/accounts/${id}/invitations`, invitation, options);
  }

  /** The last 200, the latest first. */
  auditLog(options?: RequestOptions): Promise<OperatedAuditEntry[]> {
    return this.#api.getData('/api/operator/audit-log', options);
  }
}
