import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { newEndpointId, newEventId } from '@quittance/shared/ids';
import { localPort } from '@quittance/testkit/local-port';
import { notTried } from '@quittance/testkit/not-tried';
import { envelopeOf } from '@quittance/webhooks/domain/envelope';
import { createEndpointKeyPairs } from '@quittance/webhooks/endpoint-key-pairs';
import { newSecret, signatureHeaders, signingKey } from '@quittance/webhooks/endpoint-secrets';

/** The code that docs/webhooks.md gives merchants, run as it stands there. */

const guide = readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8');
const dir = mkdtempSync(join(tmpdir(), 'quittance-guide-'));
afterAll(() => rmSync(dir, { recursive: true }));

function codeIn(language: string, nth = 0): string {
  const blocks = [...guide.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))];
  const [, indent = '', code] = blocks[nth] ?? [];
  if (code === undefined) throw new Error(`the guide has no block ${nth} in ${language}`);
  return code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

type Request = { secret: string; headers: Record<string, string>; body: string };

const [secret, former, stranger] = [newSecret(randomBytes), newSecret(randomBytes), newSecret(randomBytes)];
const id = newEventId(new Date());
const body = envelopeOf({
  id,
  kind: 'invoice.paid',
  createdAt: new Date(),
  sequence: '9007199254740991',
  version: '4',
  data: '{"id":"inv_1","note":"Grüße \\"quoted\\" \\u2028 😀","amount":"1.000000000000000001"}',
});
const minutes = (n: number) => new Date(Date.now() + n * 60_000);
const signed = (secrets: readonly string[], at = new Date(), text = body) =>
  signatureHeaders(secrets.map(signingKey), id, at, text);
const withSignature = (change: (signature: string) => string) => {
  const headers = signed([secret]);
  return { ...headers, 'webhook-signature': change(headers['webhook-signature'] ?? '') };
};
const without = (name: string) =>
  Object.fromEntries(Object.entries(signed([secret])).filter(([header]) => header !== name));

type Headers = Request['headers'];
const now = signed([secret]);
const newTime = { 'webhook-timestamp': now['webhook-timestamp'] ?? '' };

/** What arrives, and whether it is to be believed. */
const arriving: [string, boolean, Headers, Partial<Request>?][] = [
  ['as we send it', true, now],
  ['four minutes late', true, signed([secret], minutes(-4))],
  ['with two secrets, by the new one', true, signed([secret, former])],
  ['with two secrets, by the former one', true, signed([secret, former]), { secret: former }],
  ['with a signature of another kind too', true, withSignature((s) => `v1a,AAAA ${s}`)],
  ['with another body', false, now, { body: body.replace('paid', 'sold') }],
  ['with a space more', false, now, { body: `${body} ` }],
  ['by a stranger', false, signed([stranger])],
  ['with a secret that has ended', false, now, { secret: former }],
  ['six minutes old', false, signed([secret], minutes(-6))],
  ['from the future', false, signed([secret], minutes(6))],
  ['old, with a new time', false, { ...signed([secret], minutes(-6)), ...newTime }],
  ['under another id', false, { ...now, 'webhook-id': 'evt_other' }],
  ['with no time', false, { ...now, 'webhook-timestamp': 'soon' }],
  ['with an empty signature', false, withSignature(() => '')],
  ['with a signature cut off', false, withSignature((s) => s.slice(0, -1))],
  ['with a longer signature', false, withSignature((s) => `${s}=`)],
  ['with a signature in other letters', false, withSignature((s) => s.replace('v1', 'v1é'))],
  ['without an id', false, without('webhook-id')],
  ['without a time', false, without('webhook-timestamp')],
  ['without a signature', false, without('webhook-signature')],
];
const requests = arriving.map(([, , headers, other]): Request => ({ secret, headers, body, ...other }));

/** How each language is run, and what asks its `verify` about each request, one line of JSON for all. */
const languages = {
  ts: {
    command: process.execPath,
    file: 'verify.ts',
    asker: 'ask.ts',
    ask: `import { readFileSync } from 'node:fs';
import { verify } from './verify.ts';
const told = JSON.parse(readFileSync(0, 'utf8')).map(({ secret, headers, body }: any) => {
  try { return verify(secret, headers, body).id; } catch { return null; }
});
process.stdout.write(JSON.stringify(told));`,
  },
  php: {
    command: 'php',
    file: 'verify.php',
    asker: 'ask.php',
    ask: `<?php
require __DIR__ . '/verify.php';
$told = array_map(function ($one) {
  try { return verify($one['secret'], $one['headers'], $one['body'])['id']; } catch (Throwable) { return null; }
}, json_decode(file_get_contents('php://stdin'), true));
echo json_encode($told);`,
  },
  python: {
    command: 'python3',
    file: 'verify.py',
    asker: 'ask.py',
    ask: `import json, sys
from verify import verify
def told(one):
    try:
        return verify(one["secret"], one["headers"], one["body"].encode())["id"]
    except Exception:
        return None
print(json.dumps([told(one) for one in json.load(sys.stdin.buffer)]))`,
  },
} as const;

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0;

