import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { ChainSender, SignedTransaction } from '../../src/chain.ts';
import { type Candidate, expectUnavailable, type Fixture, whereItCan } from './fixture.ts';

/** What every sender of a chain promises (chain.ts), whatever the chain. */
export function senderContract(candidate: Candidate, opened: () => Fixture): void {
  describe(`a sender of ${candidate.name}`, () => {
    let fixture: Fixture;
    let sender: ChainSender;
    beforeAll(() => {
      fixture = opened();
      ({ sender } = fixture);
    });

    const native = () => fixture.assets[0];
    const payout = async () => {
      const to = fixture.newAddress();
      const amount = fixture.amount(native());
      const sign = await fixture.order(to, amount);
      return { to, amount, sign, signed: await sign() };
    };
    const mined = async ({ txHash }: SignedTransaction) => {
      const status = await sender.status(txHash);
      if (status.state !== 'mined') throw new Error(`it is ${status.state}`);
      return status;
    };

    test('passes on its network', async () => {
      await expect(sender.check()).resolves.toBeUndefined();
    });

    test('refuses another network', async () => {
      const elsewhere = fixture.elsewhere().sender;
      await expect(elsewhere.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
      await elsewhere.close();
    });

    test('signs the same order to the same bytes', async () => {
      const { sign, signed } = await payout();
      expect(await sign()).toEqual(signed);
      expect(signed.maxCost).toBeGreaterThan(0n);
    });

    test('pays exactly, for exactly the fee it tells', async () => {
      const { to, amount, signed } = await payout();
      const before = await fixture.wealth();
      expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      await eventually(async () => expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' }));
      await fixture.mine(1);

      const status = await mined(signed);
      expect(status.succeeded).toBe(true);
      expect(await fixture.reader.hashAt(status.height)).toBe(status.blockHash);
      expect(status.confirmations).toBeGreaterThanOrEqual(1);
      expect(await sender.balance(native(), to)).toBe(amount);
      expect(status.feePaid).toBeGreaterThan(0n);
      expect(status.feePaid).toBeLessThanOrEqual(signed.maxCost);
      expect(before - (await fixture.wealth())).toBe(amount + status.feePaid);
      await fixture.mine(3);
      expect((await mined(signed)).confirmations).toBeGreaterThanOrEqual(status.confirmations + 3);
    });

    test('may send what the node has already: waiting, and mined; it is paid once', async () => {
      const { to, amount, signed } = await payout();
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      // A node may refuse it before it can tell that it has it: then nothing is known for a moment.
      const answers: string[] = [];
      await eventually(async () => {
        answers.push(await sender.broadcast(signed.raw));
        expect(answers.at(-1)).toBe('accepted');
      });
      expect(answers).not.toContain('rejected');
      await fixture.mine(1);
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      await fixture.mine(1);
      expect(await sender.balance(native(), to)).toBe(amount);
    });

    test.each(['', 'nonsense', 'abc', '0x', '0x1234', '{}', '00'.repeat(100)])(
      'rejects "%s", which is no transaction',
      async (raw) => {
        expect(await sender.broadcast(raw)).toBe('rejected');
      },
    );

    test('knows an amount of zero, and an estimated fee above zero', async () => {
      for (const asset of fixture.assets) {
        expect(await sender.balance(asset, fixture.newAddress())).toBe(0n);
        expect(await sender.estimatedFee(asset)).toBeGreaterThan(0n);
      }
      // No order of magnitude beside what a payout has just cost.
      const { signed } = await payout();
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      await fixture.mine(1);
      const { feePaid } = await mined(signed);
      expect((await sender.estimatedFee(native())) * 20n).toBeGreaterThan(feePaid);
      expect(await sender.estimatedFee(native())).toBeLessThan(feePaid * 20n);
    });

    test('knows no final block above the head', async () => {
      const final = await sender.finalizedHeight();
      expect(final).toBeGreaterThanOrEqual(0);
      expect(final).toBeLessThanOrEqual((await fixture.reader.head()).height + 1);
    });

    test('names the newest block, and another one when there is one more', async () => {
      // Where there is always a new one it names none.
      const before = await sender.newestBlock?.();
      if (before === undefined) return;
      expect(before).toBe((await fixture.reader.head()).hash);
      await fixture.mine(1);
      expect(await sender.newestBlock?.()).not.toBe(before);
    });

    whereItCan(
      candidate,
      'reorg',
      'sends the same bytes after they were taken out of the chain',
      async () => {
        const { to, amount, signed } = await payout();
        expect(await sender.broadcast(signed.raw)).toBe('accepted');
        await fixture.mine(2);
        const before = await mined(signed);
        await fixture.reorg?.(2, 'away');
        expect((await sender.status(signed.txHash)).state).not.toBe('mined');
        expect(await sender.broadcast(signed.raw)).toBe('accepted');
        await fixture.mine(1);
        const after = await mined(signed);
        expect(after.height).toBeGreaterThan(before.height);
        expect(after.blockHash).not.toBe(before.blockHash);
        expect(await sender.balance(native(), to)).toBe(amount);
      },
    );

    whereItCan(candidate, 'reorg', 'tells the block that a transaction is in now', async () => {
      const { signed } = await payout();
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      await fixture.mine(2);
      const before = await mined(signed);
      await fixture.reorg?.(2, 'again');
      const after = await mined(signed);
      expect(after.blockHash).not.toBe(before.blockHash);
      expect(await fixture.reader.hashAt(after.height)).toBe(after.blockHash);
      // Where it is in another block it may cost another fee.
      expect(after.feePaid).toBeLessThanOrEqual(signed.maxCost);
    });

    test('knows nothing while the node is away, and says so', async () => {
      const { signed } = await payout();
      const { sender: lost } = fixture.nobody();
      expect(await lost.broadcast(signed.raw)).toBe('unknown');
      await expectUnavailable({
        check: () => lost.check(),
        status: () => lost.status(signed.txHash),
        balance: () => lost.balance(native(), lost.hotAddress),
        estimatedFee: () => lost.estimatedFee(native()),
        finalizedHeight: () => lost.finalizedHeight(),
      });
      await lost.close();
    });
  });
}
