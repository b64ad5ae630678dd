/** `sandbox`: the process that pays with test money, which there is in a sandbox alone. */
export type Upstream = 'invoices' | 'payouts' | 'ledger' | 'webhooks' | 'auditor' | 'sandbox';

export type Route = {
  /** HEAD is answered wherever GET is, and need not be named. */
  methods: readonly string[];
  /** `:id` stands for one part of a path. */
  pattern: string;
  /** Who answers it: a service, or the gateway itself. */
  upstream: Upstream | 'gateway';
  /**
   * What it takes to be let through: an API token or a session, a session alone, the session of an operator, what signs in with the
   * body, or nothing at all.
   */
  auth: 'token' | 'session' | 'operator' | 'credentials' | 'none';
  /** Without a token: any path of it exists, so a client's requests for all of them are counted together. */
  countedTogether?: true;
  /**
   * The same file for everybody, from memory: requests for one that there is are not counted, and pages that need it do not limit
   * each other. Others count as unknown pages.
   */
  isFile?: true;
  /** Its answer goes on until somebody ends it. */
  endless?: true;
  /** Bodies are larger elsewhere: see `BODY_BYTES_MAX`. */
  bodyBytesMax?: number;
  /** A POST creates an invoice for whoever sends it: it has limits of its own. */
  opensPayments?: true;
};

/** The name of an operation in the tables of who may ask for it and who answers. HEAD is what GET is. */
export const operationOf = (method: string, pattern: string): string =>
  `${method === 'HEAD' ? 'GET' : method} ${pattern}`;

/** The fields of the forms of our pages are short. */
const FORM_BYTES_MAX = 4_096;

/** For the console of operators. */
const operatorRoutes = (
  [
    [['GET'], 'chains', 'invoices'],
    [['GET'], 'payouts', 'payouts'],
    [['GET'], 'reconciliation', 'auditor'],
    [['PUT', 'DELETE'], 'pauses/:asset', 'auditor'],
    [['GET'], 'dead-letters', 'gateway'],
    [['POST'], 'dead-letters/retry', 'gateway'],
    [['GET', 'POST'], 'accounts', 'gateway'],
    [['PATCH'], 'accounts/:id', 'gateway'],
    [['POST'], 'accounts/:id/invitations', 'gateway'],
    [['GET'], 'audit-log', 'gateway'],
  ] as const
).map(([methods, path, upstream]): Route => {
  return { methods, pattern: `/api/operator/${path}`, upstream, auth: 'operator' };
});

