import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { publishQuotes, type Quote } from '@quittance/shared/quotes';
import { COMPILED } from '@quittance/stack/service-process';
import { crashOrders } from '@quittance/testkit/crash-orders';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { scriptedLedger } from './scripted-ledger.ts';
import { type Answered, Client, environment, TestBoard } from './service-client.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** A process starts slowly when many suites run at once. */
export const PATIENCE_MS = 60_000;
const STEP_MS = 150;

/** What a suite gives for its chain: quotes, settings, and how a block is mined. */
type OfChain = {
  asset: Quote['asset'];
  quotes: Partial<Record<Quote['asset'], Partial<Quote>>>;
  settings: Record<string, string>;
  mine: () => Promise<unknown>;
};

type Deposited = Pick<Quote, 'asset'> & {
  amount: bigint;
  address: string;
  index: number;
  outpoint: string;
};

export type CrashProcess = Awaited<ReturnType<typeof crashProcess>>;

/**
 * The real process of this service on a real database, NATS and node, with a scripted ledger. It is killed at a failpoint
 * and started again.
 */
export async function crashProcess() {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const logger = createLogger('test', 'silent');
  const [ledger, bus] = await Promise.all([
    scriptedLedger(nats.url),
    connectBus({ url: nats.url, service: 'invoices', logger }),
  ]);
  const db: Db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 2, logger });
  const port = 21_000 + Math.floor(Math.random() * 9_000);
  const shop = new Client(() => ({ port }));
  const ordersDir = mkdtempSync(join(tmpdir(), 'quittance-orders-'));
  const orders = crashOrders(ordersDir);
  let child: ChildProcess | undefined;
  let chain: OfChain | undefined;

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  async function publishTerms(): Promise<void> {
    if (chain === undefined) throw new Error('nobody said on which chain');
    const board = new TestBoard();
    for (const [asset, terms] of Object.entries(chain.quotes)) board.set(asset as Quote['asset'], terms);
    const quotes = Object.keys(chain.quotes).map((asset) => board.latest(asset) as Quote);
    await publishQuotes(bus as Bus, quotes);
  }

  /** Starts the process. One that dies in its first step never serves. */
  async function launch(crashAt?: string): Promise<void> {
    await publishTerms();
    const settings = environment(database.urlOf('payouts'), nats.url);
    for (const name of Object.keys(settings)) if (name.startsWith('ETHEREUM_')) delete settings[name];
    child = spawn(process.execPath, [MAIN], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...settings,
        PORT: String(port),
        PAYOUTS_EVERY_MS: '50',
        LOG_LEVEL: 'silent',
        NODE_COMPILE_CACHE: COMPILED,
        ...orders.environment('payouts'),
        ...chain?.settings,
        ...(crashAt === undefined ? {} : { CRASH_AT: `${crashAt}:1` }),
      },
    });
  }

  return {
    db,
    bus,
    ledger,
    shop,
    launch,
    on(given: OfChain): void {
      chain = given;
    },
    /** A process that still runs only gets the failpoint. */
    async start(crashAt?: string): Promise<void> {
      if (!isRunning()) await launch();
      await eventually(async () => {
        const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
        expect(await ready.json()).toEqual({ ready: true, waits_for: [] });
      }, PATIENCE_MS);
      // The start may have taken longer than a quote is fresh.
      await publishTerms();
      // Quotes arrive a moment after NATS is connected. From then on, an order without an amount is told so.
      await eventually(async () => {
        const answer: Answered = await shop.post({ asset: chain?.asset, amount: 0, address: '0x1' });
        expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, ['amount', 'address']]);
        expect(answer.body.errors.amount).toEqual([expect.stringContaining('must be at least')]);
      }, PATIENCE_MS);
      if (crashAt !== undefined) await orders.give('payouts', child?.pid ?? 0, crashAt);
    },
    async died({ mining = true } = {}): Promise<void> {
      await eventually(
        async () => {
          if (mining) await chain?.mine();
          expect(child?.signalCode).toBe('SIGKILL');
        },
        PATIENCE_MS,
        STEP_MS,
      );
      // The leases and claims of the dead process expire.
      await db.rows(`update leases set expires_at = now() - interval '1 second'`);
      await db.rows(
        `update payouts set created_at = created_at - interval '11 seconds' where status = 'requested'`,
      );
      await db.rows('update outbox set claimed_until = null where sent_at is null');
    },
    /** The id of the requested payout. Its client may have got no answer. */
    async ask(asset: Quote['asset'], amount: string, to: string): Promise<PayoutId> {
      const key = `key ${to} ${Math.random()}`;
      const newest = 'select id from payouts where account_id = $1 order by seq desc limit 1';
      const before = await db.maybe<{ id: PayoutId }>(newest, [shop.account]);
      const body = { asset, amount, address: to };
      await eventually(async () => {
        const answer = await shop.post(body, { 'idempotency-key': key }).catch(() => undefined);
        // Nothing was done: the fresh quote is not read yet, and the last one is older than the former test took.
        if (answer?.status === 503) throw new Error('payouts does not take the order yet');
      }, PATIENCE_MS);
      const row = await db.one<{ id: PayoutId }>(newest, [shop.account]);
      expect(row.id).not.toBe(before?.id);
      return row.id;
    },
    /** A settled deposit, published to NATS. */
    async deposit({ asset, amount, address, index, outpoint }: Deposited): Promise<string> {
      const depositId = newDepositId(new Date());
      const payload = {
        deposit_id: depositId,
        account_id: shop.account,
        invoice_id: 'inv_test',
        asset,
        amount: amount.toString(),
        address,
        derivation_index: index,
        outpoint,
        tx_hash: outpoint.split(':')[0],
        block_height: 1,
        block_hash: 'block',
        disposition: 'credit',
      };
      const body = {
        id: `evt_${depositId}`,
        kind: 'deposit.settled',
        created_at: '',
        request_id: null,
        payload,
      };
      await bus.publish([{ kind: 'deposit.settled', dedupe: depositId, body: JSON.stringify(body) }]);
      return depositId;
    },
    async ends(id: PayoutId, status: string): Promise<void> {
      await eventually(
        async () => {
          await chain?.mine();
          expect(await db.one('select status from payouts where id = $1', [id])).toEqual({ status });
        },
        PATIENCE_MS,
        STEP_MS,
      );
    },
    async expectPublished(id: PayoutId, kinds: readonly string[]): Promise<void> {
      await eventually(async () => {
        const rows = await db.rows<{ kind: string }>(
          `select kind from outbox
           where (payload->>'payout_id' = $1 or payload->>'resource_id' = $1) and sent_at is not null order by seq`,
          [id],
        );
        expect(rows.map((row) => row.kind)).toEqual(kinds);
      });
    },
    /** All attempts of the payout in their order. */
    attemptsAt: (id: PayoutId) =>
      db.rows<{
        attempt: number;
        state: string;
        tx_hash: string;
        raw: string;
        valid_to_height: string;
        first_broadcast_at: Date | null;
      }>(
        `select transactions.* from transactions join payments using (replacement_group) where payout_id = $1 order by attempt`,
        [id],
      ),
    /** The network fee of each transaction is published once. */
    async expectSpentOnce(): Promise<void> {
      const told = await db.rows(
        `select payload->>'tx_hash' as hash, count(*)::int as times from outbox
         where kind = 'network.spent' group by 1 having count(*) > 1`,
      );
      expect(told).toEqual([]);
    },
    async close(): Promise<void> {
      if (isRunning()) {
        const ended = once(child as ChildProcess, 'exit');
        child?.kill('SIGTERM');
        await ended;
      }
      rmSync(ordersDir, { recursive: true, force: true });
      await ledger.close();
      await bus.close();
      await db.close();
      await nats.stop();
      await database.drop();
    },
  };
}
