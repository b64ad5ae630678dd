import { readFileSync } from 'node:fs';
import { decideHolds } from '@quittance/ledger/store/holds';
import { newPayoutId, pooledBytes } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import pg from 'pg';
import type { Benchmark } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { fundedAccounts, openServiceDb } from '../yardsticks/ledger-accounts.ts';
import { onServer } from '../yardsticks/tpc-b.ts';

const CLIENTS = 16;
const ACCOUNTS = 10_000;
const SECONDS = 3;
const DATABASE = 'pgledger';

export const onePosting: Benchmark = {
  name: 'posting',
  what: 'One posting of the ledger by itself: the statement that decides a hold and books it with its two entries, 16 clients, 10,000 accounts.',
  yardstick:
    'a transfer of pgledger (`yardsticks/pgledger`, a ledger in SQL) on the same server, the same clients and accounts',
  target: { atLeast: 1.5 },
  unit: 'postings/s',
  async setUp(lab) {
    const quittance = await lab.quittance();
    const accounts = await fundedAccounts(quittance, ACCOUNTS);
    await quittance.db.rows('vacuum analyze ledger.balances');
    const db = openServiceDb(quittance, 'ledger', CLIENTS, { enable_seqscan: 'off', jit: 'off' });
    const peer = await openPgledger(quittance.stack.engines.postgres.url);
    const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
    const amounts = { asset: 'ETH', amount: units(1000n), networkFee: units(1n), deposit: null } as const;
    return {
      ours: () =>
        drive(
          async () => {
            const [hold] = await decideHolds(db, [
              { id: newPayoutId(pooledBytes), account: any(accounts), ...amounts },
            ]);
            if (hold?.state !== 'placed') throw new Error(`a hold was ${hold?.state}`);
          },
          CLIENTS,
          SECONDS,
        ),
      theirs: () =>
        drive(
          async () => {
            const from = any(peer.accounts);
            let to = any(peer.accounts);
            while (to === from) to = any(peer.accounts);
            await peer.transfer(from, to);
          },
          CLIENTS,
          SECONDS,
        ),
      async close() {
        await db.close();
        await peer.close();
      },
      processes: { postgres: quittance.stack.engines.postgres.pid },
    };
  },
};

async function openPgledger(serverUrl: string) {
  await onServer(serverUrl, async (client) => {
    await client.query(`drop database if exists ${DATABASE}`);
    await client.query(`create database ${DATABASE}`);
  });
  const url = new URL(serverUrl);
  url.pathname = `/${DATABASE}`;
  const pool = new pg.Pool({ connectionString: url.href, max: CLIENTS });
  for (const file of ['uuid-to-ulid', 'pgledger'])
    await pool.query(readFileSync(new URL(`../yardsticks/pgledger/${file}.sql`, import.meta.url), 'utf8'));
  const { rows } = await pool.query<{ id: string }>(
    `select (pgledger_create_account('account ' || n, 'ETH')).id from generate_series(1, ${ACCOUNTS}) as n`,
  );
  await pool.query('vacuum analyze pgledger_accounts');
  return {
    accounts: rows.map(({ id }) => id),
    transfer: (from: string, to: string) =>
      pool.query({
        name: 'transfer',
        text: 'select id from pgledger_create_transfer($1, $2, $3)',
        values: [from, to, '1000'],
      }),
    close: () => pool.end(),
  };
}
