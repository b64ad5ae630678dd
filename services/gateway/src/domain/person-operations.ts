import { changes } from './audited.ts';
import { managesPeople, type Role } from './roles.ts';
import { operationOf, type Route } from './routes.ts';

/** What only people who have signed in can do: API tokens cannot. The operations of accounts are in `scopes.ts`. */
type PersonOperation = {
  /** Only those who manage the people of the account. */
  managers?: true;
  /** The person must have given password and second factor, or a passkey, shortly before. */
  stepUp?: true;
};

export const personOperations = {
  'GET /api/me': {},
  'POST /api/session/step-up': {},
  'POST /api/session/step-up/passkey/options': {},
  'POST /api/session/step-up/passkey': {},
  'GET /api/sessions': {},
  'DELETE /api/sessions': {},
  'DELETE /api/sessions/:id': {},
  'PUT /api/me/password': { stepUp: true },
  'POST /api/me/totp': { stepUp: true },
  'POST /api/me/totp/confirm': { stepUp: true },
  'DELETE /api/me/totp': { stepUp: true },
  'POST /api/me/recovery-codes': { stepUp: true },
  'GET /api/me/passkeys': {},
  'POST /api/me/passkeys/options': { stepUp: true },
  'POST /api/me/passkeys': { stepUp: true },
  'PATCH /api/me/passkeys/:id': {},
  'DELETE /api/me/passkeys/:id': { stepUp: true },
  'GET /api/people': { managers: true },
  'PATCH /api/people/:id': { managers: true, stepUp: true },
  'DELETE /api/people/:id': { managers: true, stepUp: true },
  'GET /api/invitations': { managers: true },
  'POST /api/invitations': { managers: true, stepUp: true },
  'DELETE /api/invitations/:id': { managers: true, stepUp: true },
} as const satisfies Record<string, PersonOperation>;

/** Of the operations of accounts those by which somebody with a stolen session could keep access, or take money. */
const ofAccounts: readonly string[] = [
  'POST /api/tokens',
  'POST /api/tokens/:id/rotate',
  'POST /api/webhooks',
  'PATCH /api/webhooks/:id',
  'POST /api/webhooks/:id/rotate',
  'POST /api/mail-recipients',
  'PATCH /api/mail-recipients/:id',
  'PUT /api/payout-policy',
  'POST /api/address-book',
  'PUT /api/automatic-payouts/:asset',
];

/** All that need a step-up. */
export const stepUpOperations: readonly string[] = [
  ...ofAccounts,
  ...Object.entries<PersonOperation>(personOperations).flatMap(([operation, { stepUp }]) =>
    stepUp === true ? [operation] : [],
  ),
];

/** Of operators everything that does more than read. */
export const needsStepUp = (method: string, { auth, pattern }: Pick<Route, 'auth' | 'pattern'>): boolean =>
  auth === 'operator' ? changes(method) : stepUpOperations.includes(operationOf(method, pattern));

/** Whether the role allows an operation of people. One that is missing in the table is allowed to nobody. */
export function roleAllows(role: Role, method: string, pattern: string): boolean {
  const operations: Readonly<Record<string, PersonOperation | undefined>> = personOperations;
  const needs = operations[operationOf(method, pattern)];
  return needs !== undefined && (needs.managers !== true || managesPeople(role));
}
