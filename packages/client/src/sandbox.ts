import type { Api } from './api.ts';
import type { Body, Data } from './operations.ts';
import type { RequestOptions } from './transport.ts';

export type PayInSandbox = Body<'payInSandbox'>;
export type TestPayment = Data<'payInSandbox'>;

/** What only a sandbox answers. */
export class Sandbox {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Pays an address with test money, as a customer would. Each call pays: nothing is sent again by itself.
   * @throws NotFoundError when the installation is no sandbox
   */
  pay(payment: PayInSandbox, options?: RequestOptions): Promise<TestPayment> {
    return this.#api.send('POST', '/api/sandbox/payments', payment, options);
  }
}