for (const name of ['ts', 'php', 'python'] as const) {
  const { command, file, asker, ask } = languages[name];
  const code = codeIn(name);

  test(`the verifier in ${name} is as short as the guide says`, () => {
    // Ten lines of it, beside the frame of the function.
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(15);
  });

  const believes = `the verifier in ${name} believes what is ours, and nothing else`;
  if (name !== 'ts' && !isThere(command)) {
    notTried(believes, `this machine has no ${command}`);
    continue;
  }
  test(believes, () => {
    writeFileSync(join(dir, file), code);
    writeFileSync(join(dir, asker), ask);
    const input = JSON.stringify(requests);
    const ran = spawnSync(command, [join(dir, asker)], {
      input,
      encoding: 'utf8',
      cwd: dir,
      timeout: 20_000,
    });
    expect(ran.stderr.replace(/.*(?:Warning|trace-warnings).*\n/g, '')).toBe('');
    const told = JSON.parse(ran.stdout) as (string | null)[];
    const believed = arriving.map(([what], i) => [what, told[i] === id]);
    expect(believed).toEqual(arriving.map(([what, isOurs]) => [what, isOurs]));
  });
}

test('the function of the guide verifies with the public keys of the endpoint, and with no others', async () => {
  writeFileSync(join(dir, 'by-public-key.mjs'), codeIn('js'));
  const { verifyByPublicKey } = await import(join(dir, 'by-public-key.mjs'));
  const pairs = () => createEndpointKeyPairs([randomBytes(32), randomBytes(32)]).of(newEndpointId());
  const [own, others] = [pairs(), pairs()];
  const headersAt = (at: Date) =>
    signatureHeaders([signingKey(secret), ...own.map(({ privateKey }) => privateKey)], id, at, body);
  const headers = headersAt(new Date());
  const isTaken = (keys: typeof own, given: Headers, text = body) => {
    try {
      return (
        verifyByPublicKey(
          keys.map(({ publicKey }) => publicKey),
          given,
          text,
        ).id === id
      );
    } catch (error) {
      expect(String(error)).toContain('not from Quittance');
      return false;
    }
  };
  expect([own, own.slice(0, 1), own.slice(1)].map((keys) => isTaken(keys, headers))).toEqual([
    true,
    true,
    true,
  ]);
  expect(isTaken(others, headers)).toBe(false);
  expect(isTaken([], headers)).toBe(false);
  expect(isTaken(own, headers, `${body} `)).toBe(false);
  expect(isTaken(own, { ...headers, 'webhook-id': 'evt_other' })).toBe(false);
  expect(isTaken(own, headersAt(minutes(-6)))).toBe(false);
  expect(isTaken(own, signed([secret]))).toBe(false);
});

/** Serves a log of so many events as the API does: pages of at most 500, and 30 requests before one is told to wait. */
async function logOf(count: number, { requests = 30, fails = Number.POSITIVE_INFINITY } = {}) {
  const asked: string[] = [];
  const refused: number[] = [];
  let left = requests;
  const server = createServer((req, res) => {
    if (left === 0) {
      refused.push(Date.now());
      // A new minute begins, a short one.
      left = requests;
      res
        .writeHead(refused.length % 2 === 0 ? 503 : 429, { 'Retry-After': '1' })
        .end('{"message":"not now"}');
      return;
    }
    left -= 1;
    asked.push(`${req.url} ${req.headers.authorization}`);
    if (asked.length > fails) return void res.writeHead(500).end('{"message":"Server Error"}');
    const query = new URL(req.url ?? '', 'http://x').searchParams;
    // eslint-disable-next-line no-restricted-syntax -- places in a sequence
    const [after, limit] = [Number(query.get('after')), Number(query.get('limit') ?? 100)];
    const last = Math.min(after + limit, count);
    const data = Array.from({ length: last - after }, (_, i) => ({ sequence: after + i + 1 }));
    res.end(JSON.stringify({ data, meta: { has_more: last < count, next_after: last } }));
  });
  const api = `http://127.0.0.1:${await localPort(server)}`;
  return {
    ...{ api, asked, refused },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs the guide's `catchUp`: what it saw, what it saved, and how it ended. */
async function caughtUp(api: string, after = 0) {
  writeFileSync(join(dir, 'catch-up.ts'), codeIn('ts', 1));
  writeFileSync(
    join(dir, 'use.ts'),
    `import { catchUp } from './catch-up.ts';
const seen: unknown[] = [];
const saved: unknown[] = [];
const [api, after] = process.argv.slice(2);
const work = { handle: async (event: any) => void seen.push(event.sequence), save: async (at: any) => void saved.push(at) };
const ended = await catchUp(api, 'tok', Number(after), work).catch((error: Error) => error.message);
process.stdout.write(JSON.stringify({ seen, saved, ended }));`,
  );
  const child = spawn(process.execPath, [join(dir, 'use.ts'), api, String(after)], { timeout: 30_000 });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  return JSON.parse(out) as { seen: number[]; saved: number[]; ended: number | string };
}

const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, i) => from + i);

test('the guide’s way of catching up reads every page once, in order, and waits when it is told to', async () => {
  // More than two minutes' worth of requests.
  const count = 500 * 64 + 7;
  const log = await logOf(count);
  const { seen, saved, ended } = await caughtUp(log.api);
  log.close();
  expect(seen).toEqual(upTo(count));
  expect(saved).toEqual([...upTo(64).map((page) => page * 500), count]);
  expect(ended).toBe(count);
  expect(log.asked).toHaveLength(65);
  expect(log.asked.slice(0, 2)).toEqual([
    '/events?limit=500&after=0 Bearer tok',
    '/events?limit=500&after=500 Bearer tok',
  ]);
  expect(log.refused).toHaveLength(2);
});

test('one that is cut off goes on from what it saved', async () => {
  const log = await logOf(1_700, { fails: 2 });
  const first = await caughtUp(log.api);
  log.close();
  expect(first).toMatchObject({ saved: [500, 1_000], ended: '500 {"message":"Server Error"}' });
  const again = await logOf(1_700);
  const second = await caughtUp(again.api, first.saved.at(-1));
  again.close();
  expect([...first.seen, ...second.seen]).toEqual(upTo(1_700));
});
