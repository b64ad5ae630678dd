/**
 * The target of a GET, as it stands in the first line of a request, and the one route that it means: the service that is asked,
 * and the target that it gets. Undefined: it is no route, and no service is asked.
 */
export type PathForm = {
  target: string;
  status: number;
  means?: `${'invoices' | 'payouts' | 'ledger'} ${string}`;
};

const nowhere = (status: number, ...targets: readonly string[]): PathForm[] =>
  targets.map((target) => ({ target, status }));

/** An id of any form: the service that is asked knows none like it. The path is passed on as it was written. */
const anId = (...ids: readonly string[]): PathForm[] =>
  ids.map((id) => ({ target: `/api/invoices/${id}`, status: 200, means: `invoices /api/invoices/${id}` }));

export const pathForms: readonly PathForm[] = [
  { target: '/api/invoices', status: 200, means: 'invoices /api/invoices' },
  { target: '/api/invoices/', status: 200, means: 'invoices /api/invoices/' },
  { target: '/api/invoices?/../payouts', status: 200, means: 'invoices /api/invoices?/../payouts' },
  { target: '/api/invoices?a=1?b=2', status: 200, means: 'invoices /api/invoices?a=1?b=2' },
  // Slashes in other writing.
  ...nowhere(404, '//api/invoices', '/api//invoices', '/api/invoices//', '///', '/api\\invoices'),
  ...nowhere(
    404,
    '/api%2finvoices',
    '/api%2Finvoices',
    '/%2fapi/invoices',
    '/api%5cinvoices',
    '/api%252finvoices',
  ),
  ...anId(
    '%2f',
    '..%2fpayouts',
    '..%2Fpayouts%2fquote',
    '..%5cpayouts',
    '..\\payouts',
    '%252e%252e%252fpayouts',
  ),
  // Dot segments.
  ...nowhere(
    404,
    '/./api/invoices',
    '/api/./invoices',
    '/x/../api/invoices',
    '/api/x/../invoices',
    '/../api/invoices',
  ),
  ...nowhere(
    404,
    '/api/invoices/../payouts',
    '/api/invoices/./x',
    '/api/invoices/x/..',
    '/docs/../api/invoices',
  ),
  ...nowhere(
    404,
    '/api/%2e%2e/api/invoices',
    '/%2e/api/invoices',
    '/api/invoices/%2e%2e/payouts',
    '/.',
    '/..',
    '/...',
  ),
  ...anId('.', '..', '...', '%2e%2e', '%2E%2e', '.%2e', '%252e%252e'),
  // Parameters, other letters, what is cut off.
  ...nowhere(
    404,
    '/api/invoices;a=1',
    '/api;/invoices',
    '/;/api/invoices',
    '/api/invoices;/',
    '/api/invoices.json',
  ),
  ...anId(';', ';a=1', 'inv_1;payouts', 'inv_1,inv_2', 'inv_1&x', 'inv_1=', '*', '@', ':id', '%20', '+'),
  ...nowhere(
    404,
    '/API/invoices',
    '/api/Invoices',
    '/api/%49nvoices',
    '/api/%69nvoices',
    '/%61pi/invoices',
    '/api/invoice',
  ),
  ...nowhere(
    404,
    '/api/invoices%20',
    '/api/invoices%09',
    '/api/invoices%0a',
    '/api/invoices%0d%0aHost:%20x',
    '/api/invoices+',
  ),
  { target: '/api/invoices#/payouts', status: 404 },
  // Null bytes, and bytes that are no UTF-8: nothing that is stored has such a name.
  ...nowhere(404, '/api/invoices%00', '/api%00/invoices', '/%00', '/api/invoices%00.json'),
  ...anId(
    '%00',
    'inv_1%00',
    '%00inv_1',
    '%0d%0aX-Quittance-Identity:%20a.b',
    '%e2%80%ae',
    '%ef%bb%bf',
    '%f0%9f%98%80',
  ),
  ...nowhere(
    404,
    '/api/invoices/%c0%af',
    '/api/invoices/%c0%ae%c0%ae',
    '/api/invoices/%e0%80%af',
    '/api%c0%afinvoices',
  ),
  ...nowhere(
    404,
    '/api/invoices/%f0%80%80%af',
    '/api/invoices/%ff',
    '/api/invoices/%ed%a0%80',
    '/api/invoices/%',
  ),
  ...nowhere(404, '/api/invoices/%2', '/api/invoices/%zz', '/api/invoices/%u002f', '/api/invoices/%%32%66'),
  // The whole URL: its host says nothing, its path is read as a browser reads it, once.
  { target: 'http://shop.example/api/invoices', status: 200, means: 'invoices /api/invoices' },
  { target: 'https://shop.example:8443/api/invoices?a=1', status: 200, means: 'invoices /api/invoices?a=1' },
  { target: 'http://user:secret@shop.example/api/invoices', status: 200, means: 'invoices /api/invoices' },
  { target: 'http://shop.example/api/invoices/../payouts', status: 200, means: 'payouts /api/payouts' },
  { target: 'http://shop.example/api/invoices/%2e%2e/payouts', status: 200, means: 'payouts /api/payouts' },
  { target: 'http://shop.example/api\\payouts', status: 200, means: 'payouts /api/payouts' },
  { target: 'http://shop.example/api/invoices#/payouts', status: 200, means: 'invoices /api/invoices' },
  {
    target: 'http://shop.example/api/invoices/..%2fpayouts',
    status: 200,
    means: 'invoices /api/invoices/..%2fpayouts',
  },
  { target: 'http://payouts:3002/internal/holds', status: 404 },
  ...nowhere(404, 'http://shop.example', 'http://shop.example/', 'http://shop.example//api/invoices'),
  ...nowhere(404, 'file:///etc/passwd', 'http://shop.example/api%2finvoices'),
  // Another form of target: of a proxy, of a server as a whole.
  ...nowhere(404, '*'),
  ...nowhere(
    400,
    'javascript:alert(1)',
    '\\api\\invoices',
    'shop.example:443',
    'api/invoices',
    'invoices',
    '?page=1',
    '#',
  ),
  // What the services serve beside the API is not reachable.
  ...nowhere(404, '/metrics', '/internal/books', '/api/../metrics', '/internal', '/api/internal', '/api'),
];
