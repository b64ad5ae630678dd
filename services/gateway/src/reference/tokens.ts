import { flag, id, message, oneOf, pageOf, saidOf, text, time } from '@quittance/shared/answer-schemas';
import { pageForm } from '@quittance/shared/pages';
import {
  documented,
  errorsOfResource,
  type Operation,
  pagedQuery,
  viewed,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { scopeNames, scopes } from '../domain/scopes.ts';
import { tokenStates } from '../domain/token.ts';
import { readNewToken, readRotation } from '../http/tokens.ts';
import type { newTokenView, rotatedTokenView, tokenView } from '../views.ts';

const tokenId = id('tok', 'The id of the token. It is not the token itself.');
const scope = z
  .enum(scopeNames as [(typeof scopeNames)[number]])
  .describe('What a token may do. To write includes to read.')
  .meta({ id: 'Scope', 'x-enum-descriptions': scopes });

const shape = {
  id: tokenId,
  name: text('What it is for.'),
  hint: text('Its last four characters.'),
  state: oneOf(tokenStates, 'Whether it is valid.'),
  current: flag('Whether this request was sent with it.'),
  scopes: z.array(scope).nullable().describe('What it may do; null: everything.'),
  allowed_ips: z
    .array(z.string())
    .nullable()
    .describe('The networks from which it may be used; null: from everywhere.'),
  created_at: time('When it was created.'),
  expires_at: time('When it expires; null: it is valid until it is revoked.').nullable(),
  revoked_at: time('When it was revoked, or null.').nullable(),
  replaced_by: tokenId.nullable().describe('The token that took its place, or null.'),
  last_used_at: time('When it was last used, to the minute; null: never.').nullable(),
  last_used_ip: text('From which address, or null.').nullable(),
};

export const token = viewed<ReturnType<typeof tokenView>>()(
  z.strictObject(shape).meta({ id: 'Token', description: 'An API token, without itself.' }),
);

const withSecret = {
  ...shape,
  token: text('The token itself: what is sent as `Authorization: Bearer`. Shown only here.'),
};
export const newToken = viewed<ReturnType<typeof newTokenView>>()(
  z.strictObject(withSecret).meta({ id: 'NewToken', description: 'A new API token with itself.' }),
);
export const rotatedToken = viewed<ReturnType<typeof rotatedTokenView>>()(
  z
    .strictObject({ ...withSecret, former_token_expires_at: time('When the former token expires.') })
    .meta({ id: 'RotatedToken', description: 'The API token that took the place of another.' }),
);

const params = z.strictObject({ id: tokenId });

/** A repeated request has another answer than elsewhere. */
const headers = z.strictObject({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .describe('Names the request: a key of the account that was used before creates nothing.'),
});

const once =
  'The token is shown once and stored nowhere. So the answer cannot be repeated: a second request with the same `Idempotency-Key` creates nothing and is a 409 that names the token of the first.';

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/tokens',
    operationId: 'listTokens',
    tag: 'API tokens',
    summary: 'List API tokens',
    description: 'Those that were revoked or have expired as well. The tokens themselves are never shown.',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: { 200: { description: 'A page of tokens.', json: pageOf('TokenPage', token) } },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/tokens',
    operationId: 'createToken',
    tag: 'API tokens',
    summary: 'Create an API token',
    description: `It has nothing beyond your own token: no other scope, no other address, no later expiry. ${once}`,
    headers,
    body: {
      fields: documented(readNewToken.schema.shape, {
        name: 'What it is for, in one line.',
        scopes: 'What it may do. Default: what your own token may.',
        allowed_ips:
          'Addresses and networks (CIDR), IPv4 and IPv6, from which it may be used. Default: those of your own token.',
        expires_at: 'When it expires. Default: when your own token does.',
      }),
      required: true,
    },
    answers: { 201: { description: 'The token.', json: saidOf(newToken) } },
    errors: ['beyond_own_token', 'conflict'],
  },
  {
    method: 'get',
    path: '/api/tokens/{id}',
    operationId: 'getToken',
    tag: 'API tokens',
    summary: 'Get an API token',
    description: 'Also one that was revoked or has expired. The token itself is never shown.',
    params,
    answers: { 200: { description: 'The token.', json: token } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/tokens/{id}/rotate',
    operationId: 'rotateToken',
    tag: 'API tokens',
    summary: 'Replace an API token',
    description: `Creates one with the same name, scopes and addresses. The former one expires after the overlap. Your own token must have all that the former one has. ${once}`,
    params,
    headers,
    body: {
      fields: documented(readRotation.schema.shape, {
        overlap_hours: 'How long the former token stays valid; 0: it ends now.',
        expires_at: 'When the new token expires. Default: when the former one would have.',
      }),
      required: false,
    },
    answers: { 201: { description: 'The new token.', json: saidOf(rotatedToken) } },
    errors: [...errorsOfResource, 'beyond_own_token', 'conflict'],
  },
  {
    method: 'delete',
    path: '/api/tokens/{id}',
    operationId: 'revokeToken',
    tag: 'API tokens',
    summary: 'Revoke an API token',
    description:
      'Ends it for good. The next request with it is refused, and its event streams end within a second.',
    params,
    answers: { 200: { description: 'It is revoked.', json: z.strictObject({ message }) } },
    errors: errorsOfResource,
  },
];
