import type { Api } from './api.ts';
import type { QuittanceEvent } from './events.ts';
import type { Answer, Body, Data, Item, Query } from './operations.ts';
import { type DeliveriesMeta, deliveryList, type List, type PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';
import { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';

/** An endpoint of your server that receives events. */
export type Webhook = Answer<'getWebhook'>;
/** With its `secret`, which is shown this once. */
export type CreatedWebhook = Data<'createWebhook'>;
export type RotatedWebhook = Data<'rotateWebhookSecret'>;
export type CreateWebhook = Body<'createWebhook'>;
export type UpdateWebhook = Body<'updateWebhook'>;
export type Delivery = Answer<'getDelivery'>;

export class Webhooks {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * The event of a webhook that your server received. Its signature and its age are checked first.
   * @param body exactly as it arrived, before anything parses it
   * @param secret `whsec_…` of the endpoint or `whpk_…` of `publicKeys`; several while they are being changed
   * @throws WebhookVerificationError: answer 400, and do nothing else
   */
  verify(
    body: string | Uint8Array,
    headers: WebhookHeaders,
    secret: string | readonly string[] | undefined,
    options?: VerifyOptions,
  ): Promise<QuittanceEvent> {
    return verifyWebhook<QuittanceEvent>(body, headers, secret, options);
  }

  /** Registers an endpoint. Store its `secret`: it is shown this once. */
  create(endpoint: CreateWebhook, options?: RequestOptions): Promise<CreatedWebhook> {
    return this.#api.send('POST', '/api/webhooks', endpoint, options);
  }

  retrieve(id: string, options?: RequestOptions): Promise<Webhook> {
    return this.#api.get(path`/api/webhooks/${id}`, options);
  }

  list(query?: Query<'listWebhooks'>, options?: RequestOptions): List<Item<'listWebhooks'>, PageMeta> {
    return this.#api.list('/api/webhooks', query, options);
  }

  /** Changes what is named. Waiting deliveries go to a new `url`. */
  update(id: string, changes: UpdateWebhook, options?: RequestOptions): Promise<Webhook> {
    return this.#api.send('PATCH', path`/api/webhooks/${id}`, changes, options);
  }

  /** Ends the endpoint immediately. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/webhooks/${id}`, options);
  }

  /** Sends events from now on. For those that were missed, `replay` from its `missed_since`. */
  enable(id: string, options?: RequestOptions): Promise<Webhook> {
    return this.#api.send('POST', path`/api/webhooks/${id}/enable`, undefined, options);
  }

  /** Sends nothing more, and cancels what waits. */
  disable(id: string, options?: RequestOptions): Promise<Webhook> {
    return this.#api.send('POST', path`/api/webhooks/${id}/disable`, undefined, options);
  }

  /** Answers a new `secret`, shown this once. The former one stays valid for `overlap_hours`, 24 when not given. */
  rotate(
    id: string,
    how: Body<'rotateWebhookSecret'> = {},
    options?: RequestOptions,
  ): Promise<RotatedWebhook> {
    return this.#api.send('POST', path`/api/webhooks/${id}/rotate`, how, options);
  }

  /** Sends the event `webhook.test` to this endpoint. @throws ConflictError while it is disabled */
  test(id: string, options?: RequestOptions): Promise<Data<'testWebhook'>> {
    return this.#api.send('POST', path`/api/webhooks/${id}/test`, undefined, options);
  }

  /** Queues the events of a time range that the endpoint never got. Repeating it does no harm. */
  replay(id: string, range: Body<'replayWebhook'>, options?: RequestOptions): Promise<Data<'replayWebhook'>> {
    return this.#api.send('POST', path`/api/webhooks/${id}/replay`, range, options);
  }

  /** The public keys of an endpoint, newest first. @throws NotFoundError where the operator has set no signing key */
  async publicKeys(id: string, options?: RequestOptions): Promise<string[]> {
    const keys = path`/.well-known/webhooks-public-keys/${id}`;
    return (await this.#api.get<{ public_keys: string[] }>(keys, options)).public_keys;
  }
}

export class Deliveries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** What an endpoint was sent and what it answered, newest first. */
  list(
    webhookId: string,
    query?: Query<'listDeliveries'>,
    options?: RequestOptions,
  ): List<Item<'listDeliveries'>, DeliveriesMeta> {
    return deliveryList(this.#api.transport, path`/api/webhooks/${webhookId}/deliveries`, query, options);
  }

  retrieve(id: string, options?: RequestOptions): Promise<Delivery> {
    return this.#api.get(path`/api/deliveries/${id}`, options);
  }

  /** Sends it again, with the same event id. @throws ConflictError while it is being sent */
  redeliver(id: string, options?: RequestOptions): Promise<Data<'redeliver'>> {
    return this.#api.send('POST', path`/api/deliveries/${id}/redeliver`, undefined, options);
  }
}
