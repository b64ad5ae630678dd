import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { type Dispatcher, request } from 'undici';

/** What the gateway and the services of a suite share. */
export const IDENTITY_SECRET = 'the secret that gateway and services share';

/** The header in which the gateway names the account of a request. */
export const identityOf = (account: AccountId, now = new Date(), secret = IDENTITY_SECRET) => ({
  [IDENTITY_HEADER]: signIdentity(secret, { account }, now),
});

export type ApiAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The JSON of the answer, or its text. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is answered and asserts on it
  body: any;
};

/**
 * A request as the gateway passes it to a service: one of an account, or of a customer.
 * @param body sent as it is when it is a text, else as JSON
 */
export async function api(
  port: number,
  method: string,
  path: string,
  {
    account,
    body,
    headers = {},
    now,
  }: {
    account?: AccountId | undefined;
    body?: unknown;
    headers?: Record<string, string>;
    now?: Date;
  } = {},
): Promise<ApiAnswer> {
  const answer = await request(`http://127.0.0.1:${port}${path}`, {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...(account === undefined ? {} : identityOf(account, now)),
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  const isJson = text !== '' && String(answer.headers['content-type']).includes('json');
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : text,
  };
}
