import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { openWallet } from '@quittance/chains/solana/wallet';
import { refillAddressPool } from '@quittance/invoices/address-pool';
import { configSchema } from '@quittance/invoices/config';
import { compareKeys } from '@quittance/invoices/operations/compare-keys';
import { expireInvoices } from '@quittance/invoices/operations/expire-invoices';
import { watched } from '@quittance/invoices/ports';
import { type InvoicesService, startInvoices } from '@quittance/invoices/service';
import { createScanner } from '@quittance/invoices/workers';
import { type Snapshot, snapshotOf } from '@quittance/reconciliation/snapshot';
import { checkChain } from '@quittance/reconciliation/verify-books';
import type { Chain } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { commandSubject, commands } from '@quittance/shared/commands';
import { loadConfig } from '@quittance/shared/config';
import type { Db, Trx } from '@quittance/shared/db';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { api } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import type { BitcoinChain } from './bitcoin-chain.ts';
import type { EvmChain } from './evm-chain.ts';
import { logger, SEED, startFixture, type Terms } from './fixture.ts';

/** Time passes in steps so small that no look at the chain comes so late that it passes for an outage: this part of one. */
const STEP = 0.9;

export type Invoice = { id: string; address: string; amount: string };

export type MoneyIn = Awaited<ReturnType<typeof startMoneyIn>>;

/**
 * Everything money comes in through: invoices and the ledger, over the chain nodes that `settings` name. Invoices
 * looks at its chains when it is told to, and its clock moves only when the test moves it.
 */
export async function startMoneyIn(terms: Terms, settings: Record<string, string>) {
  const clock = { at: new Date(), now: () => new Date(clock.at) };
  const fixture = await startFixture(terms);
  const { db } = fixture;
  const config = loadConfig('invoices', configSchema, {
    ...fixture.settingsOf('invoices'),
    ADDRESSES_AHEAD: '64',
    ...settings,
  });
  const invoices: InvoicesService = await startInvoices(
    { ...config, PORT: 0 },
    { clock, logger, quotes: fixture.quotes, workers: false },
  );
  const scanners = new Map(
    [...invoices.ports.chains].map(([chain, one]) => [chain, createScanner(invoices.ports, one)]),
  );

  // The key holder names addresses of chains without public derivation, and says that those of the others are its own.
  const keyHolder = await connectBus({ url: fixture.natsUrl, service: 'payouts', logger });
  keyHolder.answer(commandSubject('addresses.derive'), async (body) => {
    const { from, count, expected } = commands['addresses.derive'].request.parse(body);
    const wallet = openWallet(SEED);
    return {
      addresses: expected ?? Array.from({ length: count }, (_, i) => wallet.depositAddress(from + i)),
    };
  });
  // A question that overtakes the subscription of the key holder has no answer, and is asked again, as the workers do.
  await eventually(async () => {
    for (const { chain, storedPool, keys } of invoices.ports.chains.values()) {
      if (storedPool !== undefined) await refillAddressPool(invoices.ports, chain, storedPool);
      if (keys === undefined) continue;
      await compareKeys(invoices.ports, chain, keys);
      if (keys.status.problem !== undefined) throw new Error(keys.status.problem.reason);
    }
  });

  /** One step of the worker that follows a chain. */
  async function step(chain: Chain): Promise<number> {
    const scanner = scanners.get(chain);
    if (scanner === undefined) throw new Error(`${chain} is not watched`);
    return await scanner.step();
  }

  /** What the other worker does, that expires invoices. */
  async function expire(chain: Chain): Promise<void> {
    while ((await expireInvoices(invoices.ports, watched(invoices.ports.chains, chain))) > 0);
  }

  /** Follows a chain until it stands still. */
  async function look(chain: Chain): Promise<void> {
    while ((await step(chain)) > 0);
    await expire(chain);
  }

  async function borneOutBy(chain: Chain, snapshot: Snapshot): Promise<string[]> {
    const settings = config.chains.find((one) => one.chain === chain);
    if (settings === undefined) throw new Error(`${chain} is not watched`);
    const scope = { gracePeriodSeconds: 0 };
    const found = await checkChain(snapshot, { settings }, scope, { addresses: 'all' });
    return found.discrepancies.filter(({ invariant }) => invariant === 'I5').map(({ what }) => what);
  }

  return {
    ...fixture,
    clock,
    step,
    expire,
    look,
    newAccount: (): AccountId => newAccountId(new Date()),
    /** All that invoices published to the ledger is booked. */
    settled: () =>
      eventually(async () => {
        const { n } = await db.one<{ n: number }>(
          `select count(*)::int as n from invoices.outbox o
           where o.kind in ('deposit.settled', 'deposit.reversed')
             and not exists (select 1 from ledger.inbox i where i.event_id = o.id)`,
        );
        if (n > 0) throw new Error(`${n} events have not reached the ledger`);
      }),
    async invoice(account: AccountId, order: object): Promise<Invoice> {
      const given = { account, body: order, now: clock.now() };
      const { status, body } = await api(invoices.port, 'POST', '/api/invoices', given);
      if (status !== 201) throw new Error(`POST /api/invoices answers ${JSON.stringify(body)}`);
      const { id, amount } = body.data;
      // As it is stored and compared, not as people see it.
      const { address } = await db.one<{ address: string }>('select address from invoices where id = $1', [
        id,
      ]);
      return { id, amount, address };
    },
    /** An invoice as its merchant sees it. */
    read: async (account: AccountId, id: string) =>
      (await api(invoices.port, 'GET', `/api/invoices/${id}`, { account, now: clock.now() })).body,
    /** Settled deposits that their chain does not bear out, and addresses with more than is booked, by the checker of production. */
    unborne: (chain: Chain): Promise<string[]> => borneOutBy(chain, snapshotOf(db, 60_000)),
    /**
     * The same, were the largest deposit of the chain not written down, of those whose transaction pays the address once: of
     * another one its fellow is told too.
     */
    async unborneWithoutLargest(chain: Chain): Promise<{ found: string[]; address: string | undefined }> {
      const largest = await db.maybe<{ id: string; address: string }>(
        `select id, address from deposits d where chain = $1 and state = 'settled'
           and not exists (select 1 from deposits o
             where o.chain = d.chain and o.tx_hash = d.tx_hash and o.address = d.address and o.id <> d.id)
         order by amount desc, id limit 1`,
        [chain],
      );
      const found = await borneOutBy(chain, (work) => withoutDeposit(db, largest?.id ?? '', work));
      return { found, address: largest?.address };
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
      const stepMs = STEP * watched(invoices.ports.chains, chain).outageMs;
      while (clock.at.getTime() < until) {
        clock.at = new Date(Math.min(until, clock.at.getTime() + stepMs));
        await mine();
        await look(chain);
      }
    },
    async stop() {
      await invoices.stop();
      await keyHolder.close();
      await fixture.stop();
    },
  };
}

