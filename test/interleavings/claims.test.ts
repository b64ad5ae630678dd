import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkAddress } from '@quittance/chains/evm/wallet';
import { handlers } from '@quittance/ledger/handlers';
import { holdBatcherOf, placeHold } from '@quittance/ledger/operations/place-hold';
import { readBalance } from '@quittance/ledger/operations/read-balance';
import { claimHashOf, claimTokenOf } from '@quittance/payouts/claim-token';
import { payOnce } from '@quittance/payouts/http/pay-once';
import { cancelClaim, endRefunds, payClaim } from '@quittance/payouts/operations/claim-refund';
import { createRefund } from '@quittance/payouts/operations/create-refund';
import { describeInvoice } from '@quittance/payouts/operations/describe-invoice';
import { failPayout } from '@quittance/payouts/operations/transactions';
import { readPayoutOrder } from '@quittance/payouts/payout-order';
import type { PayoutChain, Ports } from '@quittance/payouts/ports';
import type { StoredRefund } from '@quittance/payouts/store/refund-rows';
import { findRefundByClaim } from '@quittance/payouts/store/refunds';
import type { Bus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, EventOf, PayloadOf } from '@quittance/shared/events';
import { type AccountId, newAccountId, newInvoiceId, type PayoutId } from '@quittance/shared/ids';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { handleBatch } from '@quittance/shared/process-messages';
import type { Quote } from '@quittance/shared/quotes';
import { Secret } from '@quittance/shared/secret';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { testDatabase } from '@quittance/testkit/engines';
import {
  type Interleave,
  type Interleaver,
  type Operation,
  openInterleaver,
  returned,
} from './interleave.ts';

/** Of a refund of 30 to a payer who has its claim link, from a balance of 100. Payouts asks the ledger itself for the hold. */
const [BALANCE, AMOUNT, FEE] = [100n, 30n, 2n];
/** Longer than an operation needs to come from its start to its first pause. */
const LINK_ENDS_AFTER_MS = 200;
const recipients = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];

const logger = createLogger('interleavings', 'silent');
let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db;
let ledger: Db;
let replicas: Interleaver;
beforeAll(async () => {
  database = await testDatabase();
  db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 1, logger });
  ledger = openDb({ url: database.urlOf('ledger'), schema: 'ledger', pool: 2, logger });
  replicas = await openInterleaver(database, 'payouts');
});
afterAll(async () => {
  await Promise.all([db.close(), ledger.close(), replicas.close()]);
  await database.drop();
});

const quote = {
  asset: 'ETH',
  usd_rate: '2500',
  network_fee: FEE.toString(),
  min_confirmations: 3,
  dust: '1',
};
const quotes = { latest: () => quote as unknown as Quote, fresh: () => quote as unknown as Quote };
const chain = {
  kind: 'evm',
  chain: 'ethereum',
  sender: { hotAddress: `0x${'1'.repeat(40)}` },
  signingPause: { reason: undefined },
  assets: ['ETH'],
  checkAddress,
} as unknown as PayoutChain;

/** What payouts has for one account: an invoice of which all is paid, the ledger, and how often it was asked for a hold. */
function portsOf(on: Db, account: AccountId, holds: string[]): Ports {
  const batcher = holdBatcherOf({ db: ledger, clock: systemClock });
  const invoice = {
    account_id: account,
    ...{ asset: 'ETH', status: 'paid', usd_rate: '2500', currency: 'USD' },
    ...{ amount_due: AMOUNT.toString(), paid_amount: AMOUNT.toString() },
  };
  async function ask(command: string, request: never) {
    if (command === 'invoice.describe') return { known: true, reply: { invoice } };
    if (command === 'balance.read') return { known: true, reply: await readBalance({ db: ledger }, request) };
    holds.push((request as { payout_id: string }).payout_id);
    return { known: true, reply: await placeHold({ holds: batcher, logger }, request) };
  }
  return {
    db: on,
    bus: { connected: () => true, ask } as unknown as Bus,
    clock: systemClock,
    random: randomBytes,
    logger,
    throttledLog: throttledLog(logger, Date.now),
    quotes,
    chains: new Map([['ethereum', chain]]),
    fiatRates: { fresh: () => undefined },
    stalled: new Map(),
    settings: {
      identitySecret: new Secret('x'.repeat(32)),
      publicUrl: 'http://localhost',
      ...{ replica: 'one', chainWorkerEveryMs: 1_000, leaseMs: 60_000 },
      gracePeriods: { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 },
    },
    wakeRelay: () => {},
  };
}

