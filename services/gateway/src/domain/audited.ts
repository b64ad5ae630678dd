import { operationOf, type Route } from './routes.ts';
import type { scopeOfOperation } from './scopes.ts';

/**
 * Operations that change where an account's money and messages go, and who decides it. Each is in the audit log before a
 * service hears of it. What is done to tokens writes its own entries.
 */
const audited: ReadonlySet<string> = new Set([
  'PUT /api/payout-policy',
  'POST /api/address-book',
  'DELETE /api/address-book/:id',
  'POST /api/payouts/:id/approve',
  'POST /api/payouts/:id/reject',
  'PUT /api/automatic-payouts/:asset',
  'DELETE /api/automatic-payouts/:asset',
  'POST /api/webhooks',
  'PATCH /api/webhooks/:id',
  'DELETE /api/webhooks/:id',
  'POST /api/webhooks/:id/enable',
  'POST /api/webhooks/:id/disable',
  'POST /api/webhooks/:id/rotate',
  'POST /api/mail-recipients',
  'PATCH /api/mail-recipients/:id',
  'DELETE /api/mail-recipients/:id',
  'POST /api/mail-recipients/:id/confirm',
  'PATCH /api/invoice-settings',
] as const satisfies readonly (keyof typeof scopeOfOperation)[]);

export const changes = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

/** What operators change is in it without a table. */
export const isAudited = (method: string, { auth, pattern }: Pick<Route, 'auth' | 'pattern'>): boolean =>
  auth === 'operator' ? changes(method) : audited.has(operationOf(method, pattern));
