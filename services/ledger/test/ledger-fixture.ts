import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { commandSubject, commands, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, EventOf, PayloadOf } from '@quittance/shared/events';
import { type AccountId, type DepositId, newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { handleBatch } from '@quittance/shared/process-messages';
import { Secret } from '@quittance/shared/secret';
import { api, gatewayPublicKeys } from '@quittance/testkit/api';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import type { LedgerConfig } from '../src/config.ts';
import type { Posting } from '../src/domain/posting.ts';
import { handlers } from '../src/handlers.ts';
import { acceptDeposit } from '../src/operations/accept-unresolved.ts';
import { type LedgerOptions, type LedgerService, startLedger } from '../src/service.ts';
import { rememberReversals } from '../src/store/reversals.ts';
import { findSuspense } from '../src/store/suspense.ts';
import { discrepanciesOf } from './discrepancies-of.ts';
import { fixedPrices } from './fixed-prices.ts';
import { withRequest } from './with-request.ts';

export const logger = createLogger('ledger', 'silent');
const ASK_TIMEOUT_MS = 1_000;
const TRIES_MAX = 25;

export type Sent = { [K in EventKind]: { kind: K; payload: PayloadOf<K>; id?: string } }[EventKind];

/** A database and a bus of its own, and as many ledgers on them as a test starts. */
async function ledgerFixture() {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const admin = openDb({ url: database.adminUrl, schema: 'ledger', pool: 2, logger });
  const db = openDb({
    url: database.urlOf('ledger'),
    schema: 'ledger',
    pool: 8,
    logger,
    // Tests ask for a hundred things at once, more than a service does, and wait for each.
    connectWithinMs: 30_000,
  });
  const bus = await connectBus({ url: nats.url, service: 'payouts', logger });
  const running = new Set<LedgerService>();
  const config: LedgerConfig = {
    HOST: '127.0.0.1',
    PORT: 0,
    DATABASE_URL: new Secret(database.urlOf('ledger')),
    DATABASE_POOL: 8,
    NATS_URL: new Secret(nats.url),
    GATEWAY_PUBLIC_KEY: gatewayPublicKeys,
    UNPROVEN_HOLDS_UNTIL: undefined,
    PUBLIC_URL: 'http://localhost:4000',
    LOG_LEVEL: 'silent',
    PRICES: { from: 'public' },
    QUOTES_EVERY_MS: 1_000,
    ASSETS_ACTIVE: ['ETH', 'USDC_ERC20'],
    MIN_CONFIRMATIONS: new Map(),
  };

  return {
    /** The database as its owner sees it, for looking. */
    admin,
    /** The database as the ledger's role sees it. */
    db,
    /** NATS as another service is connected to it. */
    bus,
    natsUrl: nats.url,
    config,
    async start({ config: other, ...options }: LedgerOptions & { config?: Partial<LedgerConfig> } = {}) {
      const ledger = await startLedger(
        { ...config, ...other },
        { logger, workers: false, prices: fixedPrices([]), retryMs: [20, 100], ...options },
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
    /** Sends events as their senders would, in this order; `id` makes a copy of an event. */
    async send(events: readonly Sent[]) {
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
    handle: (...events: Sent[]) => handleOn(db, ...events),
    /** Asks for a hold until the answer is known, as a payout that is made again would. */
    async place(request: Hold): Promise<ReplyOf<'hold.place'>['outcome']> {
      const { reply } = commands['hold.place'];
      for (let tries = 1; ; tries++) {
        const question = withRequest(request);
        const asked = await bus.request(commandSubject('hold.place'), question, reply, ASK_TIMEOUT_MS);
        if (asked.known) return asked.reply.outcome;
        if (tries === TRIES_MAX) throw new Error(`no answer to ${JSON.stringify(request)}: ${asked.reason}`);
      }
    },
    /** What is available, held and unresolved. */
    async balance(account: AccountId, asset: AssetSymbol = 'ETH'): Promise<[string, string, string]> {
      const row = await admin.maybe<{ available: string; held: string; unresolved: string }>(
        'select available, held, unresolved from balances where account_id = $1 and asset = $2',
        [account, asset],
      );
      return row ? [row.available, row.held, row.unresolved] : ['0', '0', '0'];
    },
    /** Has the reversal of a deposit wait though the deposit is booked, as earlier releases left it. */
    async leaveReversal({ deposit_id, account_id, asset, amount, outpoint }: PayloadOf<'deposit.reversed'>) {
      const id = deposit_id as DepositId;
      const deposit = { id, account: account_id as AccountId, asset, amount: units(amount), outpoint };
      await db.transaction((trx) => rememberReversals(trx, [deposit]));
    },
    /** Its transfer and entries stand in the tables as the posting says. */
    async expectBooked(posting: Posting) {
      const rows = await admin.rows(
        `select op, kind, account_id as account, asset, amount, network_fee as "networkFee", detail, (
           select json_agg(json_build_object('bucket', bucket, 'amount', amount::text) order by seq)
           from entries where transfer_seq = t.seq) as entries
         from transfers t where op = $1`,
        [posting.op],
      );
      const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);
      expect(rows).toEqual(JSON.parse(JSON.stringify([posting], text)));
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
type LedgerFixture = Awaited<ReturnType<typeof ledgerFixture>>;

/** Asks a ledger over HTTP, as the gateway does for this account. */
export const askHttp = (
  { port }: LedgerService,
  path: string,
  account?: AccountId,
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
  body?: object,
) => api(port, method, path, { account, body });

export const envelopeOf = (event: Sent) =>
  ({ ...anEventOf(event.kind, event.payload), ...event }) as EventOf<EventKind>;

/** Handles events in one transaction as the consumer does, as if none had ever come before. */
export const handleOn = (db: Db, ...events: Sent[]): Promise<void> =>
  db.transaction((trx) => handleBatch(trx, events.map(envelopeOf), handlers, { logger }));

export const anAccount = (): AccountId => newAccountId(new Date());

/** An id like the payouts service's: a number below 2^53. */
export const aPayoutId = (): string => (randomBytes(6).readUIntBE(0, 6) + 1).toString();

export function aDeposit(
  account: AccountId,
  amount: bigint | string,
  other: Partial<PayloadOf<'deposit.settled'>> = {},
): PayloadOf<'deposit.settled'> {
  const outpoint = `0x${randomBytes(8).toString('hex')}:0`;
  return aSettledDeposit({ account_id: account, amount: amount.toString(), outpoint, ...other });
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

export type LedgerDeposit = ReturnType<typeof aDeposit>;
export type Hold = RequestOf<'hold.place'>;

export const settled = (payload: LedgerDeposit, id?: string): Sent => ({
  kind: 'deposit.settled',
  payload,
  ...(id === undefined ? {} : { id }),
});
export const reversed = (deposit: LedgerDeposit): Sent => ({
  kind: 'deposit.reversed',
  payload: reversalOf(deposit),
});
const outcomeOf = ({ deposit_id: _, ...hold }: Hold): PayloadOf<'hold.settle'> => ({
  ...hold,
  tx_hash: '0xab',
});
export const settle = (hold: Hold): Sent => ({ kind: 'hold.settle', payload: outcomeOf(hold) });
export const release = (hold: Hold, feeKept = false): Sent => ({
  kind: 'hold.release',
  payload: { ...outcomeOf(hold), fee_kept: feeKept },
});
export const giveUp = ({ payout_id, account_id, asset }: Hold): Sent => ({
  kind: 'hold.void',
  payload: { payout_id, account_id, asset },
});

/** A payout that pays all of a deposit back, less the fee. */
export const aReturn = (deposit: LedgerDeposit, fee = 10n, other: Partial<Hold> = {}): Hold =>
  aHold(deposit.account_id as AccountId, BigInt(deposit.amount) - fee, {
    network_fee: fee.toString(),
    deposit_id: deposit.deposit_id,
    ...other,
  });

/** The same payment in another block: another deposit of the same outpoint. */
export const minedAgain = (deposit: LedgerDeposit, other: Partial<LedgerDeposit> = {}): LedgerDeposit => ({
  ...deposit,
  deposit_id: aDeposit(deposit.account_id as AccountId, 1n).deposit_id,
  ...other,
});

/** For one suite: ledgers of one or two replicas, whose books have no discrepancy after any test. */
export function openLedger({ replicas = 1 }: { replicas?: 0 | 1 | 2 } = {}) {
  // Filled when the first test begins: a run that skips all tests of a suite starts nothing.
  const [fixture, one, other] = [{} as LedgerFixture, {} as LedgerService, {} as LedgerService];
  beforeAll(async () => {
    Object.assign(fixture, await ledgerFixture());
    await Promise.all(
      [one, other].slice(0, replicas).map(async (replica) => Object.assign(replica, await fixture.start())),
    );
  });
  afterAll(() => fixture.stop?.());
  const discrepancies = () => discrepanciesOf(fixture.admin);
  afterEach(async () => expect(await discrepancies()).toEqual([]));
  return {
    fixture,
    one,
    other,
    /** Those of the ledger's own invariants, as production checks them. */
    discrepancies,
    handle: (...events: Sent[]) => fixture.handle(...events),
    async anUnresolved(account = anAccount(), amount = 100n, other: Partial<LedgerDeposit> = {}) {
      const deposit = aDeposit(account, amount, { disposition: 'unresolved', tx_hash: '0xpaid', ...other });
      await fixture.handle(settled(deposit));
      return deposit;
    },
    accept: (deposit: LedgerDeposit, account = deposit.account_id as AccountId, { ports } = one) =>
      acceptDeposit(ports, account, deposit.deposit_id as DepositId),
    /** Pays out so much of the account’s balance. */
    async spend({ account_id }: Pick<LedgerDeposit, 'account_id'>, amount: bigint): Promise<void> {
      const hold = aHold(account_id as AccountId, amount);
      expect(await fixture.place(hold)).toBe('placed');
      await fixture.handle(settle(hold));
    },
    async stateOf(deposit: LedgerDeposit) {
      const item = await findSuspense(fixture.db, deposit.deposit_id as DepositId);
      return item && [item.state, item.amount.toString()];
    },
    /** What the accounts of the platform have of a merchant’s transfers; `loss` is negative. */
    async platform(account: string): Promise<Record<string, string>> {
      const rows = await fixture.admin.rows<{ bucket: string; amount: string }>(
        `select e.bucket, sum(e.amount) as amount from entries e join transfers t on t.seq = e.transfer_seq
         where t.account_id = $1 and e.account_id is null group by e.bucket having sum(e.amount) <> 0`,
        [account],
      );
      return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]));
    },
  };
}
