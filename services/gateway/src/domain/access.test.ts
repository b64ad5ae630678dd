import { expect, test } from '@jest/globals';
import { isAudited } from './audited.ts';
import { needsStepUp, roleAllows } from './person-operations.ts';
import { type Role, roleHolds, roles } from './roles.ts';
import { findRoute, type Route, routes } from './routes.ts';
import { ANY_TOKEN, scopeNeeded } from './scopes.ts';

/**
 * Everything that can be asked from outside, written out once more, so that nothing is opened, or loses its step-up or its
 * entry in the audit log, without a line of this table that says so: who answers; which scope a token needs, or what else; which
 * people may (Owner, Admin, Developer, aCcountant, Viewer); and what is special about it.
 */
const ACCESS = `
GET    | /api/invoices                               | invoices | invoices:read    | OADCV |
POST   | /api/invoices                               | invoices | invoices:write   | OAD   |
GET    | /api/invoices/:id                           | invoices | invoices:read    | OADCV |
POST   | /api/invoices/:id/cancel                    | invoices | invoices:write   | OAD   |
GET    | /api/invoice-settings                       | invoices | settings:read    | OADCV |
PATCH  | /api/invoice-settings                       | invoices | settings:write   | OAD   | audited
GET    | /api/volume                                 | invoices | invoices:read    | OADCV |
POST   | /api/invoices/:id/refunds                   | payouts  | refunds:write    | OA    |
GET    | /api/refunds                                | payouts  | refunds:read     | OACV  |
GET    | /api/refunds/:id                            | payouts  | refunds:read     | OACV  |
POST   | /api/refunds/:id/cancel                     | payouts  | refunds:write    | OA    |
GET    | /api/payouts                                | payouts  | payouts:read     | OACV  |
POST   | /api/payouts                                | payouts  | payouts:write    | OA    |
GET    | /api/payouts/quote                          | payouts  | payouts:read     | OACV  |
GET    | /api/payouts/:id                            | payouts  | payouts:read     | OACV  |
GET    | /api/payouts/:id/attempts                   | payouts  | payouts:read     | OACV  |
POST   | /api/payouts/:id/cancel                     | payouts  | payouts:write    | OA    |
POST   | /api/payouts/:id/approve                    | payouts  | payouts:approve  | OA    | audited
POST   | /api/payouts/:id/reject                     | payouts  | payouts:approve  | OA    | audited
GET    | /api/halted-assets                          | payouts  | payouts:read     | OACV  |
GET    | /api/payout-policy                          | payouts  | policy:read      | OAC   |
PUT    | /api/payout-policy                          | payouts  | policy:write     | OA    | step-up, audited
GET    | /api/address-book                           | payouts  | policy:read      | OAC   |
POST   | /api/address-book                           | payouts  | policy:write     | OA    | step-up, audited
DELETE | /api/address-book/:id                       | payouts  | policy:write     | OA    | audited
GET    | /api/payout-batches                         | payouts  | payouts:read     | OACV  |
POST   | /api/payout-batches                         | payouts  | payouts:write    | OA    |
GET    | /api/payout-batches/:id                     | payouts  | payouts:read     | OACV  |
GET    | /api/automatic-payouts                      | payouts  | payouts:read     | OACV  |
PUT    | /api/automatic-payouts/:asset               | payouts  | payouts:write    | OA    | step-up, audited
DELETE | /api/automatic-payouts/:asset               | payouts  | payouts:write    | OA    | audited
GET    | /api/balances                               | ledger   | balances:read    | OACV  |
GET    | /api/balance-transactions                   | ledger   | balances:read    | OACV  |
GET    | /api/statements                             | ledger   | balances:read    | OACV  |
GET    | /api/assets                                 | ledger   | any token        | OADCV |
GET    | /api/unresolved                             | ledger   | unresolved:read  | OACV  |
GET    | /api/unresolved/:id                         | ledger   | unresolved:read  | OACV  |
POST   | /api/unresolved/:id/accept                  | ledger   | unresolved:write | OA    |
POST   | /api/unresolved/:id/return                  | payouts  | unresolved:write | OA    |
GET    | /api/webhooks                               | webhooks | webhooks:read    | OAD   |
POST   | /api/webhooks                               | webhooks | webhooks:write   | OAD   | step-up, audited
GET    | /api/webhooks/:id                           | webhooks | webhooks:read    | OAD   |
PATCH  | /api/webhooks/:id                           | webhooks | webhooks:write   | OAD   | step-up, audited
DELETE | /api/webhooks/:id                           | webhooks | webhooks:write   | OAD   | audited
POST   | /api/webhooks/:id/enable                    | webhooks | webhooks:write   | OAD   | audited
POST   | /api/webhooks/:id/disable                   | webhooks | webhooks:write   | OAD   | audited
POST   | /api/webhooks/:id/rotate                    | webhooks | webhooks:write   | OAD   | step-up, audited
POST   | /api/webhooks/:id/test                      | webhooks | webhooks:write   | OAD   |
POST   | /api/webhooks/:id/replay                    | webhooks | webhooks:write   | OAD   |
GET    | /api/webhooks/:id/deliveries                | webhooks | webhooks:read    | OAD   |
GET    | /api/deliveries/:id                         | webhooks | webhooks:read    | OAD   |
POST   | /api/deliveries/:id/redeliver               | webhooks | webhooks:write   | OAD   |
GET    | /api/events                                 | webhooks | events:read      | OADC  |
GET    | /api/events/stream                          | webhooks | events:read      | OADC  | endless
GET    | /api/events/:id                             | webhooks | events:read      | OADC  |
GET    | /api/mail-recipients                        | webhooks | mail:read        | OA    |
POST   | /api/mail-recipients                        | webhooks | mail:write       | OA    | step-up, audited
GET    | /api/mail-recipients/:id                    | webhooks | mail:read        | OA    |
PATCH  | /api/mail-recipients/:id                    | webhooks | mail:write       | OA    | step-up, audited
DELETE | /api/mail-recipients/:id                    | webhooks | mail:write       | OA    | audited
POST   | /api/mail-recipients/:id/code               | webhooks | mail:write       | OA    |
POST   | /api/mail-recipients/:id/confirm            | webhooks | mail:write       | OA    | audited
POST   | /api/mail-recipients/:id/test               | webhooks | mail:write       | OA    |
GET    | /api/payment-links                          | invoices | invoices:read    | OADCV |
POST   | /api/payment-links                          | invoices | invoices:write   | OAD   |
GET    | /api/payment-links/:id                      | invoices | invoices:read    | OADCV |
PATCH  | /api/payment-links/:id                      | invoices | invoices:write   | OAD   |
POST   | /api/payment-links/:id/deactivate           | invoices | invoices:write   | OAD   |
GET    | /api/tokens                                 | gateway  | tokens:read      | OAD   |
POST   | /api/tokens                                 | gateway  | tokens:write     | OAD   | step-up
GET    | /api/tokens/:id                             | gateway  | tokens:read      | OAD   |
DELETE | /api/tokens/:id                             | gateway  | tokens:write     | OAD   |
POST   | /api/tokens/:id/rotate                      | gateway  | tokens:write     | OAD   | step-up
POST   | /api/sandbox/payments                       | sandbox  | invoices:write   | OAD   |
GET    | /api/requests                               | gateway  | requests:read    | OAD   |
GET    | /api/audit-log                              | gateway  | audit:read       | OA    |
POST   | /api/session                                | gateway  | credentials      |       |
POST   | /api/session/passkey/options                | gateway  | credentials      |       |
POST   | /api/session/passkey                        | gateway  | credentials      |       |
POST   | /api/invitations/accept                     | gateway  | credentials      |       |
GET    | /api/me                                     | gateway  | session          | OADCV |
POST   | /api/session/step-up                        | gateway  | session          | OADCV |
POST   | /api/session/step-up/passkey/options        | gateway  | session          | OADCV |
POST   | /api/session/step-up/passkey                | gateway  | session          | OADCV |
GET    | /api/sessions                               | gateway  | session          | OADCV |
DELETE | /api/sessions                               | gateway  | session          | OADCV |
DELETE | /api/sessions/:id                           | gateway  | session          | OADCV |
PUT    | /api/me/password                            | gateway  | session          | OADCV | step-up
POST   | /api/me/totp                                | gateway  | session          | OADCV | step-up
DELETE | /api/me/totp                                | gateway  | session          | OADCV | step-up
POST   | /api/me/totp/confirm                        | gateway  | session          | OADCV | step-up
POST   | /api/me/recovery-codes                      | gateway  | session          | OADCV | step-up
GET    | /api/me/passkeys                            | gateway  | session          | OADCV |
POST   | /api/me/passkeys                            | gateway  | session          | OADCV | step-up
POST   | /api/me/passkeys/options                    | gateway  | session          | OADCV | step-up
PATCH  | /api/me/passkeys/:id                        | gateway  | session          | OADCV |
DELETE | /api/me/passkeys/:id                        | gateway  | session          | OADCV | step-up
GET    | /api/people                                 | gateway  | session          | OA    |
PATCH  | /api/people/:id                             | gateway  | session          | OA    | step-up
DELETE | /api/people/:id                             | gateway  | session          | OA    | step-up
GET    | /api/invitations                            | gateway  | session          | OA    |
POST   | /api/invitations                            | gateway  | session          | OA    | step-up
DELETE | /api/invitations/:id                        | gateway  | session          | OA    | step-up
GET    | /api/operator/chains                        | invoices | operator         |       |
GET    | /api/operator/payouts                       | payouts  | operator         |       |
GET    | /api/operator/reconciliation                | auditor  | operator         |       |
PUT    | /api/operator/pauses/:asset                 | auditor  | operator         |       | step-up, audited
DELETE | /api/operator/pauses/:asset                 | auditor  | operator         |       | step-up, audited
GET    | /api/operator/dead-letters                  | gateway  | operator         |       |
POST   | /api/operator/dead-letters/retry            | gateway  | operator         |       | step-up, audited
GET    | /api/operator/accounts                      | gateway  | operator         |       |
POST   | /api/operator/accounts                      | gateway  | operator         |       | step-up, audited
PATCH  | /api/operator/accounts/:id                  | gateway  | operator         |       | step-up, audited
POST   | /api/operator/accounts/:id/invitations      | gateway  | operator         |       | step-up, audited
GET    | /api/operator/audit-log                     | gateway  | operator         |       |
GET    | /pay/assets/:name                           | invoices | none             |       | isFile
GET    | /pay/:id                                    | invoices | none             |       |
GET    | /pay/:id/events                             | invoices | none             |       | endless
GET    | /pay/:id/choose                             | invoices | none             |       | 4096 bytes
POST   | /pay/:id/choose                             | invoices | none             |       | 4096 bytes
GET    | /link/:id                                   | invoices | none             |       | opensPayments, 4096 bytes
POST   | /link/:id                                   | invoices | none             |       | opensPayments, 4096 bytes
GET    | /claim/:token                               | payouts  | none             |       | 4096 bytes
POST   | /claim/:token                               | payouts  | none             |       | 4096 bytes
GET    | /unsubscribe/:token                         | webhooks | none             |       | 4096 bytes
POST   | /unsubscribe/:token                         | webhooks | none             |       | 4096 bytes
GET    | /.well-known/webhooks-public-keys/:id       | webhooks | none             |       | countedTogether
`;

