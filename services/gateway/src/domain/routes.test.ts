import { expect, test } from '@jest/globals';
import { findRoute } from './routes.ts';

/** Which routes there are, and who answers them, is in access.test.ts. */
test.each([
  ['DELETE', '/api/invoices', ['GET', 'HEAD', 'POST']],
  ['OPTIONS', '/api/invoices', ['GET', 'HEAD', 'POST']],
  ['POST', '/api/invoices/inv_1', ['GET', 'HEAD']],
  ['PUT', '/api/assets', ['GET', 'HEAD']],
  ['POST', '/api/unresolved', ['GET', 'HEAD']],
  ['GET', '/api/unresolved/dep_1/accept', ['POST']],
  ['POST', '/pay/inv_1', ['GET', 'HEAD']],
  ['DELETE', '/claim/token', ['GET', 'HEAD', 'POST']],
  ['PUT', '/api/webhooks/whe_1', ['GET', 'HEAD', 'PATCH', 'DELETE']],
  ['OPTIONS', '/api/payment-links', ['GET', 'HEAD', 'POST']],
  ['OPTIONS', '/api/payment-links/plink_1', ['GET', 'HEAD', 'PATCH']],
  ['OPTIONS', '/api/automatic-payouts/ETH', ['PUT', 'DELETE']],
  ['OPTIONS', '/pay/inv_1/choose', ['GET', 'HEAD', 'POST']],
])('%s %s is a wrong verb', (method, path, allowed) => {
  expect(findRoute(method, path)).toEqual({ kind: 'wrong_verb', allowed });
});

/** Other ways to write a path are in path-forms.ts. */
test.each([
  '/api/',
  '/api/invoicesx',
  '/api/invoices/inv_1/payments',
  '/api/unresolved/dep_1/amount',
  '/api/unresolved//accept',
  '/api/invoices\n',
  '/pay/%ff',
])('%j is no route', (path) => {
  expect(findRoute('GET', path)).toEqual({ kind: 'unknown' });
});
