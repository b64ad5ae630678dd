import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, expect } from '@jest/globals';
import type { Block } from '@quittance/chains/chain';
import { chainKinds, nativeAsset } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import type { EventKind, PayloadOf } from '@quittance/shared/events';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { api } from '@quittance/testkit/api';
import { anEventOf, boardOf } from '@quittance/testkit/builders';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import pg from 'pg';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import type { WatchedChain } from '../src/ports.ts';
import type { InvoicesService } from '../src/service.ts';
import { createScanner } from '../src/workers.ts';
import {
  type Any,
  confirmKeys,
  type FixtureOptions,
  settings,
  someFiatRates,
  someQuotes,
  startReplica,
  watchScripted,
} from './replica.ts';
import { newTx, type Paying, type Script, scriptedChain } from './scripted-chain.ts';

export const MINUTE = 60_000;
export const ETHER = 10n ** 18n;
/** The amount due of an invoice of 25 dollars: 0.01 ETH. */
export const DUE = ETHER / 100n;
/** Scripts of blocks without payments. */
export const empty = (count: number): Script[] => Array.from({ length: count }, () => ({}));
/** A time in the form of the API. */
export const later = (time: Date, ms: number): string => new Date(time.getTime() + ms).toISOString();

export type Told = { kind: EventKind; payload: Any };

export type Fixture = Awaited<ReturnType<typeof startFixture>>;

/**
 * The invoices service on real Postgres and NATS, with a scripted chain and a clock that the test advances. Only events are
 * published automatically: tests step the workers.
 */
