import { expect, test } from '@jest/globals';
import { findRoute } from './routes.ts';

test.each([
  ['GET', '/api/invoices', 'invoices'],
  ['HEAD', '/api/invoices', 'invoices'],
  ['POST', '/api/invoices', 'invoices'],
  ['GET', '/api/invoices/inv_1', 'invoices'],
  ['POST', '/api/invoices/inv_1/cancel', 'invoices'],
  ['GET', '/api/volume', 'invoices'],
  ['GET', '/api/requests', 'gateway'],
  ['GET', '/api/audit-log', 'gateway'],
  ['GET', '/api/invoice-settings', 'invoices'],
  ['PATCH', '/api/invoice-settings', 'invoices'],
  ['POST', '/api/invoices/inv_1/refunds', 'payouts'],
  ['GET', '/api/refunds', 'payouts'],
  ['GET', '/api/refunds/ref_1', 'payouts'],
  ['POST', '/api/refunds/ref_1/cancel', 'payouts'],
  ['GET', '/claim/token', 'payouts'],
  ['POST', '/pay/inv_1/choose', 'invoices'],
  ['POST', '/link/plink_1', 'invoices'],
  ['POST', '/api/payment-links/plink_1/deactivate', 'invoices'],
  ['PATCH', '/api/payment-links/plink_1', 'invoices'],
  ['POST', '/claim/token', 'payouts'],
  ['GET', '/api/payouts', 'payouts'],
  ['POST', '/api/payouts', 'payouts'],
  ['GET', '/api/payouts/7', 'payouts'],
  ['POST', '/api/payouts/7/cancel', 'payouts'],
  ['POST', '/api/payouts/7/approve', 'payouts'],
  ['POST', '/api/payouts/7/reject', 'payouts'],
  ['PUT', '/api/payout-policy', 'payouts'],
  ['POST', '/api/address-book', 'payouts'],
  ['DELETE', '/api/address-book/adr_1', 'payouts'],
  ['POST', '/api/payout-batches', 'payouts'],
  ['GET', '/api/payout-batches', 'payouts'],
  ['GET', '/api/payout-batches/pba_1', 'payouts'],
  ['GET', '/api/automatic-payouts', 'payouts'],
  ['PUT', '/api/automatic-payouts/ETH', 'payouts'],
  ['GET', '/api/balances', 'ledger'],
  ['GET', '/api/assets', 'ledger'],
  ['GET', '/api/unresolved', 'ledger'],
  ['GET', '/api/unresolved/dep_1', 'ledger'],
  ['POST', '/api/unresolved/dep_1/accept', 'ledger'],
  ['POST', '/api/unresolved/dep_1/return', 'payouts'],
  ['GET', '/api/webhooks', 'webhooks'],
  ['POST', '/api/webhooks', 'webhooks'],
  ['DELETE', '/api/webhooks/whe_1', 'webhooks'],
  ['POST', '/api/webhooks/whe_1/enable', 'webhooks'],
  ['POST', '/api/webhooks/whe_1/disable', 'webhooks'],
  ['POST', '/api/webhooks/whe_1/rotate', 'webhooks'],
  ['POST', '/api/webhooks/whe_1/test', 'webhooks'],
  ['POST', '/api/webhooks/whe_1/replay', 'webhooks'],
  ['GET', '/api/webhooks/whe_1/deliveries', 'webhooks'],
  ['GET', '/api/deliveries/dlv_1', 'webhooks'],
  ['POST', '/api/deliveries/dlv_1/redeliver', 'webhooks'],
  ['GET', '/api/events', 'webhooks'],
  ['GET', '/api/events/evt_1', 'webhooks'],
  ['GET', '/api/events/stream', 'webhooks'],
  ['POST', '/api/mail-recipients', 'webhooks'],
  ['PATCH', '/api/mail-recipients/mrc_1', 'webhooks'],
  ['POST', '/api/mail-recipients/mrc_1/confirm', 'webhooks'],
  ['POST', '/unsubscribe/token', 'webhooks'],
  ['GET', '/pay/inv_1', 'invoices'],
  ['GET', '/.well-known/webhooks-public-keys/whe_1', 'webhooks'],
  ['HEAD', '/pay/inv_1', 'invoices'],
])('%s %s goes to %s', (method, path, upstream) => {
  expect(findRoute(method, path)).toMatchObject({ kind: 'route', route: { upstream } });
});

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

test('only the pages of customers, and the link that stops e-mails, are open to anybody', () => {
  const paths = [
    '/api/invoices',
    '/api/payouts/1',
    '/api/refunds/1',
    '/api/events',
    '/pay/inv_1',
    '/claim/x',
    '/link/x',
    '/api/payment-links/x',
    '/api/mail-recipients/x',
    '/unsubscribe/x',
  ];
  const open = paths.filter((path) => {
    const found = findRoute('GET', path);
    return found.kind === 'route' && found.route.auth === 'none';
  });
  expect(open).toEqual(['/pay/inv_1', '/claim/x', '/link/x', '/unsubscribe/x']);
});

test('the forms of our pages are short, and what anybody may ask for is counted', () => {
  const routeOf = (path: string) => findRoute('GET', path);
  for (const path of ['/pay/inv_1/choose', '/link/plink_1', '/claim/token', '/unsubscribe/token'])
    expect(routeOf(path)).toMatchObject({ route: { bodyBytesMax: 4_096 } });
  expect(routeOf('/link/plink_1')).toMatchObject({ route: { opensPayments: true } });
  const keys = '/.well-known/webhooks-public-keys/whe_1';
  expect(routeOf(keys)).toMatchObject({ route: { countedTogether: true } });
});

test('only the stream of events has an answer without an end', () => {
  const endless = ['/api/events', '/api/events/stream', '/api/events/streams'].filter((path) => {
    const found = findRoute('GET', path);
    return found.kind === 'route' && found.route.endless === true;
  });
  expect(endless).toEqual(['/api/events/stream']);
});