/** Everything that can be reached from outside, and who answers it. */
export const routes: readonly Route[] = [
  { methods: ['GET', 'POST'], pattern: '/api/invoices', upstream: 'invoices', auth: 'token' },
  { methods: ['GET'], pattern: '/api/invoices/:id', upstream: 'invoices', auth: 'token' },
  { methods: ['POST'], pattern: '/api/invoices/:id/cancel', upstream: 'invoices', auth: 'token' },
  { methods: ['GET', 'PATCH'], pattern: '/api/invoice-settings', upstream: 'invoices', auth: 'token' },
  { methods: ['GET'], pattern: '/api/volume', upstream: 'invoices', auth: 'token' },
  { methods: ['POST'], pattern: '/api/invoices/:id/refunds', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/refunds', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/refunds/:id', upstream: 'payouts', auth: 'token' },
  { methods: ['POST'], pattern: '/api/refunds/:id/cancel', upstream: 'payouts', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/payouts', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/payouts/quote', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/payouts/:id', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/payouts/:id/attempts', upstream: 'payouts', auth: 'token' },
  { methods: ['POST'], pattern: '/api/payouts/:id/cancel', upstream: 'payouts', auth: 'token' },
  { methods: ['POST'], pattern: '/api/payouts/:id/approve', upstream: 'payouts', auth: 'token' },
  { methods: ['POST'], pattern: '/api/payouts/:id/reject', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/halted-assets', upstream: 'payouts', auth: 'token' },
  { methods: ['GET', 'PUT'], pattern: '/api/payout-policy', upstream: 'payouts', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/address-book', upstream: 'payouts', auth: 'token' },
  { methods: ['DELETE'], pattern: '/api/address-book/:id', upstream: 'payouts', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/payout-batches', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/payout-batches/:id', upstream: 'payouts', auth: 'token' },
  { methods: ['GET'], pattern: '/api/automatic-payouts', upstream: 'payouts', auth: 'token' },
  {
    methods: ['PUT', 'DELETE'],
    pattern: '/api/automatic-payouts/:asset',
    upstream: 'payouts',
    auth: 'token',
  },
  { methods: ['GET'], pattern: '/api/balances', upstream: 'ledger', auth: 'token' },
  { methods: ['GET'], pattern: '/api/balance-transactions', upstream: 'ledger', auth: 'token' },
  { methods: ['GET'], pattern: '/api/statements', upstream: 'ledger', auth: 'token' },
  { methods: ['GET'], pattern: '/api/assets', upstream: 'ledger', auth: 'token' },
  { methods: ['GET'], pattern: '/api/unresolved', upstream: 'ledger', auth: 'token' },
  { methods: ['GET'], pattern: '/api/unresolved/:id', upstream: 'ledger', auth: 'token' },
  { methods: ['POST'], pattern: '/api/unresolved/:id/accept', upstream: 'ledger', auth: 'token' },
  { methods: ['POST'], pattern: '/api/unresolved/:id/return', upstream: 'payouts', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/webhooks', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET', 'PATCH', 'DELETE'], pattern: '/api/webhooks/:id', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/webhooks/:id/enable', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/webhooks/:id/disable', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/webhooks/:id/rotate', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/webhooks/:id/test', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/webhooks/:id/replay', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET'], pattern: '/api/webhooks/:id/deliveries', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET'], pattern: '/api/deliveries/:id', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/deliveries/:id/redeliver', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET'], pattern: '/api/events', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET'], pattern: '/api/events/stream', upstream: 'webhooks', auth: 'token', endless: true },
  { methods: ['GET'], pattern: '/api/events/:id', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/mail-recipients', upstream: 'webhooks', auth: 'token' },
  {
    methods: ['GET', 'PATCH', 'DELETE'],
    pattern: '/api/mail-recipients/:id',
    upstream: 'webhooks',
    auth: 'token',
  },
  { methods: ['POST'], pattern: '/api/mail-recipients/:id/code', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/mail-recipients/:id/confirm', upstream: 'webhooks', auth: 'token' },
  { methods: ['POST'], pattern: '/api/mail-recipients/:id/test', upstream: 'webhooks', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/payment-links', upstream: 'invoices', auth: 'token' },
  { methods: ['GET', 'PATCH'], pattern: '/api/payment-links/:id', upstream: 'invoices', auth: 'token' },
  { methods: ['POST'], pattern: '/api/payment-links/:id/deactivate', upstream: 'invoices', auth: 'token' },
  { methods: ['GET', 'POST'], pattern: '/api/tokens', upstream: 'gateway', auth: 'token' },
  { methods: ['GET', 'DELETE'], pattern: '/api/tokens/:id', upstream: 'gateway', auth: 'token' },
  { methods: ['POST'], pattern: '/api/tokens/:id/rotate', upstream: 'gateway', auth: 'token' },
  { methods: ['POST'], pattern: '/api/sandbox/payments', upstream: 'sandbox', auth: 'token' },
  { methods: ['GET'], pattern: '/api/requests', upstream: 'gateway', auth: 'token' },
  { methods: ['GET'], pattern: '/api/audit-log', upstream: 'gateway', auth: 'token' },
  { methods: ['POST'], pattern: '/api/session', upstream: 'gateway', auth: 'credentials' },
  {
    methods: ['POST'],
    pattern: '/api/session/passkey/options',
    upstream: 'gateway',
    auth: 'credentials',
  },
  { methods: ['POST'], pattern: '/api/session/passkey', upstream: 'gateway', auth: 'credentials' },
  { methods: ['POST'], pattern: '/api/invitations/accept', upstream: 'gateway', auth: 'credentials' },
  { methods: ['GET'], pattern: '/api/me', upstream: 'gateway', auth: 'session' },
  { methods: ['POST'], pattern: '/api/session/step-up', upstream: 'gateway', auth: 'session' },
  {
    methods: ['POST'],
    pattern: '/api/session/step-up/passkey/options',
    upstream: 'gateway',
    auth: 'session',
  },
  { methods: ['POST'], pattern: '/api/session/step-up/passkey', upstream: 'gateway', auth: 'session' },
  { methods: ['GET', 'DELETE'], pattern: '/api/sessions', upstream: 'gateway', auth: 'session' },
  { methods: ['DELETE'], pattern: '/api/sessions/:id', upstream: 'gateway', auth: 'session' },
  { methods: ['PUT'], pattern: '/api/me/password', upstream: 'gateway', auth: 'session' },
  { methods: ['POST', 'DELETE'], pattern: '/api/me/totp', upstream: 'gateway', auth: 'session' },
  { methods: ['POST'], pattern: '/api/me/totp/confirm', upstream: 'gateway', auth: 'session' },
  { methods: ['POST'], pattern: '/api/me/recovery-codes', upstream: 'gateway', auth: 'session' },
  { methods: ['GET', 'POST'], pattern: '/api/me/passkeys', upstream: 'gateway', auth: 'session' },
  { methods: ['POST'], pattern: '/api/me/passkeys/options', upstream: 'gateway', auth: 'session' },
  { methods: ['PATCH', 'DELETE'], pattern: '/api/me/passkeys/:id', upstream: 'gateway', auth: 'session' },
  { methods: ['GET'], pattern: '/api/people', upstream: 'gateway', auth: 'session' },
  { methods: ['PATCH', 'DELETE'], pattern: '/api/people/:id', upstream: 'gateway', auth: 'session' },
  { methods: ['GET', 'POST'], pattern: '/api/invitations', upstream: 'gateway', auth: 'session' },
  { methods: ['DELETE'], pattern: '/api/invitations/:id', upstream: 'gateway', auth: 'session' },
  ...operatorRoutes,
  { methods: ['GET'], pattern: '/pay/assets/:name', upstream: 'invoices', auth: 'none', isFile: true },
  { methods: ['GET'], pattern: '/pay/:id', upstream: 'invoices', auth: 'none' },
  { methods: ['GET'], pattern: '/pay/:id/events', upstream: 'invoices', auth: 'none', endless: true },
  {
    methods: ['GET', 'POST'],
    pattern: '/pay/:id/choose',
    upstream: 'invoices',
    auth: 'none',
    bodyBytesMax: FORM_BYTES_MAX,
  },
  {
    methods: ['GET', 'POST'],
    pattern: '/link/:id',
    upstream: 'invoices',
    auth: 'none',
    bodyBytesMax: FORM_BYTES_MAX,
    opensPayments: true,
  },
  {
    methods: ['GET', 'POST'],
    pattern: '/claim/:token',
    upstream: 'payouts',
    auth: 'none',
    bodyBytesMax: FORM_BYTES_MAX,
  },
  {
    methods: ['GET', 'POST'],
    pattern: '/unsubscribe/:token',
    upstream: 'webhooks',
    auth: 'none',
    bodyBytesMax: FORM_BYTES_MAX,
  },
  {
    methods: ['GET'],
    pattern: '/.well-known/webhooks-public-keys/:id',
    upstream: 'webhooks',
    auth: 'none',
    countedTogether: true,
  },
];

export type Found =
  | { kind: 'route'; route: Route }
  | { kind: 'wrong_verb'; allowed: readonly string[] }
  | { kind: 'unknown' };

const compiled = routes.map((route) => ({
  route,
  // A slash at the end changes nothing, as in Laravel.
  pattern: new RegExp(`^${route.pattern.replace(/:\w+/g, '[^/]+')}/?$`),
  allowed: route.methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
}));

/** Which route a request takes; `path` comes without its query. */
export function findRoute(method: string, path: string): Found {
  const found = isDecodable(path) ? compiled.find(({ pattern }) => pattern.test(path)) : undefined;
  if (found === undefined) return { kind: 'unknown' };
  const { route, allowed } = found;
  return allowed.includes(method) ? { kind: 'route', route } : { kind: 'wrong_verb', allowed };
}

/** A part of a path that cannot be decoded names nothing there is. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
