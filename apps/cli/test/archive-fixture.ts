import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { commandSuite } from './quittance-in.ts';

/** So many months ago, such as `2026-06`. Those from five on are older than 90 days to their last day. */
export function month(ago: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 7);
}

type Line = { id: string; sequence: number; created_at: string; data: unknown; deliveries: unknown[] };

const ACCOUNTS = ['acc_1', 'acc_2'] as const;
export const ENDPOINT_KEY = { acc_1: 1, acc_2: 2 } as const;

/** Text that a format of lines could mistake for its own. */
export const ODD = { text: 'line\nend, "quotes", \\n \\x01 \u0001 \u2028 é \u{1f600}' };

/** For one suite: the command, a database of two accounts with an endpoint each, and before each test a folder for its files. */
export async function archiveSuite() {
  const { folder, env, quittance } = await commandSuite();
  const { DATABASE_URL_ADMIN: adminUrl } = env();
  const db = openDb({ url: adminUrl, schema: 'webhooks', pool: 2, logger: createLogger('test', 'silent') });
  afterAll(() => db.close());
  let archive = '';
  beforeEach(async () => {
    archive = mkdtempSync(join(folder, 'archive-'));
    await db.rows(
      `truncate accounts, events, deliveries, attempts, endpoints, endpoint_queues, endpoint_secrets, archiving, pruned_events
       restart identity`,
    );
    for (const account of ACCOUNTS) {
      await db.rows('insert into accounts (account_id, last_sequence) values ($1, 0)', [account]);
      await db.rows(
        `insert into endpoints (id, account_id, url, event_types, created_at)
         values ('we_' || $1, $1, 'https://shop.example/hook', '{}', now())`,
        [account],
      );
    }
  });

  /** An event of an account that has been delivered at the second attempt, in the middle of a month. */
  async function happened(
    account: (typeof ACCOUNTS)[number],
    of: string,
    data: string = JSON.stringify(ODD),
  ) {
    const { sequence } = await db.one<{ sequence: string }>(
      'update accounts set last_sequence = last_sequence + 1 where account_id = $1 returning last_sequence as sequence',
      [account],
    );
    const at = `${of}-10T12:00:00.123Z`;
    await db.rows(
      `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
       values ($1, $2, $5, 'invoice.paid', $3, 'inv_1', 3, $4)`,
      [account, sequence, at, data, `${account}_${sequence}`],
    );
    const values = [ENDPOINT_KEY[account], sequence, at];
    await db.rows(
      `insert into deliveries (endpoint_key, sequence, state, attempts, due_at) values ($1, $2, 'delivered', 2, $3)`,
      values,
    );
    await db.rows(
      `insert into attempts (endpoint_key, sequence, number, started_at, ms, status, failure, answer)
       values ($1, $2, 1, $3, 30, null, 'timeout', null), ($1, $2, 2, $3, 40, 200, null, 'thanks')`,
      values,
    );
    return `${account}_${sequence}`;
  }

  async function prune() {
    for (const account of ACCOUNTS) await db.one('select prune_events($1, 1000)', [account]);
  }

  const archived = (to = archive) =>
    readdirSync(to)
      .toSorted()
      .map((name) => ({
        name,
        lines: gunzipSync(readFileSync(join(to, name)))
          .toString()
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line),
      }));
  const idsIn = (files = archived()) => files.flatMap(({ lines }) => lines.map(({ id }) => id));
  const idsWaiting = async () =>
    (await db.rows<{ id: string }>(`select line::json ->> 'id' as id from pruned_events order by 1`)).map(
      ({ id }) => id,
    );
  const idsInLog = async () =>
    (await db.rows<{ id: string }>('select id from events order by 1')).map(({ id }) => id);
  const write = (...args: string[]) => quittance(['archive', 'write', '--to', archive, ...args]);
  async function start() {
    expect((await quittance(['archive', 'start'])).code).toBe(0);
  }
  /** Prunes an event of five months ago of each of these accounts, while archiving is on. */
  async function pruned(...accounts: (typeof ACCOUNTS)[number][]) {
    await start();
    const ids: string[] = [];
    for (const account of accounts) ids.push(await happened(account, month(5)));
    await prune();
    return ids;
  }

  return {
    ...{
      folder,
      env,
      quittance,
      adminUrl,
      db,
      happened,
      prune,
      pruned,
      archived,
      idsIn,
      idsWaiting,
      idsInLog,
      write,
      start,
    },
    /** Where the files of this test are. */
    archive: () => archive,
  };
}
