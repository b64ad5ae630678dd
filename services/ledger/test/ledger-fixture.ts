import { randomBytes } from 'node:crypto';
import { invariants } from '@quittance/reconciliation/invariants';
import type { AssetSymbol } from '@quittance/shared/assets';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { commandSubject, commands, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, EventOf, PayloadOf } from '@quittance/shared/events';
import {
  type AccountId,
  type DepositId,
  newAccountId,
  newDepositId,
  newEventId,
} from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { handleBatch } from '@quittance/shared/process-messages';
import { Secret } from '@quittance/shared/secret';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import type { LedgerConfig } from '../src/config.ts';
import type { Reading } from '../src/domain/quote.ts';
import { handlers } from '../src/handlers.ts';
import type { PriceSource } from '../src/ports.ts';
import { type LedgerOptions, type LedgerService, startLedger } from '../src/service.ts';
import { rememberReversals } from '../src/store/reversals.ts';

export const IDENTITY_SECRET = 'a secret of the tests, long enough';
export const logger = createLogger('ledger', 'silent');
const ASK_TIMEOUT_MS = 5_000;
const TRIES_MAX = 5;

export type Sent = { [K in EventKind]: { kind: K; payload: PayloadOf<K>; id?: string } }[EventKind];

export type LedgerFixture = {
  /** The database as its owner sees it, for looking. */
  admin: Db;
  /** The database as the ledger's role sees it. */
  db: Db;
  /** NATS as another service is connected to it. */
  bus: Bus;
  natsUrl: string;
  config: LedgerConfig;
  start(options?: LedgerOptions & { config?: Partial<LedgerConfig> }): Promise<LedgerService>;
  /** Sends events as their senders would, in this order; `id` makes a copy of an event. */
  send(events: readonly Sent[]): Promise<void>;
  /** Handles events in one transaction as the consumer does, as if none had ever come before. */
  handle(...events: Sent[]): Promise<void>;
  /** Has the reversal of a deposit wait though the deposit is booked, as earlier releases left it. */
  leaveReversal(deposit: PayloadOf<'deposit.reversed'>): Promise<void>;
  /** Asks for a hold until the answer is known, as a payout that is made again would. */
  place(request: RequestOf<'hold.place'>): Promise<ReplyOf<'hold.place'>['outcome']>;
  balance(
    account: AccountId,
    asset?: AssetSymbol,
  ): Promise<[available: string, held: string, unresolved: string]>;
  /** The discrepancies of the ledger's own invariants, as production checks them. */
  discrepancies(): Promise<string[]>;
  stop(): Promise<void>;
};

/** A database and a bus of its own, and as many ledgers on them as a test starts. */
export async function ledgerFixture(): Promise<LedgerFixture> {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const admin = openDb({ url: database.adminUrl, schema: 'ledger', pool: 2, logger });
  const db = openDb({ url: database.urlOf('ledger'), schema: 'ledger', pool: 8, logger });
  const bus = await connectBus({ url: nats.url, service: 'payouts', logger });
  const running = new Set<LedgerService>();
  const config: LedgerConfig = {
    HOST: '127.0.0.1',
    PORT: 0,
    DATABASE_URL: new Secret(database.urlOf('ledger')),
    DATABASE_POOL: 8,
    NATS_URL: new Secret(nats.url),
    IDENTITY_SECRET: new Secret(IDENTITY_SECRET),
    PUBLIC_URL: 'http://localhost:4000',
    LOG_LEVEL: 'silent',
    PRICES: { from: 'public' },
    QUOTES_EVERY_MS: 1_000,
    ASSETS_ACTIVE: ['ETH', 'USDC_ERC20'],
    MIN_CONFIRMATIONS: new Map(),
  };

  return {
    admin,
    db,
    bus,
    natsUrl: nats.url,
    config,
    async start({ config: other, ...options } = {}) {
      const ledger = await startLedger(
        { ...config, ...other },
        { logger, workers: false, prices: fixedPrices([]), ...options },
      );
      const stoppable: LedgerService = {
        ...ledger,
        stop: async () => {
          if (running.delete(stoppable)) await ledger.stop();
        },
      };
      running.add(stoppable);
      return stoppable;
    },
    async send(events) {
      let unsent = events.map((event) => ({
        kind: event.kind,
        dedupe: randomBytes(8).toString('hex'),
        body: JSON.stringify(envelopeOf(event)),
      }));
      // The first of all makes the stream and is not stored; a relay would send it again as well.
      while (unsent.length > 0) {
        const stored = await bus.publish(unsent);
        unsent = unsent.filter((_, i) => stored[i] !== true);
      }
    },
    handle: (...events) =>
      db.transaction((trx) =>
        handleBatch(trx, events.map(envelopeOf) as EventOf<EventKind>[], handlers, { logger }),
      ),
    async place(request) {
      const { reply } = commands['hold.place'];
      for (let tries = 1; ; tries++) {
        const asked = await bus.request(commandSubject('hold.place'), request, reply, ASK_TIMEOUT_MS);
        if (asked.known) return asked.reply.outcome;
        if (tries === TRIES_MAX) throw new Error(`no answer to ${JSON.stringify(request)}: ${asked.reason}`);
      }
    },
    async balance(account, asset = 'ETH') {
      const row = await admin.maybe<{ available: string; held: string; unresolved: string }>(
        'select available, held, unresolved from balances where account_id = $1 and asset = $2',
        [account, asset],
      );
      return row ? [row.available, row.held, row.unresolved] : ['0', '0', '0'];
    },
    async leaveReversal({ deposit_id, account_id, asset, amount, outpoint }) {
      const id = deposit_id as DepositId;
      const deposit = { id, account: account_id as AccountId, asset, amount: units(amount), outpoint };
      await db.transaction((trx) => rememberReversals(trx, [deposit]));
    },
    async discrepancies() {
      const found: string[] = [];
      for (const { number, sql } of invariants.filter((one) => ['I1', 'I2', 'I3'].includes(one.number))) {
        const rows = await admin.rows<{ what: string }>(sql);
        found.push(...rows.map(({ what }) => `${number}: ${what}`));
      }
      const waiting = await admin.rows<{ what: string }>(UNRESOLVED_DISAGREES);
      return [...found, ...waiting.map(({ what }) => what)];
    },
    async stop() {
      await Promise.all([...running].map((ledger) => ledger.stop()));
      await bus.close();
      await Promise.all([admin.close(), db.close()]);
      await nats.stop();
      await database.drop();
    },
  };
}