/** An account with a balance. */
async function anAccount(): Promise<AccountId> {
  const account = newAccountId(new Date());
  await tellLedger(
    'deposit.settled',
    aSettledDeposit({ account_id: account, amount: BALANCE.toString(), outpoint: account }),
  );
  return account;
}

const tellLedger = <K extends EventKind>(kind: K, payload: PayloadOf<K>): Promise<unknown> =>
  ledger.transaction((trx) =>
    handleBatch(trx, [anEventOf(kind, payload) as EventOf<EventKind>], handlers, { logger }),
  );

type Link = { account: AccountId; refund: StoredRefund; holds: string[]; ports: (on: Db) => Ports };

/** A claim link of a refund. */
async function aLink({ endsAfterMs }: { endsAfterMs?: number } = {}): Promise<Link> {
  const account = await anAccount();
  const holds: string[] = [];
  const ports = (on: Db) => portsOf(on, account, holds);
  const own = ports(db);
  const invoice = await describeInvoice(own, newInvoiceId());
  if (invoice === null) throw new Error('the invoice is described');
  const notes = { externalId: null, metadata: {} };
  const order = {
    wanted: 'all',
    requested: 'all',
    rate: 'then',
    to: { expiresInDays: 1 },
    ...notes,
  } as const;
  const made = await createRefund(own, invoice, order, { requestId: 'req_link', key: undefined });
  if (!made.ok) throw new Error('the refund is made');
  const { id } = (made.value as { data: { id: StoredRefund['id'] } }).data;
  if (endsAfterMs !== undefined)
    await db.rows(`update refunds set expires_at = now() + $2 * interval '1 ms' where id = $1`, [
      id,
      endsAfterMs,
    ]);
  const refund = await findRefundByClaim(db, claimHashOf(claimTokenOf(own.settings.identitySecret, id)));
  if (refund === undefined) throw new Error('the refund has a link');
  return { account, refund, holds, ports };
}

const claiming = ({ refund, ports }: Link, address = recipients[0]): Operation<string> => ({
  pausesBefore: ['refunds_claim', 'commit'],
  async run(on) {
    const paid = await payClaim(ports(on), refund, { address }, 'req_claim');
    return paid.ok ? 'paid' : String(paid.refusal);
  },
});
const cancelling = ({ refund, ports }: Link): Operation<boolean> => ({
  pausesBefore: ['refunds_cancel', 'commit'],
  run: (on) => cancelClaim(ports(on), refund.id),
});
/** The time of the link is over before this reads it. */
const ending = ({ refund, ports }: Link): Operation<number> => ({
  pausesBefore: ['refunds_expire', 'commit'],
  async run(on) {
    await wait(Math.max(0, (refund.expiresAt?.getTime() ?? 0) - Date.now() + 5));
    return await endRefunds(ports(on));
  },
});

type Books = { state: string; payouts: string[]; available: bigint; held: bigint };

async function booksOf({ account, refund }: Link): Promise<Books> {
  const { state } = await db.one<{ state: string }>('select state from refunds where id = $1', [refund.id]);
  const payouts = await db.rows<{ status: string }>('select status from payouts where refund_id = $1', [
    refund.id,
  ]);
  const balance = await ledger.one<{ available: string; held: string }>(
    'select available, held from balances where account_id = $1',
    [account],
  );
  const { available, held } = balance;
  return {
    state,
    payouts: payouts.map(({ status }) => status),
    available: BigInt(available),
    held: BigInt(held),
  };
}

const untouched = (state: string): Books => ({ state, payouts: [], available: BALANCE, held: 0n });
const claimed: Books = {
  state: 'pending',
  payouts: ['reserved'],
  available: BALANCE - AMOUNT - FEE,
  held: AMOUNT + FEE,
};

/** What won, and that the other one has done nothing: one hold was asked for where the claim has won, else none. */
async function expectOne(link: Link, state: string): Promise<void> {
  expect(await booksOf(link)).toEqual(state === 'pending' ? claimed : untouched(state));
  expect(link.holds).toHaveLength(state === 'pending' ? 1 : 0);
  if (state === 'pending') await expectReleasedOnce(link);
}

