import { connect } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { isBodyOf } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { identityOf } from '@quittance/testkit/api';
import { bytesOf, openGatewayPerTest, sendRaw, signedFor } from './gateway-fixture.ts';

const at = await openGatewayPerTest();
const { shop, startedBeside, bytes, ask } = at;
const ofOther = identityOf('acc_other' as AccountId, { method: 'GET', path: '/api/balances' });

describe('a request', () => {
  test('goes on with its path, query and body as they came', async () => {
    const body = '{"amount":1.000000000000000001, "x":"é\u0000"}';
    const path = '/api/invoices?a=1&b=%20x&a=2&c';
    await ask('POST', path, ['Content-Type: application/json', 'Idempotency-Key: k1'], body);
    expect(at.upstream.asked).toMatchObject([
      {
        method: 'POST',
        path,
        body,
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k1' },
      },
    ]);
  });

  test('goes on in bytes: nothing is decompressed', async () => {
    const zipped = gzipSync('{"a":1}');
    const head = bytes('POST', '/api/invoices', [
      'Content-Encoding: gzip',
      `Content-Length: ${zipped.length}`,
    ]);
    at.upstream.answer((res) => {
      res.setHeader('Content-Encoding', 'gzip');
      res.end(gzipSync('{"b":2}'));
    });
    const answer = await new Promise<Buffer>((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(at.gateway.port, '127.0.0.1', () =>
        socket.write(Buffer.concat([Buffer.from(head), zipped])),
      );
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('close', () => resolve(Buffer.concat(chunks)));
    });
    expect(at.upstream.asked).toMatchObject([{ headers: { 'content-encoding': 'gzip' } }]);
    expect(gunzipSync(answer.subarray(answer.indexOf('\r\n\r\n') + 4)).toString()).toBe('{"b":2}');
  });

  test('in chunks goes on with a length', async () => {
    const head = bytes('POST', '/api/payouts', ['Transfer-Encoding: chunked']);
    await sendRaw(at.gateway.port, `${head}3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n`);
    expect(at.upstream.asked).toMatchObject([{ body: 'abcdefg', headers: { 'content-length': '7' } }]);
    expect(at.upstream.asked[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('that is broken off never reaches a service', async () => {
    const head = bytes('POST', '/api/payouts', ['Content-Length: 100']);
    await new Promise<void>((resolve) => {
      const socket = connect(at.gateway.port, '127.0.0.1', () => socket.write(`${head}{"asset`));
      setTimeout(() => socket.destroy(), 100);
      socket.on('close', () => resolve());
    });
    expect((await ask('GET', '/api/assets')).status).toBe(200);
    expect(at.upstream.asked).toMatchObject([{ method: 'GET' }]);
  });
});

describe('whose request it is', () => {
  /** Which service knows what of the last request by its assertion. */
  const asserted = () =>
    at.upstream.asked.slice(-1).flatMap((asked) =>
      signedFor(asked).map(({ receiver, assertion }) => ({
        receiver,
        account: assertion.identity.account,
        token: assertion.identity.token,
        isOfBody: isBodyOf(assertion, Buffer.from(asked.body)),
      })),
    );
  const right = { account: shop.account, token: shop.id, isOfBody: true };

  test.each<[Service, string, string, string]>([
    ['invoices', 'GET', '/api/invoices?page=2&a=%20&a=%c3%A9&a="{|}\\^<>`?', ''],
    ['payouts', 'POST', '/api/payouts', '{"amount":1.000000000000000001, "x":"é\u0000"}'],
    ['payouts', 'POST', '/api/payouts/', ''],
    ['ledger', 'HEAD', '/api/assets?a=//b#c', ''],
    ['ledger', 'GET', 'http://shop.example/api/balances?x', ''],
    ['webhooks', 'DELETE', '/api/webhooks/whe_1', 'a body'],
    ['webhooks', 'GET', '/api/events/stream?after=3', ''],
  ])('is signed for %s and %s %s as it goes there', async (receiver, method, path, body) => {
    await ask(method, path, [], body);
    expect(asserted()).toEqual([{ receiver, ...right }]);
  });

  test('is signed again for each request', async () => {
    for (let i = 0; i < 2; i++) await ask('POST', '/api/payouts', ['Idempotency-Key: k'], '{}');
    const [first, second] = at.upstream.asked.map(({ headers }) => headers['x-quittance-identity']);
    expect(first).not.toBe(second);
  });

  test.each<[string, string[]]>([
    ['forged', ['X-Quittance-Identity: eyJhY2NvdW50IjoiYWNjXzEifQ.AAAA']],
    ['twice', ['X-Quittance-Identity: a.b', 'x-quittance-identity: c.d']],
    ['in other letters', ['x-QUITTANCE-identity: a.b']],
    ['by someone who knows the key', [`X-Quittance-Identity: ${ofOther['x-quittance-identity']}`]],
    ['declared hop by hop', ['Connection: X-Quittance-Identity', 'X-Quittance-Identity: a.b']],
  ])('said by the client (%s) is dropped', async (_, headers) => {
    await ask('GET', '/api/balances', headers);
    expect(asserted()).toEqual([{ receiver: 'ledger', ...right }]);
    const names = at.upstream.asked[0]?.rawHeaders.filter((_name, at) => at % 2 === 0) ?? [];
    expect(names.filter((name) => name.toLowerCase() === 'x-quittance-identity')).toHaveLength(1);
  });

  test('is nobody’s on a payment page, whatever the client says', async () => {
    const signed = identityOf(shop.account as AccountId, { method: 'GET', path: '/pay/inv_1' });
    const header = `X-Quittance-Identity: ${signed['x-quittance-identity']}`;
    await sendRaw(at.gateway.port, bytesOf('GET', '/pay/inv_1', [header]));
    expect(at.upstream.asked[0]?.headers).not.toHaveProperty('x-quittance-identity');
  });

  test('the token itself goes no further', async () => {
    await ask('GET', '/api/balances');
    expect(JSON.stringify(at.upstream.asked)).not.toContain(shop.token);
  });
});

describe('the request’s id', () => {
  test('is made here, goes along and comes back', async () => {
    at.upstream.answer((res, { headers }) => {
      res.setHeader('X-Request-Id', `${headers['x-request-id']}-changed`);
      res.end('{}');
    });
    const answer = await ask('GET', '/api/assets', ['X-Request-Id: req_of_the_client']);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{36}$/);
    expect(at.upstream.asked[0]?.headers['x-request-id']).toBe(answer.headers.get('x-request-id'));
  });
});

describe('where the request came from', () => {
  test('is what the socket says, not what the client says', async () => {
    await ask('GET', '/api/assets', [
      'X-Forwarded-For: 6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'X-Forwarded-Proto: x',
    ]);
    expect(at.upstream.asked[0]?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1' });
    expect(at.upstream.asked[0]?.headers).not.toHaveProperty('x-forwarded-proto');
    expect(at.upstream.asked[0]?.headers).not.toHaveProperty('x-real-ip');
  });

  test.each([
    '6.6.6.6, 203.0.113.9',
    '203.0.113.9:4711',
    '::ffff:cb00:7109',
    '[::ffff:203.0.113.9]:4711',
    '203.0.113.9, 10.1.1.1:80',
  ])('is what a load balancer says that the operator named, however it writes it: %s', async (forwarded) => {
    const behind = await startedBeside({ TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1' });
    await ask('GET', '/api/assets', [`X-Forwarded-For: ${forwarded}`], '', behind.port);
    expect(at.upstream.asked[0]?.headers['x-forwarded-for']).toBe('203.0.113.9');
  });
});

describe('an answer', () => {
  test('comes back as it is: status, headers, body', async () => {
    at.upstream.answer((res) => {
      res.statusCode = 201;
      res.setHeader('Content-Type', 'text/html; charset=utf-8');
      res.setHeader('Content-Security-Policy', "default-src 'none'");
      res.setHeader('Set-Cookie', ['a=1', 'b=2']);
      res.write('<p>é');
      res.end('😀</p>');
    });
    const answer = await ask('GET', '/pay/inv_1');
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(answer.headers.get('set-cookie')).toBe('b=2');
    expect(answer.headers.has('transfer-encoding')).toBe(false);
    expect(answer.text).toBe('<p>é😀</p>');
  });

  test('may be kept by nobody on the way, unless its service says otherwise, once', async () => {
    at.upstream.answer((res) => res.end('{}'));
    const silent = await ask('GET', '/api/balances');
    const policyOf = ({ headers }: { headers: Pick<Headers, 'get'> | Map<string, string> }) => [
      headers.get('cache-control'),
      headers.get('x-content-type-options'),
    ];
    expect(policyOf(silent)).toEqual(['no-store', 'nosniff']);
    at.upstream.answer((res) => {
      res.setHeader('Cache-Control', 'private, max-age=1');
      res.setHeader('X-Content-Type-Options', 'nosniff');
      res.end('{}');
    });
    // A header that is there twice would be told as one text.
    const said = await fetch(`http://127.0.0.1:${at.gateway.port}/pay/inv_1`);
    expect(policyOf(said)).toEqual(['private, max-age=1', 'nosniff']);
    for (const path of ['/api/nothing', '/healthz', '/readyz', '/pay']) {
      expect(policyOf(await ask('GET', path))).toEqual(['no-store', 'nosniff']);
    }
  });

  test('to HEAD has a length and no body', async () => {
    at.upstream.answer((res) => {
      res.setHeader('Content-Length', 11);
      res.end('{"ok":true}');
    });
    const answer = await ask('HEAD', '/api/assets');
    expect(at.upstream.asked).toMatchObject([{ method: 'HEAD' }]);
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers.get('content-length')).toBe('11');
  });

  test.each([
    ['without a body stays without one', 'DELETE', '/api/webhooks/whe_1', 204, ''],
    ['of an error is the service’s own', 'POST', '/api/payouts', 400, '{"message":"Insufficient balance"}'],
    ['of a megabyte comes whole', 'GET', '/api/invoices', 200, `"${'é'.repeat(600_000)}"`],
  ])('%s', async (_what, method, path, status, text) => {
    at.upstream.answer((res) =>
      res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(text),
    );
    expect(await ask(method, path)).toMatchObject({ status, text });
  });

  test('connections are kept on both sides', async () => {
    const sockets = new Set<number | undefined>();
    at.upstream.answer((res, _asked, req) => {
      sockets.add(req.socket.remotePort);
      res.end('{}');
    });
    for (let i = 0; i < 5; i++) await ask('POST', '/api/payouts', [], '{}');
    expect(sockets.size).toBe(1);
  });
});
