import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { findPayout } from '../src/store/payouts.ts';
import { chainWorkerStep } from '../src/workers.ts';
import { halt, resume } from './chain-worker-fixture.ts';
import { engineSuite } from './engine-fixture.ts';
import { order, requestsSuite } from './service-fixture.ts';

/** Payouts that their merchants cancel before they are signed. */

describe('the chain worker', () => {
  const fixture = engineSuite(10n);

  it('fails a payout whose cancellation was requested, releases its hold and pays the others', async () => {
    const [payout, other] = [await fixture.reserve(), await fixture.reserve()];
    expect(await fixture.cancel(payout)).toBe('cancelled');
    expect(await fixture.payout(payout.id)).toMatchObject({ status: 'failed', failed_reason: 'cancelled' });
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    const version = (await findPayout(fixture.db, payout.id))?.version;
    expect(await fixture.cancel(payout)).toBe('cancelled');
    expect((await findPayout(fixture.db, payout.id))?.version).toBe(version);
    await fixture.expectPaid(other);
    expect(fixture.chain.paymentsTo(payout.to)).toEqual([]);
  });

  it('does not cancel a payout that it has signed before', async () => {
    const payout = await fixture.send();
    expect(await fixture.cancel(payout)).toBe('too_late');
    expect((await findPayout(fixture.db, payout.id))?.cancelRequestedAt).toBeNull();
    await fixture.expectPaid(payout);
  });

  it('does not sign a payout whose cancellation is requested while it is planned', async () => {
    const payout = await fixture.reserve();
    const { sender } = fixture.chain;
    await fixture.runWith({
      async estimateTransfer(...given) {
        await fixture.cancel(payout, 0);
        return await sender.estimateTransfer(...given);
      },
    });
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.cancel(payout)).toBe('cancelled');
  });

  it('neither signs nor cancels while signing is paused, because the payout may be paid already', async () => {
    await fixture.expectPaid(await fixture.send());
    const payout = await fixture.reserve();
    fixture.chain.useNonce(HOT);
    expect(await fixture.cancel(payout)).toBe('requested');
    expect(await fixture.statusOf(payout)).toBe('reserved');
    // An operator has found that the transaction pays none of the payouts.
    await fixture.db.rows('update wallets set next_nonce = next_nonce + 1 where address = $1', [HOT]);
    expect(await fixture.cancel(payout)).toBe('cancelled');
  });

  it('does not cancel while the mempool has a transaction of the wallet that the database does not know', async () => {
    await fixture.expectPaid(await fixture.send());
    const payout = await fixture.reserve();
    expect(await fixture.cancel(payout, 0)).toBe('requested');
    const { sender } = fixture.chain;
    // The database is from before a signature.
    const nonce = async (address: string, at: 'pending' | 'latest' | 'finalized') =>
      (await sender.nonce(address, at)) + (at === 'pending' ? 1 : 0);
    await fixture.runWith({ nonce });
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(await fixture.cancel(payout)).toBe('cancelled');
  });

  it('does not cancel when the node cannot tell of its mempool, and pays others', async () => {
    const [payout, other] = [await fixture.reserve(), await fixture.reserve()];
    expect(await fixture.cancel(payout, 0)).toBe('requested');
    const { sender } = fixture.chain;
    await fixture.runWith({
      async nonce(address, at) {
        if (at === 'pending') throw new Error('no mempool');
        return await sender.nonce(address, at);
      },
    });
    expect(await fixture.statusesOf(payout, other)).toEqual(['reserved', 'broadcast']);
    expect(await fixture.cancel(payout)).toBe('cancelled');
  });

  it('does not cancel while payouts of the asset are halted', async () => {
    const payout = await fixture.reserve();
    await halt(fixture.db, 'ETH');
    expect(await fixture.cancel(payout)).toBe('requested');
    await resume(fixture.db, 'ETH');
    expect(await fixture.cancel(payout)).toBe('cancelled');
  });

  it('cancels nothing in a replica without the lease', async () => {
    await fixture.run();
    const payout = await fixture.reserve();
    expect(await fixture.cancel(payout, 0)).toBe('requested');
    await fixture.run(fixture.replica());
    expect(await fixture.statusOf(payout)).toBe('reserved');
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
  });

  it('carries out a cancellation in its next round when nothing else is open', async () => {
    const step = chainWorkerStep(fixture.ports, fixture.ports);
    await step();
    const payout = await fixture.reserve();
    expect(await fixture.cancel(payout, 0)).toBe('requested');
    await step();
    expect(await fixture.statusOf(payout)).toBe('failed');
  });
});

describe('POST /api/payouts/{id}/cancel', () => {
  const fixture = requestsSuite();
  const created = async (): Promise<number> => (await fixture.shop.post(order)).body.data.id;
  const cancel = (id: unknown, client = fixture.shop, body: object | string = '') =>
    client.post(body, {}, `/api/payouts/${id}/cancel`);
  const shown = async (id: unknown) => (await fixture.shop.get(`/api/payouts/${id}`)).body;
  /** What the chain worker decides. */
  const decide = (status: string, reason: string | null) =>
    fixture.db.rows(
      `update payouts set status = $2, failed_reason = $3
       where account_id = $1 and cancel_requested_at is not null and status = 'reserved'`,
      [fixture.shop.account, status, reason],
    );

  it('answers 202 while the worker has not decided and 200 when the payout is cancelled', async () => {
    // More than may wait at once.
    const ids = await Promise.all(Array.from({ length: 9 }, created));
    const asked = ids.map((id) => cancel(id));
    const undecided = await Promise.race(asked);
    expect(undecided.status).toBe(202);
    expect(undecided.body.data).toMatchObject({ status: 'pending', cancel_requested_at: expect.any(String) });
    expect(undecided.body.data).toEqual(await shown(undecided.body.data.id));

    await eventually(async () => {
      await decide('failed', 'cancelled');
      expect((await fixture.rowsOf(fixture.shop)).every(({ status }) => status === 'failed')).toBe(true);
    });
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(8).fill(200), 202]);
    const again = await cancel(ids[0]);
    const now = await shown(ids[0]);
    expect([again.status, again.body]).toEqual([200, { message: expect.any(String), data: now }]);
    expect(now).toMatchObject({ status: 'failed', failed_reason: 'cancelled' });
  });

  it.each(['signed', 'broadcast', 'failed'])('answers 400 when the payout is %s', async (status) => {
    const id = await created();
    await fixture.db.rows('update payouts set status = $2, failed_reason = $3 where id = $1', [
      id,
      status,
      'So.',
    ]);
    const answer = await cancel(id);
    expect([answer.status, answer.body.code]).toEqual([400, 'not_cancelable']);
    expect(await shown(id)).toMatchObject({ cancel_requested_at: null });
  });

  it('answers 400 when the payout is signed after the request', async () => {
    const id = await created();
    const asked = cancel(id);
    await eventually(async () => {
      expect(await shown(id)).toMatchObject({ cancel_requested_at: expect.any(String) });
    });
    await decide('signed', null);
    expect((await asked).body.code).toBe('not_cancelable');
  });

  it('answers 404, 403 and 422 and requests nothing', async () => {
    const id = await created();
    expect((await cancel('7')).status).toBe(404);
    expect((await cancel(id, fixture.newClient(), { a: 1 })).status).toBe(403);
    expect((await cancel(id, fixture.shop, { a: 1 })).status).toBe(422);
    expect(await shown(id)).toMatchObject({ cancel_requested_at: null });
  });
});