const LETTERS: Record<Role, string> = {
  owner: 'O',
  admin: 'A',
  developer: 'D',
  accountant: 'C',
  viewer: 'V',
};

function mayAsk(role: Role, method: string, { auth, pattern }: Route): boolean {
  if (auth === 'session') return roleAllows(role, method, pattern);
  if (auth !== 'token') return false;
  const scope = scopeNeeded(method, pattern);
  return scope === ANY_TOKEN || (scope !== undefined && roleHolds(role, scope));
}

function accessOf(method: string, route: Route): string[] {
  const { auth, pattern, upstream, bodyBytesMax, methods: _, ...flags } = route;
  const people = roles.filter((role) => mayAsk(role, method, route)).map((role) => LETTERS[role]);
  const special = [
    ...Object.entries(flags).flatMap(([name, isSo]) => (isSo === true ? [name] : [])),
    ...(bodyBytesMax === undefined ? [] : [`${bodyBytesMax} bytes`]),
    ...(needsStepUp(method, route) ? ['step-up'] : []),
    ...(isAudited(method, route) ? ['audited'] : []),
  ];
  return [
    ...[method, pattern, upstream],
    String(auth === 'token' ? scopeNeeded(method, pattern) : auth),
    ...[people.join(''), special.join(', ')],
  ];
}