export async function startFixture(options: FixtureOptions = {}) {
  const { chain: chainName = 'ethereum' } = options;
  const clock = { at: new Date('2026-03-01T12:00:00.000Z'), now: () => new Date(clock.at) };
  const kind = chainKinds[chainName];
  const chain = scriptedChain(clock.now, {
    chain: chainName,
    balances: kind === 'evm',
    pending: kind !== 'evm',
  });
  const database = await testDatabase();
  const nats = options.natsUrl === undefined ? await testNats() : undefined;
  const natsUrl = nats?.url ?? (options.natsUrl as string);
  const logger = createLogger('invoices', 'silent');
  const quotes = someQuotes(chainName, clock.at);
  const fiatRates = someFiatRates(clock.at);
  const board = { stale: false };
  if (options.unconfirmed !== true && kind !== 'solana') await confirmKeys(database, settings[chainName]);
  const services: InvoicesService[] = [];

  async function replica(): Promise<InvoicesService> {
    const service = await startReplica(database, natsUrl, {
      clock,
      logger,
      random: randomBytes,
      quotes: boardOf(quotes, () => !board.stale),
      fiatRates: { fresh: (currency) => fiatRates.get(currency) },
      toleranceBps: options.toleranceBps ?? 0,
      watch: (db) => watchScripted(chain, db, options),
    });
    services.push(service);
    return service;
  }

  const service = await replica();
  const { ports } = service;
  const watchedChain = ports.chains.get(chainName) as WatchedChain;
  const scanner = createScanner(ports, watchedChain);
  const ledger = await connectBus({ url: natsUrl, service: 'ledger', logger });
  const admin = new pg.Pool({
    connectionString: database.adminUrl,
    max: 2,
    options: '-c search_path=invoices',
  });
  // A pool has ended before its connections are closed, and the database is dropped under them.
  admin.on('connect', (client) => client.on('error', () => undefined));

  async function rows(sql: string, values: unknown[] = []): Promise<Any[]> {
    return (await admin.query(sql, values)).rows;
  }

  /** Scans until the chain is synced, and expires invoices. */
  async function scan(): Promise<void> {
    while ((await scanner.step()) > 0);
    while ((await expireInvoices(ports, watchedChain)) > 0);
  }

  async function tell<K extends EventKind>(kind: K, payload: PayloadOf<K>, given: { id?: string } = {}) {
    const event = anEventOf(kind, payload, given);
    const [stored] = await ledger.publish([
      { kind, dedupe: randomBytes(8).toString('hex'), body: JSON.stringify(event) },
    ]);
    if (stored !== true) throw new Error('the bus did not take the event');
    return event.id;
  }

  /** Acts as the ledger: credits the settled deposits and reports it. */
  async function credit(): Promise<void> {
    const due = await rows(
      'select id, invoice_id from deposits where settled_at is not null and credited_at is null',
    );
    for (const { id, invoice_id } of due) await tell('credit.recorded', { deposit_id: id, invoice_id });
    await eventually(async () => {
      const [{ n }] = await rows(
        'select count(*)::int as n from deposits where settled_at is not null and credited_at is null',
      );
      if (n > 0) throw new Error(`${n} credits were not taken in`);
    });
  }

  function merchant(account: AccountId = newAccountId(new Date())) {
    const call = (
      method: 'GET' | 'POST' | 'PATCH',
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => api(service.port, method, path, { account, body, headers, now: clock.now() });
    return {
      account,
      get: (path: string) => call('GET', path),
      post: (path: string, body: unknown, headers?: Record<string, string>) =>
        call('POST', path, body, headers),
      patch: (path: string, body: unknown) => call('PATCH', path, body),
      /** A new invoice, by default of 25 dollars in the chain's own asset. */
      async invoice(order: object = {}): Promise<Any> {
        const answer = await call('POST', '/api/invoices', {
          ...{ asset: nativeAsset[chainName], amount: 25 },
          ...order,
        });
        if (answer.status !== 201)
          throw new Error(`POST /api/invoices answers ${JSON.stringify(answer.body)}`);
        return answer.body.data;
      },
      async read(id: string): Promise<Any> {
        return (await call('GET', `/api/invoices/${id}`)).body;
      },
    };
  }

  /** The events of an invoice in order, for its merchant and for the ledger. */
  async function told(invoiceId: string): Promise<Told[]> {
    return await rows(
      `select kind, payload from outbox
       where payload->>'resource_id' = $1 or payload->>'invoice_id' = $1 order by seq`,
      [invoiceId],
    );
  }

  /** An invoice of a new merchant: its address, what its merchant reads, and what was reported of it. */
  async function anInvoice(order: object = {}) {
    const shop = merchant();
    const made = await shop.invoice(order);
    const id: string = made.id;
    const shown: string = made.address.address;
    const read = () => shop.read(id);
    const kinds = async () => (await told(id)).map(({ kind }) => kind);
    /** What was reported since it was created. */
    const changes = async () => (await kinds()).slice(1);
    return {
      id,
      expiresAt: new Date(made.expires_at),
      shown,
      to: chainName === 'ethereum' ? shown.toLowerCase() : shown,
      read,
      /** Expects that its merchant reads this of it. */
      expectShown: async (expected: object) => expect(await read()).toMatchObject(expected),
      kinds,
      changes,
      /** Expects that exactly this was reported since it was created. */
      expectReported: async (...expected: EventKind[]) => expect(await changes()).toEqual(expected),
      last: async () => (await told(id)).at(-1),
      settled: async () => (await told(id)).filter(({ kind }) => kind === 'deposit.settled'),
      deposits: () =>
        rows('select * from deposits where invoice_id = $1 order by first_seen_at, amount, id', [id]),
    };
  }

  return {
    clock,
    chain,
    database,
    natsUrl,
    service,
    ports,
    watchedChain,
    scanner,
    quotes,
    /** Those that are fresh. */
    fiatRates,
    board,
    rows,
    scan,
    tell,
    credit,
    merchant,
    anInvoice,
    replica,
    /** Advances the clock of service and chain. */
    pass(ms: number) {
      clock.at = new Date(clock.at.getTime() + ms);
    },
    told,
    async stop() {
      await Promise.all(services.map((one) => one.stop()));
      await ledger.close();
      await admin.end();
      await nats?.stop();
      await database.drop();
    },
  };
}

/** For one suite: a fixture that has scanned its chain, with steps on it. It stops after the last test. */
export async function openFixture(options: FixtureOptions = {}) {
  const fixture = await startFixture(options);
  const [quotes, fiatRates] = [[...fixture.quotes], [...fixture.fiatRates]];
  // A test changes quotes and rates for itself alone.
  afterEach(() => {
    for (const [asset, quote] of quotes) fixture.quotes.set(asset, quote);
    for (const [currency, rate] of fiatRates) fixture.fiatRates.set(currency, rate);
    fixture.board.stale = false;
  });
  afterAll(() => fixture.stop());
  await fixture.scan();
  const { chain, scan } = fixture;

  /** Mines blocks and scans them. */
  async function mine(...blocks: Script[]) {
    const mined = chain.mine(...blocks);
    await scan();
    return mined;
  }
  const blocks = (count: number) => mine(...empty(count));

  return {
    fixture,
    mine,
    blocks,
    /** Replaces the last blocks and scans the new ones. */
    async reorg(depth: number, ...by: Script[]) {
      chain.reorg(depth, ...by);
      await scan();
    },
    /** For one test: a fixture with a database and a chain of its own. */
    async withFresh(of: FixtureOptions, use: (fresh: Fixture) => Promise<void>): Promise<void> {
      const fresh = await startFixture({ ...of, natsUrl: fixture.natsUrl });
      try {
        await use(fresh);
      } finally {
        await fresh.stop();
      }
    },
    anInvoice: fixture.anInvoice,
    /** Mines a payment and scans its block. */
    async pay(to: string, amount: bigint, more: Partial<Paying> = {}) {
      const [block] = await mine({ pay: [{ to, amount, ...more }] });
      const [payment] = block?.payments ?? [];
      return { block: block as Block, tx: payment?.txHash as string };
    },
    /** Makes payments final that the last block confirmed once, and credits them. */
    async settle() {
      await blocks(2);
      await fixture.credit();
    },
    /** Mines and scans native money that a contract sends. Only the balance shows it. */
    inside: (to: string, amount: bigint = DUE) => mine({ inside: [{ to, amount }] }),
    /** A payment that is seen in the mempool. */
    async send(to: string, amount: bigint, more: Partial<Paying> = {}): Promise<string> {
      const tx = more.tx ?? newTx();
      chain.wait({ to, amount, ...more, tx });
      await scan();
      return tx;
    },
    /** The mempool loses a transaction. */
    async forget(tx: string) {
      chain.forget(tx);
      await scan();
    },
    /** Advances the clock and mines a block at that time. */
    async pass(ms: number) {
      fixture.pass(ms);
      await blocks(1);
    },
  };
}
