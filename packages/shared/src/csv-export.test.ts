import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { systemClock } from './clock.ts';
import { csvTable } from './csv.ts';
import { csvExports, partErrors, wantsCsv } from './csv-export.ts';
import { type Db, query, type Statement, type Trx } from './db.ts';
import { createApp, finishApp } from './http.ts';
import { type Listening, listen } from './http-server.ts';
import type { AccountId } from './ids.ts';
import { createLogger } from './logger.ts';

const LIMIT_MS = 500;
const BATCHES = 100;
const table = csvTable((row: { text: string }) => row, { text: ({ text }) => text });

/** What the database does with each fetch; undefined is the end of the rows. */
let fetched: (count: number) => Promise<string | undefined>;
let fetches = 0;
let open = 0;
let sent: string[] = [];

const db: Pick<Db, 'transaction'> = {
  async transaction(work) {
    const rows = async (sql: Statement | string) => {
      const statement = typeof sql === 'string' ? sql : sql.text;
      if (!statement.startsWith('fetch')) sent.push(statement);
      const found = statement.startsWith('fetch') ? await fetched(++fetches) : undefined;
      return found === undefined ? [] : [{ text: found }];
    };
    open += 1;
    try {
      return await work({ rows } as Trx);
    } finally {
      open -= 1;
    }
  },
};

let server: Listening;
beforeAll(async () => {
  const logger = createLogger('test', 'silent');
  const app = createApp({ logger, clock: systemClock, waitsFor: async () => [] });
  const exports = csvExports({ db, logger }, LIMIT_MS);
  const select = () => ({ rows: query<{ text: string }>('', 'select rows'), values: [] });
  app.get('/:account', (req, res) => {
    return exports.send(res, { account: req.params.account as AccountId, name: 'things', table, select });
  });
  finishApp(app, logger);
  server = await listen(app, '127.0.0.1', 0);
});
afterAll(() => server.close(1_000));
beforeEach(() => {
  [fetches, sent] = [0, []];
});

const ask = (path: string, method = 'GET') =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request({ port: server.port, path, method, agent: false }, resolve).on('error', reject).end();
  });

/** Fetches that each wait until they are let go. */
function heldFetches() {
  const held: (() => void)[] = [];
  fetched = () => new Promise((resolve) => held.push(() => resolve('row')));
  return held;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

it('an export is one read-only snapshot, and its file has the headers of one', async () => {
  fetched = async (count) => (count <= 2 ? `row ${count}` : undefined);
  const answer = await ask('/acc_1');
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="things.csv"',
    'cache-control': 'no-store',
  });
  expect(await text(answer)).toBe('text\r\nrow 1\r\nrow 2\r\n');
  expect(sent[0]).toBe('set transaction isolation level repeatable read read only');
  expect(sent.at(-1)).toBe('declare exported no scroll cursor for select rows');
  const head = await ask('/acc_1', 'HEAD');
  expect([head.headers['content-type'], await text(head)]).toEqual(['text/csv; charset=utf-8', '']);
});

it('an account has one export at a time, and a replica three: others are told when to come back', async () => {
  const held = heldFetches();
  const running = ['/acc_1', '/acc_2', '/acc_3'].map((path) => ask(path));
  await until(() => held.length === 3);
  for (const path of ['/acc_1', '/acc_4']) {
    const refused = await ask(path);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(await text(refused))).toMatchObject({ code: 'unavailable' });
  }
  fetched = async () => undefined;
  for (const go of held) go();
  for (const one of running) await text(await one);
  expect((await ask('/acc_1')).statusCode).toBe(200);
});

it('what fails before the first rows is an ordinary error, and what fails later cuts the file off', async () => {
  fetched = async () => {
    throw new Error('a statement failed');
  };
  expect((await ask('/acc_1')).statusCode).toBe(500);
  fetches = 0;
  fetched = async (count) => {
    if (count === 3) throw new Error('the connection broke');
    return `row ${count}`;
  };
  await expect(text(await ask('/acc_1'))).rejects.toThrow('aborted');
  // Neither of them counts any more.
  fetched = async () => undefined;
  expect((await ask('/acc_1')).statusCode).toBe(200);
});

it('a client that reads nothing holds up the cursor, and its file ends at the time limit', async () => {
  const megabyte = 'x'.repeat(1 << 20);
  fetched = async (count) => (count <= BATCHES ? megabyte : undefined);
  const answer = await ask('/acc_1');
  answer.pause();
  await until(() => open === 0);
  expect(fetches).toBeLessThan(BATCHES / 2);
  await expect(text(answer)).rejects.toThrow('aborted');
});

it.each([
  ['text/csv', null, true],
  ['text/csv, application/json', null, false],
  ['*/*', null, false],
  ['application/json', 'csv', true],
  ['text/csv', 'json', false],
])('a client that accepts %s and names the format %s gets CSV: %s', (accept, format, expected) => {
  expect(wantsCsv({ headers: { accept } }, format)).toBe(expected);
});

it('partErrors names the parameters that choose a part of a list, and only those that were given', () => {
  const errors = partErrors({ page: '2', perPage: ' ', expand: ['payments'] }, ['page', 'perPage', 'expand']);
  expect(Object.keys(errors)).toEqual(['page', 'expand']);
});