/** The payout fails, and all of its hold is in the balance again. */
async function expectReleasedOnce(link: Link): Promise<void> {
  const [id] = link.holds as [PayoutId];
  await db.transaction((trx) =>
    failPayout(trx, id, ['reserved'], { failedReason: 'refused', feeKept: false }),
  );
  const released = await db.rows<{ payload: PayloadOf<'hold.release'> }>(
    `select payload from outbox where kind = 'hold.release' and payload->>'payout_id' = $1`,
    [id],
  );
  expect(released).toHaveLength(1);
  for (const { payload } of [...released, ...released]) await tellLedger('hold.release', payload);
  expect(await booksOf(link)).toMatchObject({ payouts: ['failed'], available: BALANCE, held: 0n });
}

/** The states in which a link ended, over all orders. */
async function inEveryOrder(
  test: (interleave: Interleave) => Promise<string>,
  expected: readonly string[],
): Promise<void> {
  const seen = new Set<string>();
  await replicas.inEveryOrder(async (interleave) => void seen.add(await test(interleave)));
  expect([...seen].sort()).toEqual(expected);
}

it('either claims a refund or cancels it', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink();
      const { a, b } = await interleave(claiming(link), cancelling(link));
      const isCancelled = returned(b);
      expect(returned(a)).toBe(isCancelled ? 'not_claimable' : 'paid');
      const state = isCancelled ? 'cancelled' : 'pending';
      await expectOne(link, state);
      return state;
    },
    ['cancelled', 'pending'],
  );
});

it('either claims a refund or ends its link when its time is over', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink({ endsAfterMs: LINK_ENDS_AFTER_MS });
      const { a, b } = await interleave(claiming(link), ending(link));
      const isPaid = returned(a) === 'paid';
      expect(returned(a)).toBe(isPaid ? 'paid' : 'not_claimable');
      const ended = returned(b) + (isPaid ? 0 : await endRefunds(link.ports(db)));
      expect(ended).toBe(isPaid ? 0 : 1);
      const state = isPaid ? 'pending' : 'expired';
      await expectOne(link, state);
      return state;
    },
    ['expired', 'pending'],
  );
});

it('either cancels a refund or ends its link when its time is over', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink({ endsAfterMs: LINK_ENDS_AFTER_MS });
      const { a, b } = await interleave(cancelling(link), ending(link));
      const isCancelled = returned(a);
      const ended = returned(b) + (isCancelled ? 0 : await endRefunds(link.ports(db)));
      expect(ended).toBe(isCancelled ? 0 : 1);
      const state = isCancelled ? 'cancelled' : 'expired';
      await expectOne(link, state);
      return state;
    },
    ['cancelled', 'expired'],
  );
});

it('pays a refund once that is claimed for two addresses at once', async () => {
  await inEveryOrder(
    async (interleave) => {
      const link = await aLink();
      const { a, b } = await interleave(claiming(link), claiming(link, recipients[1]));
      expect([returned(a), returned(b)].sort()).toEqual(['not_claimable', 'paid']);
      await expectOne(link, 'pending');
      return 'pending';
    },
    ['pending'],
  );
});

it('creates one payout for two requests with one Idempotency-Key', async () => {
  const answers = new Set<number>();
  await replicas.inEveryOrder(async (interleave) => {
    const account = await anAccount();
    const holds: string[] = [];
    const body = { asset: 'ETH', amount: '0.00000000000000003', address: recipients[0] };
    const call = {
      ...{ account, requestId: 'req_pay', idempotencyKey: 'order 1', returnsDeposit: null },
      asked: Buffer.from(JSON.stringify(body)),
    };
    const paying = (): Operation<{ status: number; body: object }> => ({
      pausesBefore: ['idempotency_insert', 'commit'],
      async run(on) {
        const ports = portsOf(on, account, holds);
        return await payOnce(ports, call, () => readPayoutOrder(body, ports));
      },
    });
    const { a, b } = await interleave(paying(), paying());
    const both = [returned(a), returned(b)];
    for (const { status } of both) answers.add(status);
    const [first] = both.filter(({ status }) => status === 201);
    // The other one gets the same answer, or comes while the first one is being carried out.
    for (const { status, body: answered } of both)
      expect([status, status === 201 ? answered : first?.body]).toEqual([
        status === 409 ? 409 : 201,
        first?.body,
      ]);
    expect(holds).toHaveLength(1);
    const made = await db.rows('select id::text as id from payouts where account_id = $1', [account]);
    expect(made).toEqual([{ id: holds[0] }]);
    const { status, headers } = await payOnce(portsOf(db, account, holds), call, () => {
      throw new Error('a request that was answered is not read again');
    });
    expect([status, headers]).toEqual([201, { 'Idempotent-Replayed': 'true' }]);
  });
  expect([...answers].sort()).toEqual([201, 409]);
});
