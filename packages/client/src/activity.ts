import type { Api } from './api.ts';
import type { Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import type { RequestOptions } from './transport.ts';

/** A request of the account that was answered with an error. */
export type FailedRequest = Item<'listRequests'>;
/** Who has changed what, from which address and when. */
export type AuditEntry = Item<'listAuditLog'>;

/** The requests of the account that failed. */
export class Requests {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The last 1,000 of 30 days, newest first. */
  list(query?: Query<'listRequests'>, options?: RequestOptions): List<FailedRequest, PageMeta> {
    return this.#api.list('/api/requests', query, options);
  }
}

/** The audit log of the account. */
export class AuditLog {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Entries, newest first. They are never changed or deleted. */
  list(query?: Query<'listAuditLog'>, options?: RequestOptions): List<AuditEntry, PageMeta> {
    return this.#api.list('/api/audit-log', query, options);
  }

  /** All entries as a CSV file, as it arrives. */
  csv(options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#api.csv('/api/audit-log', undefined, options);
  }
}
