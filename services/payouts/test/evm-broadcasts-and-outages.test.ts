import { describe, expect, it } from '@jest/globals';
import { CONFIRMATIONS, type EngineFixture, engineSuite } from './engine-fixture.ts';
import { HOT } from './scripted-chain.ts';

/** What the chain worker does while its node loses, refuses or does not answer. */
let fixture: EngineFixture;
engineSuite((fresh) => {
  fixture = fresh;
}, 10n);

describe('a broadcast', () => {
  it.each(['lose_answer', 'lose_bytes', 'reject'] as const)(
    'that fails (%s) is repeated with the same bytes until they are mined, and pays once',
    async (fate) => {
      const { id, to } = await fixture.reserve();
      fixture.chain.fates.push(fate, fate);
      await fixture.run();
      expect(await fixture.payout(id)).toMatchObject({ status: 'signed', tx_hash: null });
      const [signed] = await fixture.transactions();
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.run();
      fixture.clock.advance(5_000);
      await fixture.finish();
      expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
      expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
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

  it('is repeated when the node has lost its mempool', async () => {
    const payouts = [await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    fixture.chain.forgetPool();
    fixture.chain.mine();
    fixture.clock.advance(5_000);
    await fixture.finish();
    for (const { id } of payouts) expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('that a process did not make before it died is made with the stored bytes', async () => {
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    const dies = { ...sender, broadcast: () => Promise.reject(new Error('killed')) };
    await expect(fixture.run(fixture.replica({ sender: dies }))).rejects.toThrow('killed');
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    await fixture.freeLease();
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    expect(await fixture.transactions()).toHaveLength(1);
  });
});

describe('the node', () => {
  it('that does not answer about one transaction delays no other one', async () => {
    const [odd, other] = [await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    const oddHash = (await fixture.transactions())[0]?.['tx_hash'];
    fixture.chain.mine(CONFIRMATIONS);
    const { sender } = fixture.chain;
    const status: typeof sender.status = async (txHash) => {
      if (txHash === oddHash) throw new Error('the node stumbles over this one');
      return sender.status(txHash);
    };
    const third = await fixture.reserve();
    await fixture.freeLease();
    const stumbling = fixture.replica({ sender: { ...sender, status } });
    await fixture.run(stumbling);
    expect(await fixture.payout(odd.id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.payout(other.id)).toMatchObject({ status: 'mined' });
    expect(await fixture.payout(third.id)).toMatchObject({ status: 'broadcast' });
    expect(fixture.lines).toContainEqual(expect.objectContaining({ level: 'warn', transaction: oddHash }));
    await fixture.freeLease();
    await fixture.finish();
    // Nor when it has ended.
    await fixture.reserve();
    await fixture.freeLease();
    await fixture.db.rows('update transactions set looked_at = null');
    expect(await fixture.run(stumbling)).toBe(1);
  });

  it('that does not answer about settled transactions delays nothing else', async () => {
    await fixture.reserve();
    await fixture.finish();
    const { id } = await fixture.reserve();
    await fixture.freeLease();
    await fixture.db.rows('update transactions set looked_at = null');
    const status = () => Promise.reject(new Error('the node stumbles'));
    await fixture.runWith({ status });
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', reason: expect.stringMatching('stumbles') }),
    );
  });

  it('that is down makes payouts wait until it is back', async () => {
    const { id } = await fixture.reserve();
    fixture.chain.isDown = true;
    await expect(fixture.run()).rejects.toThrow('ECONNREFUSED');
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    fixture.chain.isDown = false;
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('on another network stops signing, and an error is logged', async () => {
    await fixture.reserve();
    fixture.chain.wrongNetwork = true;
    for (let i = 0; i < 3; i++) expect(await fixture.run()).toBe(0);
    expect(fixture.ports.signingPause.reason).toMatch('chain 1');
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines.filter((line) => line.msg === 'nothing is signed')).toHaveLength(1);
    fixture.chain.wrongNetwork = false;
    expect(await fixture.run()).toBe(1);
    expect(fixture.ports.signingPause.reason).toBeUndefined();
  });

  it('that knows earlier transactions of the hot wallet makes nonces continue after them once they are final', async () => {
    for (let i = 0; i < 3; i++) fixture.chain.useNonce(HOT);
    const { id } = await fixture.reserve();
    expect(await fixture.run()).toBe(0);
    expect(fixture.lines.at(-1)?.msg).toMatch('until its earlier transactions are final');
    fixture.chain.mine(fixture.chain.finalizedLag);
    await fixture.finish();
    expect(await fixture.transactions()).toMatchObject([{ nonce: '3' }]);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });
});
