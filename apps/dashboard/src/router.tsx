import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router';
import { BrokenPage, NoPage } from './layout/no-page.tsx';
import { Shell } from './layout/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NoPage, errorComponent: BrokenPage });

/** Each page is a file of its own, which is loaded when somebody goes there. */
const pages = {
  '/': () => import('./pages/home/home.tsx'),
  '/invoices': () => import('./pages/invoices/invoices.tsx'),
  '/invoices/new': () => import('./pages/invoices/new-invoice.tsx'),
  '/invoices/$id': () => import('./pages/invoices/invoice.tsx'),
  '/payment-links': () => import('./pages/payment-links/payment-links.tsx'),
  '/payment-links/$id': () => import('./pages/payment-links/payment-link.tsx'),
  '/refunds': () => import('./pages/refunds/refunds.tsx'),
  '/unresolved': () => import('./pages/unresolved/unresolved-list.tsx'),
  '/unresolved/$id': () => import('./pages/unresolved/unresolved.tsx'),
  '/payouts': () => import('./pages/payouts/payouts.tsx'),
  '/payouts/new': () => import('./pages/payouts/new-payout.tsx'),
  '/payouts/$id': () => import('./pages/payouts/payout.tsx'),
  '/payout-batches': () => import('./pages/payouts/batches.tsx'),
  '/payout-batches/new': () => import('./pages/payouts/new-batch.tsx'),
  '/payout-batches/$id': () => import('./pages/payouts/batch.tsx'),
  '/automatic-payouts': () => import('./pages/payouts/automatic-payouts.tsx'),
  '/address-book': () => import('./pages/payouts/address-book.tsx'),
  '/payout-policy': () => import('./pages/payouts/payout-policy.tsx'),
  '/balances': () => import('./pages/books/balances.tsx'),
  '/balance-transactions': () => import('./pages/books/balance-transactions.tsx'),
  '/statements': () => import('./pages/books/statements.tsx'),
  '/tokens': () => import('./pages/developers/tokens.tsx'),
  '/webhooks': () => import('./pages/developers/webhooks.tsx'),
  '/webhooks/$id': () => import('./pages/developers/webhook.tsx'),
  '/events': () => import('./pages/developers/events.tsx'),
  '/requests': () => import('./pages/developers/requests.tsx'),
  '/shop': () => import('./pages/settings/shop.tsx'),
  '/notifications': () => import('./pages/settings/notifications.tsx'),
  '/people': () => import('./pages/settings/people.tsx'),
  '/audit-log': () => import('./pages/settings/audit-log.tsx'),
  '/security': () => import('./pages/settings/security.tsx'),
  '/operator/chains': () => import('./pages/operator/chains.tsx'),
  '/operator/money': () => import('./pages/operator/money.tsx'),
  '/operator/reconciliation': () => import('./pages/operator/reconciliation.tsx'),
  '/operator/dead-letters': () => import('./pages/operator/dead-letters.tsx'),
  '/operator/accounts': () => import('./pages/operator/accounts.tsx'),
  '/operator/audit-log': () => import('./pages/operator/audit-log.tsx'),
} as const;

const routes = Object.entries(pages).map(([path, load]) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load, 'RoutePage'),
    // Filters are texts, and each page says which it knows.
    validateSearch: (search: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)])),
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/dashboard',
  defaultPreload: 'intent',
  // What was begun on the page of one invoice must not go on with another one: its address is that of another page.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
  parseSearch: parseSearchWith((text) => text),
  stringifySearch: stringifySearchWith((value) => String(value)),
});