/** Each route by the path that leads to it, so that none hides another. */
function found(method: string, pattern: string): Route | string {
  const answer = findRoute(method, pattern.replace(/:\w+/g, 'x'));
  return answer.kind === 'route' ? answer.route : answer.kind;
}

const operations = routes.flatMap((route) => route.methods.map((method) => ({ method, route })));
const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim());

test('who may ask for what is as in the table', () => {
  const access = operations.map(({ method, route }) => accessOf(method, route));
  expect(access).toEqual(ACCESS.trim().split('\n').map(cells));
});

test('no route hides another, and HEAD is answered where GET is', () => {
  for (const { method, route } of operations) {
    expect(found(method, route.pattern)).toBe(route);
    expect(found('HEAD', route.pattern)).toBe(route.methods.includes('GET') ? route : 'wrong_verb');
    expect(found('TRACE', route.pattern)).toBe('wrong_verb');
  }
});

test('HEAD needs what GET needs', () => {
  for (const { route } of operations.filter(({ method }) => method === 'GET'))
    expect(accessOf('HEAD', route).slice(1)).toEqual(accessOf('GET', route).slice(1));
});

test('what is not in a table is allowed to nobody', () => {
  for (const operation of ['GET /api/nothing', 'DELETE /api/me', ' toString', ' constructor']) {
    const [method = '', pattern = ''] = operation.split(' ');
    expect(roles.filter((role) => roleAllows(role, method, pattern))).toEqual([]);
    expect(scopeNeeded(method, pattern)).toBeUndefined();
  }
});
