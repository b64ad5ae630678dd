import type { Api } from './api.ts';
import type { Item, Query } from './operations.ts';
import type { RequestOptions } from './transport.ts';

/** What was created on one day (UTC), and what of it is paid by now. */
export type VolumeDay = Item<'listVolume'>;

export class Volume {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Every day from `from` to `to`, both included: at most 366, the last 30 when not given. */
  list(query?: Query<'listVolume'>, options?: RequestOptions): Promise<VolumeDay[]> {
    return this.#api.getData('/api/volume', options, query);
  }
}
