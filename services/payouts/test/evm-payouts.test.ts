import { beforeEach, describe, expect, it } from '@jest/globals';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { watchStalled } from '../src/operations/watch-stalled.ts';
import { CONFIRMATIONS, ETHER, engineSuite } from './engine-fixture.ts';

/** Payouts of an account chain, also while its node loses or refuses transactions, or does not answer. */
const fixture = engineSuite();

describe('a payout', () => {
  it('is signed, stored, sent, and mined when it is deep enough', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve({ amount: 2n * ETHER });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast', completed_at: null });
    expect(await fixture.transactions()).toMatchObject([{ nonce: '0', state: 'broadcast', payout_id: id }]);

    fixture.chain.mine(CONFIRMATIONS - 1);
    expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine();
    expect(await fixture.run()).toBe(1);
    const mined = await fixture.payout(id);
    expect(mined).toMatchObject({ status: 'mined', completed_at: expect.any(Date), failed_reason: null });
    expect(mined['tx_hash']).toBe((await fixture.transactions())[0]?.['tx_hash']);
    expect(fixture.chain.paymentsTo(to)).toEqual([{ asset: 'ETH', amount: 2n * ETHER }]);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('waits while the hot wallet has too little, and an error is logged once a minute', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    const { id } = await fixture.reserve({ amount: ETHER });
    for (let i = 0; i < 5; i++) expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    const complaints = () => fixture.lines.filter((line) => line.msg.startsWith('payouts wait'));
    expect(complaints()).toMatchObject([
      { level: 'error', address: HOT, asset: 'ETH', has: '1', needs: '1.00000000000021', payouts: 1 },
    ]);
    fixture.clock.advance(60_000);
    await fixture.run();
    expect(complaints()).toHaveLength(2);

    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.expectPaid({ id });
  });

  it('of tokens waits for Ether to pay its fee', async () => {
    fixture.chain.fund('USDC_ERC20', HOT, 5_000_000n);
    const { id } = await fixture.send({ asset: 'USDC_ERC20', amount: 5_000_000n });
    fixture.expectLogged({ asset: 'ETH', has: '0' });
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.expectPaid({ id });
  });

  it('is not paid with money that an open transaction will take', async () => {
    fixture.chain.fund('ETH', HOT, 3n * ETHER);
    for (let i = 0; i < 4; i++) await fixture.reserve({ amount: ETHER });
    await fixture.run();
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('fails when its recipient would refuse it: nothing was signed, everything goes back', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    const other = await fixture.reserve();
    fixture.chain.refusing.add(to);
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/^The recipient .*\.$/),
    });
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect(await fixture.payout(other.id)).toMatchObject({ status: 'mined' });
  });

  it('fails when it is mined but reverted: the amount goes back, the fee does not', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id, to } = await fixture.reserve();
    fixture.chain.refusing.add(to);
    fixture.chain.unforeseen.add(to);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine();
    await fixture.run();
    // Enough confirmations for a payment, but not for a release of the hold.
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed', tx_hash: expect.any(String) });
    expect(await fixture.transactions()).toMatchObject([{ state: 'reverted' }]);
    expect(await fixture.published(id)).toEqual([
      'payout.created',
      'hold.release, fee kept',
      'payout.failed',
    ]);
  });

  it('whose fee cannot be estimated waits, and the others are paid', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const odd = await fixture.reserve();
    const other = await fixture.reserve();
    const { sender } = fixture.chain;
    const estimateTransfer: typeof sender.estimateTransfer = async (asset, to, amount) => {
      if (to === odd.to) throw new Error('the node stumbles over this one');
      return sender.estimateTransfer(asset, to, amount);
    };
    await fixture.runWith({ estimateTransfer });
    expect(await fixture.statusesOf(odd, other)).toEqual(['reserved', 'broadcast']);
    await fixture.expectPaid(odd);
  });
});

it('many payouts that cannot be covered do not stop the next payout', async () => {
  fixture.chain.fund('ETH', HOT, 2n * ETHER);
  const payouts = [];
  for (let i = 0; i < 60; i++) payouts.push(await fixture.reserve({ amount: 1_000n * ETHER }));
  const { id } = await fixture.reserve();
  expect(await fixture.run()).toBe(1);
  expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
});