/** The same over a real Ethereum node, which is read up to its head. */
export async function startEvmMoneyIn(
  { node, usdc }: EvmChain,
  confirmations: number,
  rpcUrl = node.rpcUrl,
): Promise<MoneyIn> {
  const shop = await startMoneyIn(
    { ETH: { rate: '2500', confirmations }, USDC_ERC20: { rate: '1', confirmations } },
    {
      ETHEREUM_RPC_URL: rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_USDC_ADDRESS: usdc,
      ETHEREUM_XPUB: openEvmWallet(SEED).accountXpub,
    },
  );
  await shop.look('ethereum');
  return shop;
}

/** The same over a real Bitcoin Core. */
export async function startBitcoinMoneyIn({ node }: BitcoinChain, confirmations: number): Promise<MoneyIn> {
  const shop = await startMoneyIn(
    { BTC: { rate: '60000', confirmations } },
    {
      BITCOIN_RPC_URL: node.rpcUrl,
      BITCOIN_NETWORK: 'regtest',
      BITCOIN_XPUB: openBitcoinWallet('regtest', SEED).accountXpub,
      // An outage is three times as long, so that an hour of blocks passes in a third of the looks.
      SCAN_EVERY_MS: '10000',
    },
  );
  await shop.look('bitcoin');
  return shop;
}

class RolledBack extends Error {}

/** Reads records that lack a deposit, and keeps them as they are. */
async function withoutDeposit<T>(db: Db, id: string, work: (trx: Trx) => Promise<T>): Promise<T> {
  const read: T[] = [];
  const reading = db.transaction(async (trx) => {
    await trx.rows('delete from deposits where id = $1', [id]);
    read.push(await work(trx));
    throw new RolledBack();
  });
  await reading.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
  return read[0] as T;
}
