import type { Api } from './api.ts';
import type { Answer, Body } from './operations.ts';
import { path, type RequestOptions } from './transport.ts';

/** An address that is told by e-mail what happens in the account. */
export type MailRecipient = Answer<'getMailRecipient'>;
/** `meta.sends_mail` is false where the operator has set no mail server. */
export type MailRecipientList = Answer<'listMailRecipients'>;
export type CreateMailRecipient = Body<'createMailRecipient'>;
export type MailKind = MailRecipient['kinds'][number];

export class MailRecipients {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** All of them, at most ten, and whether the installation sends e-mail. */
  list(options?: RequestOptions): Promise<MailRecipientList> {
    return this.#api.get('/api/mail-recipients', options);
  }

  retrieve(id: string, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.get(path`/api/mail-recipients/${id}`, options);
  }

  /** Adds an address and sends it a code. It is told of nothing before `confirm`. */
  create(recipient: CreateMailRecipient, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.send('POST', '/api/mail-recipients', recipient, options);
  }

  update(id: string, changes: Body<'updateMailRecipient'>, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.send('PATCH', path`/api/mail-recipients/${id}`, changes, options);
  }

  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/mail-recipients/${id}`, options);
  }

  /** Sends another code, at most one a minute. @throws ConflictError while the address is active */
  sendCode(id: string, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.send('POST', path`/api/mail-recipients/${id}/code`, undefined, options);
  }

  /** @param code from the newest e-mail to the address */
  confirm(id: string, code: string, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.send('POST', path`/api/mail-recipients/${id}/confirm`, { code }, options);
  }

  /** Sends a test to a confirmed address, at most one a minute. */
  test(id: string, options?: RequestOptions): Promise<MailRecipient> {
    return this.#api.send('POST', path`/api/mail-recipients/${id}/test`, undefined, options);
  }
}
