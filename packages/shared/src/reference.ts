import { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';
import { pageField } from './pages.ts';

/**
 * What the reference of the API says of each operation, beside the code that serves it. tools/openapi assembles the document
 * from it. Nothing here is loaded by a running service.
 */

export const tags = {
  Invoices: 'Ask a customer for a payment.',
  'Payment links': 'Pages that can be paid any number of times.',
  Refunds: 'Pay back what was paid for an invoice.',
  Payouts: 'Send from the balance to an address.',
  'Payout batches': 'Many payouts in one request.',
  'Automatic payouts': 'Pay out all of a balance, daily or from an amount on.',
  'Payout policy': 'What your account allows of its payouts: an address book, limits and approvals.',
  Balances: 'What can be spent, every movement of it, and statements of months.',
  Assets: 'What can be used now, with rates and network fees.',
  'Unresolved funds': 'Received funds that are in no balance: accept them or return them.',
  Webhooks: 'Endpoints that receive events, and their deliveries.',
  Events: 'The event log of the account, without a gap.',
  'E-mails': 'Addresses that are told by e-mail what happens.',
  'API tokens': 'What requests are sent with: scopes, expiry, addresses.',
  Activity: 'Which requests failed, and who has changed what.',
  People: 'Sign in, sessions, and who may do what in the account.',
  Sandbox: 'What only an installation for tests answers.',
} as const satisfies Record<string, string>;

export type Fields = z.ZodObject;

/** An answer that is no error. */
export type DocumentedAnswer = {
  description: string;
  /** Its body as JSON. */
  json?: z.ZodType;
  /** Other media types that the request can ask for, and what they are. */
  others?: Readonly<Record<string, string>>;
  /** Headers beside those of every answer. */
  headers?: readonly ('Idempotent-Replayed' | 'Location')[];
};

export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/invoices/{id}`. */
  path: string;
  operationId: string;
  tag: keyof typeof tags;
  summary: string;
  description?: string;
  /**
   * Who may ask, when it is not an API token: everybody, somebody who gives in the body what signs in, or a person who has signed in.
   */
  auth?: 'none' | 'credentials' | 'session';
  /** The parameters in the path. */
  params?: Fields;
  query?: Fields;
  headers?: Fields;
  body?: {
    /** The form that reads it. */
    fields: Fields;
    /** Whether a request needs one. */
    required: boolean;
    /** Two fields of which it needs one. */
    either?: readonly [string, string];
    /** Other media types that it may have, and what they are. */
    others?: Readonly<Record<string, string>>;
  };
  answers: Readonly<Record<number, DocumentedAnswer>>;
  /** The codes of its errors beside those that every operation can have. */
  errors: readonly ErrorCode[];
};

/** A request of an operation as a test sends it, and the JSON of its answer. */
export type Example = {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number>>;
  headers?: Readonly<Record<string, string>>;
  body?: Readonly<Record<string, unknown>>;
  /** None of an answer that is no JSON. */
  answer?: unknown;
};

/** Errors that every operation can have, whatever it does. */
export const errorsOfAll = [
  'bad_request',
  'unauthenticated',
  'request_timeout',
  'body_too_large',
  'body_compressed',
  'expectation_failed',
  'invalid_request',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** Errors of an operation on a resource that its path names. */
export const errorsOfResource = ['forbidden', 'not_found', 'route_not_found'] as const satisfies ErrorCode[];

/** The shape of a form, or of several that read one request, with what each of its fields means. */
export function documented<S extends Record<string, z.ZodType>>(
  shape: S,
  texts: { [K in keyof NoInfer<S>]: string },
): z.ZodObject {
  const described = Object.entries(shape).map(([name, field]) => [name, field.describe(texts[name] ?? '')]);
  return z.strictObject(Object.fromEntries(described) as Record<string, z.ZodType>);
}

/** The query of a list with numbered pages: the fields of its form, with what each of them means beside the page. */
export const pagedQuery = <S extends { perPage: z.ZodType } & Record<string, z.ZodType>>(
  shape: S,
  texts: { [K in Exclude<keyof NoInfer<S>, 'perPage'>]: string },
): z.ZodObject =>
  documented<Record<string, z.ZodType>>(
    { page: pageField, ...shape },
    { page: 'The number of the page.', perPage: 'How many items a page has.', ...texts },
  );

/** A body without fields: it may be missing. */
export const noFields = { fields: z.strictObject({}), required: false } as const;

/** The header of operations that are carried out once for each key. */
export const idempotencyKey = z.strictObject({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .describe('Names the request: repeating it with the same key and body answers as the first time.'),
});

type Deep<T> = T extends readonly (infer One)[]
  ? readonly Deep<One>[]
  : T extends object
    ? { readonly [K in keyof T]: Deep<T[K]> }
    : T;
type Unknown<View, Shown> = View extends unknown ? Exclude<keyof View, keyof Shown> : never;

/**
 * The schema of what a view returns. It does not compile when the view returns another type than the schema describes, or a
 * field that it does not have.
 */
export const viewed =
  <View>() =>
  <S extends z.ZodType>(
    schema: [View] extends [Deep<z.input<S>>]
      ? [Unknown<View, z.input<S>>] extends [never]
        ? S
        : never
      : never,
  ): S =>
    schema;
