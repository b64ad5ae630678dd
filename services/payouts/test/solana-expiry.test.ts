import { describe, expect, it, jest } from '@jest/globals';
import { takeLease } from '@quittance/shared/lease';
import { patient } from '@quittance/testkit/patience';
import { unknownHistory } from '../src/operations/account-chain/solana-driver.ts';
import { chainLease } from '../src/operations/run-chain-worker.ts';
import { SOL, solanaSuite } from './solana-fixture.ts';

jest.setTimeout(patient(300_000));

/** Payouts on a real Solana node whose transactions no block includes, and a database that does not know them. */
const { fixture, begin } = solanaSuite();

describe('a payout that no block includes', () => {
  it('is signed again once, only after its expiry is proved, and is paid once', async () => {
    await begin(10n * SOL, 100n);
    const closing = await fixture.recipientThatCloses();
    fixture.onBroadcast = async () => 'unknown';
    const { id, to } = await fixture.reserve('SOL', SOL);
    const refused = await fixture.reserve('USDC_SOL', 50n, closing.address);
    await fixture.run();
    // However old it is by the clock, it could still be mined.
    fixture.clock.advance(3_600_000);
    for (let i = 0; i < 5; i++) await fixture.run();
    const signed = { attempt: 1, state: 'signed' };
    expect(await fixture.transactions()).toMatchObject([signed, signed]);
    await closing.close();
    await fixture.expires();
    const nonInclusion = () => Promise.reject(new Error('the node is away'));
    const tryTransfer: typeof fixture.sender.tryTransfer = async (order) => {
      await fixture.freeLease();
      await takeLease(fixture.db, chainLease(fixture.ports), 'another', 60_000);
      return fixture.sender.tryTransfer(order);
    };
    for (const fault of [{ nonInclusion }, { tryTransfer }]) {
      await fixture.freeLease();
      await fixture.run(fixture.replica({ sender: { ...fixture.sender, ...fault } }));
      expect(await fixture.transactions()).toMatchObject([signed, signed]);
    }
    await fixture.freeLease();
    for (let i = 0; i < 5; i++) await fixture.run();
    const [first, , second, ...more] = await fixture.transactions();
    expect(more).toEqual([]);
    expect(first).toMatchObject({ attempt: 1, state: 'invalidated' });
    expect(second).toMatchObject({ attempt: 2, state: 'signed', replacement_group: first?.['id'] });
    fixture.onBroadcast = (_raw, send) => send();
    expect(await fixture.ends(id, 'mined')).toMatchObject({ tx_hash: second?.['tx_hash'] });
    expect(await fixture.attempts(id)).toEqual([
      { status: 'replaced', fee: undefined },
      { status: 'mined', fee: undefined },
    ]);
    // The bytes of the first attempt arrive late.
    await fixture.sender.broadcast(String(first?.['raw']));
    await fixture.pay('SOL', fixture.newRecipient(), SOL);
    expect(await fixture.customer.balance('SOL', to)).toBe(SOL);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    // The other recipient refuses payments by now.
    expect(await fixture.statusOf(refused)).toBe('failed');
    expect(await fixture.published(refused.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
  });

  it('and whose next attempt may be signed already does not end when its recipient refuses by now', async () => {
    await begin(10n * SOL, 100n);
    const closing = await fixture.recipientThatCloses();
    fixture.onBroadcast = async () => 'unknown';
    const payout = await fixture.reserve('USDC_SOL', 50n, closing.address);
    await fixture.run();
    await fixture.expires();
    // The signer signs the next attempt, and its answer is lost.
    const { sign } = fixture.signer;
    const lost = {
      async sign(request: Parameters<typeof sign>[0]) {
        await sign(request);
        return { known: false as const, reason: 'TIMEOUT' };
      },
    };
    await fixture.freeLease();
    await fixture.run(fixture.replica({ signer: lost }));
    expect(await fixture.db.rows('select chain from signing_plans')).toEqual([{ chain: 'solana' }]);
    await closing.close();
    await fixture.freeLease();
    await fixture.run(fixture.replica({ signer: lost }));
    expect(await fixture.transactions()).toMatchObject([{ attempt: 1, state: 'signed' }]);
    expect(await fixture.statusOf(payout)).toBe('signed');
    await fixture.freeLease();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([
      { attempt: 1, state: 'invalidated' },
      { attempt: 2, state: 'signed' },
    ]);
    expect(await fixture.db.rows('select chain from signing_plans')).toEqual([]);
  });

  it('but that was mined before its expiry is not signed again, however late we learn of it', async () => {
    await begin();
    fixture.onBroadcast = async (_raw, send) => {
      await send();
      return 'unknown';
    };
    const { id } = await fixture.reserve('SOL', SOL);
    await fixture.run();
    const [{ tx_hash, valid_to_height }] = (await fixture.transactions()) as [
      { tx_hash: string; valid_to_height: string },
    ];
    await fixture.finalized(tx_hash);
    await fixture.until(async () => {
      const height = await fixture.rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
      expect(height).toBeGreaterThan(Number(valid_to_height)); // eslint-disable-line no-restricted-syntax -- a height
    });
    fixture.clock.advance(3_600_000);
    await fixture.ends(id, 'mined');
    expect(await fixture.transactions()).toHaveLength(1);
  });
});

it('a broadcast that a process did not make, or that is lost, is made by another one with the same bytes', async () => {
  await begin();
  fixture.onBroadcast = () => Promise.reject(new Error('killed'));
  const { id } = await fixture.reserve('SOL', SOL);
  await expect(fixture.run()).rejects.toThrow('killed');
  expect(await fixture.transactions()).toMatchObject([{ state: 'signed', broadcasts: 0 }]);
  let lost = 2;
  fixture.onBroadcast = async (_raw, send) => (lost-- > 0 ? 'unknown' : send());
  await fixture.freeLease();
  await fixture.ends(id, 'mined', fixture.replica());
  expect(lost).toBeLessThan(0);
  expect(new Set(fixture.sent).size).toBe(1);
});

describe('a database that has lost commits', () => {
  it('pauses signing, because payouts that look unpaid may be paid', async () => {
    await begin();
    // Money of the operator does not pause signing.
    await fixture.pay('SOL', fixture.wallet.hotAddress, SOL);
    const first = await fixture.reserve('SOL', SOL);
    await fixture.ends(first.id, 'mined');
    await fixture.pay('SOL', fixture.wallet.hotAddress, SOL);
    await fixture.run();
    expect(fixture.ports.signingPause.reason).toBeUndefined();
    // A backup from the time of the last check is restored.
    const rows = await fixture.db.rows('select * from wallet_histories');
    expect(rows).toMatchObject([{ address: fixture.wallet.hotAddress, signature: expect.any(String) }]);
    const [known] = (await fixture.transactions()) as [{ tx_hash: string }];
    const all = await fixture.sender.signatures(null, 100);
    const before = all[all.indexOf(known.tx_hash) - 1];
    await fixture.db.rows('update wallet_histories set signature = $1', [before]);
    await fixture.admin.rows('delete from payments');
    await fixture.admin.rows('delete from transactions');
    await fixture.db.rows(`update payouts set status = 'reserved', tx_hash = null`);
    await fixture.run();
    expect(fixture.ports.signingPause.reason).toMatch(known.tx_hash);
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.customer.balance('SOL', first.to)).toBe(SOL);
    await fixture.admin.rows('delete from outbox');
    await fixture.admin.rows('delete from payouts');
    fixture.sent.length = 0;
  });

  it('is checked from where the last check ended, also when that failed half-way', async () => {
    await begin();
    await fixture.run();
    const to = fixture.wallet.hotAddress;
    await Promise.all([1n, 2n, 3n].map((times) => fixture.pay('SOL', to, times * SOL)));
    const payments = (await fixture.sender.signatures(null, 100)).slice(-3);
    const asked: string[] = [];
    let isAway = true;
    const isSignedByHot = async (signature: string): Promise<boolean> => {
      asked.push(signature);
      if (isAway && signature === payments[2]) throw new Error('the node is away');
      return await fixture.sender.isSignedByHot(signature);
    };
    const ports = { ...fixture.ports, sender: { ...fixture.sender, isSignedByHot } };
    await expect(unknownHistory(ports)).rejects.toThrow('away');
    isAway = false;
    expect(await unknownHistory(ports)).toBeUndefined();
    expect(asked).toEqual([...payments, payments[2]]);
  });
});
