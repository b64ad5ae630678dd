import { invariants } from '@quittance/books/invariants';
import { configSchema as invoicesConfig } from '@quittance/invoices/config';
import { expireInvoices } from '@quittance/invoices/operations/expire-invoices';
import { type InvoicesService, startInvoices } from '@quittance/invoices/service';
import { createScanner } from '@quittance/invoices/workers';
import { configSchema as ledgerConfig } from '@quittance/ledger/config';
import { startLedger } from '@quittance/ledger/service';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { loadConfig } from '@quittance/shared/config';
import { type Db, openDb } from '@quittance/shared/db';
import { IDENTITY_HEADER, sealIdentity } from '@quittance/shared/identity';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import type { Quote } from '@quittance/shared/quotes';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';

const SECRET = 'the secret that the services of a proof share';
/** One after the other, so that no look at the chain comes so late that it passes for an outage. */
const STEP_MS = 20_000;

export type Invoice = { id: string; address: string; amount: string };

/** What the books say was credited to an account and what waits for a decision, in smallest units. */
export type Booked = { available: bigint; held: bigint; unresolved: bigint };

export type MoneyIn = Awaited<ReturnType<typeof startMoneyIn>>;

type Terms = Partial<Record<AssetSymbol, { rate: string; confirmations: number }>>;

/**
 * Everything money comes in through: invoices and the ledger on a real Postgres and a real NATS, over real chain
 * nodes. Invoices looks at its chains when it is told to, and its clock stands still until it is moved.
 */
export async function startMoneyIn(terms: Terms, settings: Record<string, string>) {
  const clock = { at: new Date(), now: () => new Date(clock.at) };
  const logger = createLogger('invoices', 'silent');
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const common = {
    PORT: '1',
    NATS_URL: nats.url,
    IDENTITY_SECRET: SECRET,
    PUBLIC_URL: 'http://pay.example',
    LOG_LEVEL: 'silent',
  };
  const ledger = await startLedger(
    {
      ...loadConfig('ledger', ledgerConfig, {
        ...common,
        DATABASE_URL: database.urlOf('ledger'),
        PRICES: 'public',
      }),
      PORT: 0,
    },
    { logger, workers: false },
  );
  const quotes = new Map(
    Object.entries(terms).map(([asset, { rate, confirmations }]): [string, Quote] => [
      asset,
      {
        asset: asset as AssetSymbol,
        active: true,
        usd_rate: rate,
        network_fee: '1000',
        min_confirmations: confirmations,
        dust: '1000',
        sources: [],
        spread_bps: 0,
        as_of: clock.at.toISOString(),
      },
    ]),
  );
  const board = { latest: (asset: string) => quotes.get(asset), fresh: (asset: string) => quotes.get(asset) };
  const config = loadConfig('invoices', invoicesConfig, {
    ...common,
    DATABASE_URL: database.urlOf('invoices'),
    ...settings,
  });
  const invoices: InvoicesService = await startInvoices(
    { ...config, PORT: 0 },
    { clock, logger, quotes: board, workers: false },
  );
  const scanners = new Map(
    [...invoices.ports.chains].map(([chain, watched]) => [
      chain,
      createScanner(invoices.ports, watched, { replica: invoices.replica, announced: () => undefined }),
    ]),
  );
  const db: Db = openDb({ url: database.adminUrl, schema: 'invoices', pool: 2, logger });

  /** Follows a chain until it stands still. */
  async function look(chain: Chain): Promise<void> {
    const scanner = scanners.get(chain);
    const watched = invoices.ports.chains.get(chain);
    if (scanner === undefined || watched === undefined) throw new Error(`${chain} is not watched`);
    while ((await scanner.step()) > 0);
    while ((await expireInvoices(invoices.ports, watched)) > 0);
  }

  /** All that invoices announced to the ledger is booked. */
  const settled = () =>
    eventually(async () => {
      const [row] = await db.rows<{ n: number }>(
        `select count(*)::int as n from invoices.outbox o
         where o.kind in ('deposit.settled', 'deposit.reversed')
           and not exists (select 1 from ledger.inbox i where i.event_id = o.id)`,
      );
      if (row?.n !== 0) throw new Error(`${row?.n} events have not reached the ledger`);
    });

  return {
    db,
    clock,
    invoices,
    look,
    settled,
    newAccount: () => newAccountId(new Date()),
    async invoice(account: AccountId, order: object): Promise<Invoice> {
      const answer = await request(`http://127.0.0.1:${invoices.port}/api/invoices`, {
        method: 'POST',
        headers: {
          [IDENTITY_HEADER]: sealIdentity(SECRET, { account }, clock.now()),
          'content-type': 'application/json',
        },
        body: JSON.stringify(order),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is answered
      const body = (await answer.body.json()) as any;
      if (answer.statusCode !== 201) throw new Error(`POST /api/invoices answers ${JSON.stringify(body)}`);
      const { id, amount } = body.data;
      // As it is stored and compared, not as people see it.
      const { address } = await db.one<{ address: string }>('select address from invoices where id = $1', [
        id,
      ]);
      return { id, amount, address };
    },
    /** Payments that are credited more than once at this moment, if only until one of the credits is taken back. */
    doubled: (): Promise<object[]> =>
      db.rows(
        `select outpoint, count(*)::int as times from deposits where state in ('settled', 'missing')
         group by chain, outpoint having count(*) > 1`,
      ),
    /** Lets time pass as in life: every few seconds a block, and a look at it. */
    async pass(chain: Chain, ms: number, mine: () => Promise<void>): Promise<void> {
      const until = clock.at.getTime() + ms;
      while (clock.at.getTime() < until) {
        clock.at = new Date(Math.min(until, clock.at.getTime() + STEP_MS));
        await mine();
        await look(chain);
      }
    },
    async booked(account: AccountId, asset: AssetSymbol): Promise<Booked> {
      const row = await db.maybe<Record<keyof Booked, string>>(
        'select available::text, held::text, unresolved::text from ledger.balances where account_id = $1 and asset = $2',
        [account, asset],
      );
      return {
        available: BigInt(row?.available ?? 0),
        held: BigInt(row?.held ?? 0),
        unresolved: BigInt(row?.unresolved ?? 0),
      };
    },
    /** What breaks the books of the two services, by the checker that production runs. */
    async breaches(): Promise<string[]> {
      const found: string[] = [];
      for (const { name, sql } of invariants.filter(({ name }) => ['I1', 'I2', 'I3', 'I5'].includes(name))) {
        const rows = await db.rows<{ what: string }>(sql, sql.includes('$1') ? [0] : []);
        found.push(...rows.map(({ what }) => `${name}: ${what}`));
      }
      return found;
    },
    async stop() {
      await Promise.all([invoices.stop(), ledger.stop(), db.close()]);
      await nats.stop();
      await database.drop();
    },
  };
}
