import type { Service } from '@quittance/shared/events';
import {
  type GatewaySigningKey,
  newGatewayKeys,
  readPublicKeys,
  readSigningKey,
} from '@quittance/shared/gateway-keys';
import {
  IDENTITY_HEADER,
  type Identity,
  type Receiver,
  type RequestProof,
  signIdentity,
  verifyProof,
} from '@quittance/shared/identity';
import type { AccountId, AssertionId, PersonId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import { type Dispatcher, request } from 'undici';

/** The key pair of the gateway of all suites, in processes too, and one that no service knows. */
export const gatewayKeys = newGatewayKeys((size) => Buffer.alloc(size, 'gateway'));
export const foreignKeys = newGatewayKeys((size) => Buffer.alloc(size, 'foreign'));

/** GATEWAY_PUBLIC_KEY as a service has read it. */
export const gatewayPublicKeys = readPublicKeys(gatewayKeys.publicKey) ?? new Map();

/** Which service the gateway passes a request of the API on to. */
const receivers: readonly [RegExp, Receiver][] = [
  [
    /^\/api\/(payouts|payout-batches|automatic-payouts|refunds|payout-policy|address-book|halted-assets)\b|\/(refunds|return)\b/,
    'payouts',
  ],
  [/^\/api\/(invoices|invoice-settings|payment-links|volume)\b/, 'invoices'],
  [/^\/api\/(webhooks|deliveries|events|mail-recipients)\b/, 'webhooks'],
  [/^\/api\/sandbox\b/, 'sandbox'],
];

type Asserted = {
  method: string;
  /** With its query. */
  path: string;
  body?: string;
  receiver?: Receiver;
  token?: Identity['token'];
  scopes?: Identity['scopes'];
  person?: Identity['person'];
  operator?: Identity['operator'];
  now?: Date | undefined;
  privateKey?: string;
};

const signingKeys = new Map<string, GatewaySigningKey>();

/** To read a key takes longer than to sign with it. */
function signingKeyOf(privateKey: string): GatewaySigningKey {
  const key = signingKeys.get(privateKey) ?? readSigningKey(privateKey);
  invariant(key !== undefined, 'the keys of the tests are keys');
  signingKeys.set(privateKey, key);
  return key;
}

/** The header in which the gateway asserts whose request it is. */
export function identityOf(
  account: AccountId,
  {
    method,
    path,
    body = '',
    receiver,
    token,
    scopes,
    person,
    operator,
    now = new Date(),
    privateKey = gatewayKeys.privateKey,
  }: Asserted,
): { [IDENTITY_HEADER]: string } {
  const key = signingKeyOf(privateKey);
  const to = receiver ?? receivers.find(([form]) => form.test(path))?.[1] ?? 'ledger';
  const asserted = { receiver: to, method, path, body: Buffer.from(body) };
  return {
    [IDENTITY_HEADER]: signIdentity(key, { account, token, scopes, person, operator }, asserted, now),
  };
}

/** A request that the gateway has passed on, as a service keeps it with what it asks for. */
export function requestProofOf(account: AccountId, asserted: Asserted): RequestProof & { id: AssertionId } {
  const { method, path, body = '' } = asserted;
  const assertion = identityOf(account, asserted)[IDENTITY_HEADER];
  const proof = { assertion, method, path, body: Buffer.from(body) };
  const signed = verifyProof(gatewayPublicKeys, 'payouts', proof);
  invariant(signed !== undefined, 'the gateway of the tests has asserted it to payouts');
  return { ...proof, id: signed.id };
}

/** A request of an operator, as the gateway passes it on. */
export function asOperator(
  port: number,
  receiver: Service,
  method: string,
  path: string,
  { body, now }: { body?: object | undefined; now?: Date } = {},
): Promise<ApiAnswer> {
  const sent = body === undefined ? '' : JSON.stringify(body);
  const person = 'per_1' as PersonId;
  const asserted = { method, path, body: sent, receiver, person, operator: true, now } as const;
  const headers = identityOf('acc_1' as AccountId, asserted);
  return api(port, method, path, { headers, ...(body && { body: sent }) });
}

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
    token,
    body,
    headers = {},
    now,
  }: {
    account?: AccountId | undefined;
    token?: Identity['token'];
    body?: unknown;
    headers?: Record<string, string>;
    now?: Date;
  } = {},
): Promise<ApiAnswer> {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const url = new URL(`http://127.0.0.1:${port}${path}`);
  const answer = await request(url, {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...(account === undefined
        ? {}
        : identityOf(account, { method, path: url.pathname + url.search, body: sent ?? '', token, now })),
      'content-type': 'application/json',
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
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
