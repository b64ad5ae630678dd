import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { evmDriver } from '@quittance/payouts/operations/account-chain/evm-driver';
import { pay } from '@quittance/payouts/operations/account-chain/pay-reserved';
import { cancelRequested } from '@quittance/payouts/operations/cancel-requested';
import { chainLease, runChainWorker } from '@quittance/payouts/operations/run-chain-worker';
import { markCancelRequested } from '@quittance/payouts/store/cancellations';
import { findPayout } from '@quittance/payouts/store/payouts';
import type { Db, Trx } from '@quittance/shared/db';
import { takeLease } from '@quittance/shared/lease';
import { testDatabase } from '@quittance/testkit/engines';
import { CONFIRMATIONS, EngineFixture } from '../../services/payouts/test/engine-fixture.ts';
import { type Interleaver, type Operation, openInterleaver, returned } from './interleave.ts';

const ETHER_IN_WALLET = 10_000n;
const LEASE_MS = 60_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
let replicas: Interleaver;
let fixture: EngineFixture;
beforeAll(async () => {
  database = await testDatabase();
  replicas = await openInterleaver(database, 'payouts');
});
afterAll(async () => {
  await replicas.close();
  await database.drop();
});
beforeEach(async () => {
  fixture = await EngineFixture.fresh(database, ETHER_IN_WALLET);
  // The wallet's first signature is preceded by statements that the later ones do not have.
  await fixture.send();
  await fixture.finish();
});
afterEach(async () => {
  await fixture.expectSound();
  await fixture.close();
});

/** Time passes: the replica that has the lease did not prolong it. */
const letLeaseExpire = (db: Db) =>
  db.rows(`update leases set expires_at = clock_timestamp() - interval '1 second'`);

/** No transaction is committed that was signed with a lease which another replica has now. */
async function checkFence(trx: Trx): Promise<void> {
  const strange = await trx.rows(
    'select from transactions where created_at = now() and not exists (select from leases where token = fence)',
  );
  if (strange.length > 0) throw new Error('a transaction was signed with a lost lease');
}

/** A round of a chain worker that finds the lease expired. It pauses when it is about to sign, and before it commits. */
const taking = (): Operation<number> => ({
  pausesBefore: ['lease_fence', 'commit'],
  async run(db) {
    await letLeaseExpire(db);
    const ports = fixture.replica({ db });
    return await runChainWorker<'evm'>(ports, ports);
  },
  checkBeforeCommit: checkFence,
});

type Reserved = Awaited<ReturnType<EngineFixture['reserve']>>;

/** One transaction was signed for a payout, and pays it. */
async function expectPaidOnce({ id, to }: Reserved): Promise<void> {
  // It may be planned and not signed yet: who lost the lease has left that to the next round.
  await letLeaseExpire(fixture.db);
  await fixture.run();
  const signed = (await fixture.transactions()).filter((one) => one['payout_id'] === id);
  expect(signed).toHaveLength(1);
  fixture.chain.mine(CONFIRMATIONS);
  await fixture.run();
  expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
}

it('signs a payout once when another replica takes over the lease meanwhile', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const payout = await fixture.reserve();
    const { a, b } = await interleave(taking(), taking());
    returned(a);
    returned(b);
    await expectPaidOnce(payout);
  });
});

/** Signs payouts, as two workers do that have the same lease. It pauses before this statement, and before the commit. */
async function signingBefore(statement: string) {
  await letLeaseExpire(fixture.db);
  const { ports } = fixture;
  const lease = await takeLease(fixture.db, chainLease(ports), ports.settings.replica, LEASE_MS);
  if (lease === undefined) throw new Error('the lease is free');
  const terms = await evmDriver(ports, lease).terms();
  return async ({ id }: Reserved): Promise<Operation<number>> => {
    const found = await findPayout(fixture.db, id);
    if (found === undefined) throw new Error('the payout is there');
    const transfer = await terms.tryTransfer(found);
    if (transfer === 'refused') throw new Error('the recipient accepts the transfer');
    return {
      pausesBefore: [statement, 'commit'],
      run: (db) => pay(fixture.replica({ db }), lease, terms, [{ payout: found, transfer }]),
    };
  };
}

it('signs a payout once when two workers have the same lease', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const payout = await fixture.reserve();
    const signing = await (await signingBefore('payouts_plan'))(payout);
    const { a, b } = await interleave(signing, signing);
    expect(returned(a) + returned(b)).toBe(1);
    await expectPaidOnce(payout);
  });
});

it('either signs or cancels a payout when two workers have the same lease', async () => {
  const seen = new Set<boolean>();
  await replicas.inEveryOrder(async (interleave) => {
    const payout = await fixture.reserve();
    const signing = await (await signingBefore('payouts_plan'))(payout);
    const { ports } = fixture;
    const lease = await takeLease(fixture.db, chainLease(ports), ports.settings.replica, LEASE_MS);
    if (lease === undefined) throw new Error('the replica has the lease');
    const cancelling: Operation<number> = {
      pausesBefore: ['payouts_move', 'commit'],
      async run(db) {
        await markCancelRequested(db, payout.id);
        return await cancelRequested(fixture.replica({ db }), lease, async () => true);
      },
    };
    const { a, b } = await interleave(signing, cancelling);
    const isSigned = returned(a) === 1;
    seen.add(isSigned);
    expect(returned(b)).toBe(isSigned ? 0 : 1);
    if (isSigned) return expectPaidOnce(payout);
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'failed', failed_reason: 'cancelled' });
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect((await fixture.transactions()).filter((one) => one['payout_id'] === payout.id)).toEqual([]);
  });
  expect(seen.size).toBe(2);
});

it('gives two payouts nonces of their own when two workers sign at once', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const payouts: [Reserved, Reserved] = [await fixture.reserve(), await fixture.reserve()];
    const signing = await signingBefore('signing_plans_insert');
    const { a, b } = await interleave(await signing(payouts[0]), await signing(payouts[1]));
    // One plan at a time: the other payout may have to wait for the next round.
    expect(returned(a) + returned(b)).toBeGreaterThan(0);
    for (const payout of payouts) await expectPaidOnce(payout);
    const nonces = (await fixture.transactions()).map((one) => one['nonce']);
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});
