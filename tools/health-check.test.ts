import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { shell } from '@quittance/stack/shell';
import { localPort } from '@quittance/testkit/local-port';
import { root } from './tracked-files.ts';

const script = join(root, 'deploy/image/health.sh');
const check = (env: NodeJS.ProcessEnv) =>
  shell('bash', [script], { env: { ...process.env, LC_ALL: 'C', PORT: undefined, ...env } });

/** What the check of an image says while its service answers so. */
async function checked(answer: RequestListener) {
  const server = createServer(answer);
  try {
    return await check({ PORT: `${await localPort(server)}` });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a service that says it is ready is healthy, and what it says is printed', async () => {
  const said = await checked((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"path":"${request.url}",`);
    setTimeout(() => response.end('"ready":true}'), 20);
  });
  expect(said).toEqual({ code: 0, stdout: '{"path":"/readyz","ready":true}\n', stderr: '' });
});

test('a service that says what it waits for is not healthy, and what it says is printed', async () => {
  const said = await checked((_, response) =>
    response.writeHead(503).end('{"waits_for":["database 200 OK"]}'),
  );
  expect(said).toEqual({ code: 1, stdout: '{"waits_for":["database 200 OK"]}\n', stderr: '' });
});

test.each<[string, RequestListener]>([
  ['the request', () => undefined],
  ['its status', (_, response) => response.writeHead(200).flushHeaders()],
  ['half an answer', (_, response) => response.writeHead(200).write('{"ready"')],
])('a service that says no more after %s is not healthy', async (_, answer) => {
  expect(await checked(answer)).toEqual({ code: 1, stdout: 'no answer within 2 s\n', stderr: '' });
});

test('a service that closes the connection instead of answering is not healthy', async () => {
  expect(await checked((request) => request.socket.end())).toEqual({
    code: 1,
    stdout: 'the connection was closed before the answer was whole\n',
    stderr: '',
  });
});

test('a service that does not listen is not healthy', async () => {
  expect(await check({ PORT: '1' })).toMatchObject({ code: 1, stderr: expect.stringContaining('refused') });
});

test('a service that listens on no port is healthy while it runs', async () => {
  expect(await check({})).toEqual({ code: 0, stdout: 'it serves nobody\n', stderr: '' });
});