/** What waits for a decision, and what is on its way back, is the same in all three tables. */
const UNRESOLVED_DISAGREES = `
  select b.account_id || ' ' || b.asset || ' has ' || b.unresolved || ' unresolved, its open deposits sum to ' ||
    coalesce(u.amount, 0) as what
  from balances b left join (
    select account_id, asset, sum(amount) as amount from unresolved where state = 'open' group by 1, 2
  ) u using (account_id, asset)
  where b.unresolved <> coalesce(u.amount, 0)
  union all
  select 'deposit ' || deposit_id || ' is ' || u.state || ', the hold of payout ' || h.payout_id || ' is ' || h.state
  from unresolved u join holds h using (deposit_id)
  where u.state <> 'reversed'
    and (h.state = 'placed' and (u.state <> 'returning' or u.payout_id <> h.payout_id)
      or h.state = 'settled' and (u.state <> 'returned' or u.payout_id <> h.payout_id))`;

const envelopeOf = (event: Sent) => ({
  id: newEventId(new Date()),
  created_at: new Date().toISOString(),
  request_id: null,
  ...event,
});

export const anAccount = (): AccountId => newAccountId(new Date());

/** An id like the payouts service's: a number below 2^53. */
export const aPayoutId = (): string => (randomBytes(6).readUIntBE(0, 6) + 1).toString();

export function aDeposit(
  account: AccountId,
  amount: bigint | string,
  other: Partial<PayloadOf<'deposit.settled'>> = {},
): PayloadOf<'deposit.settled'> {
  return {
    deposit_id: newDepositId(new Date()),
    account_id: account,
    invoice_id: 'inv_1',
    asset: 'ETH',
    amount: amount.toString(),
    address: '0x0000000000000000000000000000000000000001',
    derivation_index: 1,
    outpoint: `0x${randomBytes(8).toString('hex')}:0`,
    tx_hash: null,
    block_height: 1,
    block_hash: '0x01',
    disposition: 'credit',
    ...other,
  };
}

/** The same deposit, as it is told when the chain took it back. */
export function reversalOf({
  disposition: _,
  ...deposit
}: PayloadOf<'deposit.settled'>): PayloadOf<'deposit.reversed'> {
  return deposit;
}

export function aHold(
  account: AccountId,
  amount: bigint | string,
  other: Partial<RequestOf<'hold.place'>> = {},
): RequestOf<'hold.place'> {
  return {
    payout_id: aPayoutId(),
    account_id: account,
    asset: 'ETH',
    amount: amount.toString(),
    network_fee: '0',
    deposit_id: null,
    ...other,
  };
}

/** Prices that the test sets; `read` counts how often they were asked for. */
export function fixedPrices(readings: readonly Reading[], sourcesMin = 1) {
  const prices = { sourcesMin, now: [...readings], reads: 0, read };
  async function read(): Promise<Reading[]> {
    prices.reads += 1;
    return prices.now;
  }
  return prices satisfies PriceSource;
}