it('a payout that makes no progress is logged once when that begins and once when it ends', async () => {
  const { id } = await fixture.reserve();
  await watchStalled(fixture.ports);
  const said = () => fixture.lines.filter(({ msg }) => msg.startsWith('payouts make'));
  expect(said()).toEqual([]);
  await fixture.admin.rows(`update payouts set created_at = now() - interval '31 minutes' where id = $1`, [
    id,
  ]);
  for (let i = 0; i < 3; i++) await watchStalled(fixture.ports);
  expect(said()).toMatchObject([
    { level: 'error', chain: 'ethereum', payouts: 1, msg: expect.stringContaining('no progress') },
  ]);
  fixture.chain.fund('ETH', HOT, 10n * ETHER);
  await fixture.finish();
  for (let i = 0; i < 3; i++) await watchStalled(fixture.ports);
  expect(said()).toMatchObject([{}, { level: 'info', msg: 'payouts make progress again' }]);
  expect(fixture.ports.stalled.size).toBe(0);
});

describe('a broadcast', () => {
  beforeEach(() => fixture.chain.fund('ETH', HOT, 10n * ETHER));

  it.each(['lose_answer', 'lose_bytes', 'reject'] as const)(
    'that fails (%s) is repeated with the same bytes until they are mined, and pays once',
    async (fate) => {
      const { id } = await fixture.reserve();
      fixture.chain.fates.push(fate, fate);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: 'signed', tx_hash: null });
      const [signed] = await fixture.transactions();
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.expectPaid({ id });
      expect(await fixture.transactions()).toMatchObject([{ raw: signed?.['raw'], nonce: '0' }]);
      expect(new Set(fixture.chain.arrived)).toEqual(new Set([signed?.['raw']]));
    },
  );

  it('is repeated after a pause until a block includes the transaction', async () => {
    await fixture.send();
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(1);
    fixture.clock.advance(5_000);
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(2);
    fixture.chain.mine();
    fixture.clock.advance(60_000);
    await fixture.run();
    expect(fixture.chain.arrived).toHaveLength(2);
    await fixture.finish();
  });
});

describe('the node', () => {
  beforeEach(() => fixture.chain.fund('ETH', HOT, 10n * ETHER));

  it('that does not answer about two transactions delays no other one, and is logged once', async () => {
    const payouts = [await fixture.reserve(), await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    const odd = (await fixture.transactions()).slice(0, 2).map((one) => one['tx_hash']);
    fixture.chain.mine(CONFIRMATIONS);
    const { sender } = fixture.chain;
    const status: typeof sender.status = async (txHash) => {
      if (odd.includes(txHash)) throw new Error('the node stumbles over this one');
      return sender.status(txHash);
    };
    const last = await fixture.reserve();
    await fixture.runWith({ status });
    const statuses = await fixture.statusesOf(...payouts, last);
    expect(statuses).toEqual(['broadcast', 'broadcast', 'mined', 'broadcast']);
    const silences = fixture.lines.filter(({ msg }) => msg === 'the node does not tell of a transaction');
    expect(silences).toEqual([
      expect.objectContaining({ level: 'warn', chain: 'ethereum', transaction: odd[0] }),
    ]);
  });

  it('that does not answer about settled transactions delays nothing else', async () => {
    await fixture.reserve();
    await fixture.finish();
    const { id } = await fixture.reserve();
    await fixture.db.rows('update transactions set looked_at = null');
    const status = () => Promise.reject(new Error('the node stumbles'));
    await fixture.runWith({ status });
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.expectLogged({ level: 'warn', reason: expect.stringMatching('stumbles') });
  });

  it('that knows earlier transactions of the hot wallet makes nonces continue after them once they are final', async () => {
    for (let i = 0; i < 3; i++) fixture.chain.useNonce(HOT);
    const { id } = await fixture.reserve();
    expect(await fixture.run()).toBe(0);
    expect(fixture.lines.at(-1)?.msg).toMatch('until its earlier transactions are final');
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.expectPaid({ id });
    expect(await fixture.transactions()).toMatchObject([{ nonce: '3' }]);
  });
});
