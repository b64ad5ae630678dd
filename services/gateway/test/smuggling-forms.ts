/**
 * Bytes of one connection in which two servers may see different requests. `asked`: what services are asked, each with the
 * account (A or B) that the gateway has signed, in any order. `statuses`: of each answer.
 */
export type SmuggledRequests = {
  what: string;
  bytes: string;
  statuses: readonly number[];
  asked: readonly string[];
};

const NONE = [] as const;
const lines = (...all: readonly string[]): string => all.map((line) => `${line}\r\n`).join('');
/**
 * @param tokenA the Authorization header of account A
 * @param tokenB of account B
 */
export function smugglingForms(tokenA: string, tokenB: string): readonly SmuggledRequests[] {
  const post = (...headers: readonly string[]): string =>
    lines('POST /api/payouts HTTP/1.1', 'Host: shop.example', tokenA, ...headers, '');
  /** What an attacker wants to be taken for a request of its own, by account B's next bytes on the connection. */
  const hidden = `${lines('POST /api/payouts HTTP/1.1', 'Host: shop.example', tokenB, 'Content-Length: 2', '')}{}`;
  const last = (path: string, header: string): string =>
    lines(`GET ${path} HTTP/1.1`, 'Host: shop.example', header, 'Connection: close', '');

  /** Refused with 400, and the connection ends: nothing of it reaches a service. */
  const refused = (what: string, bytes: string, status = 400): SmuggledRequests => ({
    what,
    bytes: bytes + hidden,
    statuses: [status],
    asked: NONE,
  });

  const withHeader = (name: string, ...headers: readonly string[]): SmuggledRequests =>
    refused(name, `${post(...headers)}0\r\n\r\n`);

  return [
    // Two lengths of one body.
    withHeader('CL.TE', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    withHeader('TE.CL', 'Transfer-Encoding: chunked', 'Content-Length: 5'),
    withHeader('TE.CL with a length of nothing', 'Transfer-Encoding: chunked', 'Content-Length: 0'),
    withHeader('two lengths that differ', 'Content-Length: 5', 'Content-Length: 6'),
    withHeader('two lengths that agree', 'Content-Length: 5', 'Content-Length: 5'),
    withHeader('two lengths in one header', 'Content-Length: 5, 5'),
    withHeader('two lengths in one header that differ', 'Content-Length: 5, 6'),
    withHeader('a length with a sign', 'Content-Length: +5'),
    withHeader('a length below nothing', 'Content-Length: -5'),
    withHeader('a length in hexadecimal', 'Content-Length: 0x5'),
    withHeader('a length with an exponent', 'Content-Length: 5e0'),
    withHeader('a length with a fraction', 'Content-Length: 5.0'),
    withHeader('a length with a space in it', 'Content-Length: 5 0'),
    withHeader('a length that is no number', 'Content-Length: five'),
    withHeader('a length of nothing at all', 'Content-Length:'),
    withHeader('a length beyond 64 bits', 'Content-Length: 18446744073709551621'),
    // Names of encodings.
    withHeader('an encoding that begins otherwise', 'Transfer-Encoding: xchunked'),
    withHeader('an encoding that ends otherwise', 'Transfer-Encoding: chunkedx'),
    withHeader('an encoding in quotes', 'Transfer-Encoding: "chunked"'),
    withHeader('chunked is not the last encoding', 'Transfer-Encoding: chunked, identity'),
    withHeader('chunked twice', 'Transfer-Encoding: chunked, chunked'),
    withHeader('another encoding alone', 'Transfer-Encoding: identity'),
    withHeader('two headers of encodings', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
    withHeader('an encoding after a vertical tab', 'Transfer-Encoding: \x0bchunked'),
    withHeader('an encoding with a null byte', 'Transfer-Encoding: chunked\0'),
    // Where a header ends, and its name.
    withHeader('a space before the colon', 'Content-Length : 5'),
    withHeader('a space before the colon of an encoding', 'Transfer-Encoding : chunked'),
    withHeader('a tab before the colon', 'Transfer-Encoding\t: chunked'),
    withHeader('a null byte in a name', 'Content-Length\0: 5'),
    withHeader('a header without a name', ': 5'),
    withHeader('a header without a colon', 'Content-Length 5'),
    withHeader('a folded header (obs-fold)', 'X-One: 1', ' Transfer-Encoding: chunked'),
    withHeader('a folded header by a tab', 'X-One: 1', '\tContent-Length: 5'),
    withHeader('a folded encoding', 'Transfer-Encoding:', ' chunked'),
    withHeader('a bare CR within a header', 'X-One: 1\rContent-Length: 5'),
    withHeader('a bare LF within a header', 'X-One: 1\nContent-Length: 5'),
    withHeader('a first header that is folded', ' Content-Length: 5'),
    refused('lines that end with a bare LF', post('Content-Length: 5').replaceAll('\r\n', '\n')),
    refused('lines that end with a bare CR', post('Content-Length: 5').replaceAll('\r\n', '\r')),
    refused('a bare LF after the headers', `${lines('GET /api/assets HTTP/1.1', 'Host: x', tokenA)}\n`),
    // The first line.
    refused('a version that is none', lines('GET /api/assets HTTP/1.2.3', 'Host: x', tokenA, '')),
    refused('a version of another protocol', lines('GET /api/assets HTTP/2.0', 'Host: x', tokenA, '')),
    refused('no version', lines('GET /api/assets', 'Host: x', tokenA, '')),
    refused('a space in the path', lines('GET /api/assets /api/payouts HTTP/1.1', 'Host: x', tokenA, '')),
    refused('a method in small letters', lines('get /api/assets HTTP/1.1', 'Host: x', tokenA, '')),
    refused('a method that nobody knows', lines('PAY /api/assets HTTP/1.1', 'Host: x', tokenA, '')),
    refused('the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    refused('no Host', lines('GET /api/assets HTTP/1.1', tokenA, 'Connection: close', '')),
    // Chunks.
    refused('a size of a chunk that is no number', `${post('Transfer-Encoding: chunked')}x\r\n\r\n`),
    refused('a size of a chunk with 0x', `${post('Transfer-Encoding: chunked')}0x2\r\n{}\r\n0\r\n\r\n`),
    refused('a size of a chunk with a sign', `${post('Transfer-Encoding: chunked')}+2\r\n{}\r\n0\r\n\r\n`),
    refused('a size of a chunk below nothing', `${post('Transfer-Encoding: chunked')}-2\r\n{}\r\n0\r\n\r\n`),
    refused(
      'a size beyond 64 bits',
      `${post('Transfer-Encoding: chunked')}10000000000000002\r\n{}\r\n0\r\n\r\n`,
    ),
    refused(
      'a chunk that is longer than its size',
      `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`,
    ),
    refused('a size that ends with a bare LF', `${post('Transfer-Encoding: chunked')}2\n{}\r\n0\r\n\r\n`),
    refused('a chunk that ends with a bare LF', `${post('Transfer-Encoding: chunked')}2\r\n{}\n0\r\n\r\n`),
    refused('an extension with a bare LF', `${post('Transfer-Encoding: chunked')}2;a\nb\r\n{}\r\n0\r\n\r\n`),
    refused(
      'extensions of 20 kB',
      `${post('Transfer-Encoding: chunked')}2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      413,
    ),
    refused(
      'a length after the chunks',
      `${post('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n`,
    ),
    // What is right, and means one thing.
    {
      what: 'chunks with extensions',
      bytes: `${post('Transfer-Encoding: chunked')}1;a=b;c="d"\r\n{\r\n1;e\r\n}\r\n0;f\r\n\r\n${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: ['A POST /api/payouts {}', 'B GET /api/assets '],
    },
    {
      what: 'a trailer, which is no header',
      bytes: `${post('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\nX-Quittance-Identity: a.b\r\n\r\n${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: ['A POST /api/payouts {}', 'B GET /api/assets '],
    },
    {
      what: 'an encoding in capitals',
      bytes: `${post('TRANSFER-ENCODING: CHUNKED')}2\r\n{}\r\n0\r\n\r\n${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: ['A POST /api/payouts {}', 'B GET /api/assets '],
    },
    {
      what: 'a length with zeros before it',
      bytes: `${post('Content-Length: 0002')}{}${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: ['A POST /api/payouts {}', 'B GET /api/assets '],
    },
    {
      what: 'a whole request in a body',
      bytes: `${post(`Content-Length: ${last('/api/balances', tokenB).length}`)}${last('/api/balances', tokenB)}${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: [`A POST /api/payouts ${last('/api/balances', tokenB)}`, 'B GET /api/assets '],
    },
    {
      what: 'a second request of another account on the connection',
      bytes: `${post('Content-Length: 2')}{}${last('/api/balances', tokenB)}`,
      statuses: [200, 200],
      asked: ['A POST /api/payouts {}', 'B GET /api/balances '],
    },
    {
      what: 'a second request without a token on the connection',
      bytes: `${post('Content-Length: 2')}{}${last('/api/balances', 'X-One: 1')}`,
      statuses: [200, 401],
      asked: ['A POST /api/payouts {}'],
    },
    {
      what: 'a body of a request that is refused is no request',
      bytes: `${post(`Content-Length: ${hidden.length}`).replace(tokenA, 'X-One: 1')}${hidden}${last('/api/assets', tokenB)}`,
      statuses: [401, 200],
      asked: ['B GET /api/assets '],
    },
    {
      what: 'the body of a GET is no request',
      bytes: `${lines('GET /api/invoices HTTP/1.1', 'Host: x', tokenA, `Content-Length: ${hidden.length}`, '')}${hidden}${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: [`A GET /api/invoices ${hidden}`, 'B GET /api/assets '],
    },
    {
      what: 'the body of a DELETE is no request',
      bytes: `${lines('DELETE /api/webhooks/whe_1 HTTP/1.1', 'Host: x', tokenA, `Content-Length: ${hidden.length}`, '')}${hidden}${last('/api/assets', tokenB)}`,
      statuses: [200, 200],
      asked: [`A DELETE /api/webhooks/whe_1 ${hidden}`, 'B GET /api/assets '],
    },
    {
      what: 'two tokens, which are none',
      bytes: lines('GET /api/assets HTTP/1.1', 'Host: x', tokenA, tokenB, 'Connection: close', ''),
      statuses: [401],
      asked: NONE,
    },
  ];
}
