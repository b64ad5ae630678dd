import { beforeAll, describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import type { ChainReader } from '../../src/chain.ts';
import {
  blocksSince,
  type Candidate,
  expectUnavailable,
  type Fixture,
  paidTo,
  whereItCan,
} from './fixture.ts';

/** What every reader of a chain promises (chain.ts), whatever the chain. */
export function readerContract(candidate: Candidate, opened: () => Fixture): void {
  describe(`a reader of ${candidate.name}`, () => {
    let fixture: Fixture;
    let reader: ChainReader;
    beforeAll(() => {
      fixture = opened();
      ({ reader } = fixture);
    });

    const heightNow = async () => (await reader.head()).height;
    const onlyPayment = (asset: Fixture['manyOf'], address: string) => ({
      asset,
      address,
      amount: fixture.amount(asset),
    });

    test('passes on its network', async () => {
      await expect(reader.check()).resolves.toBeUndefined();
    });

    test('refuses another network', async () => {
      const elsewhere = fixture.elsewhere().reader;
      await expect(elsewhere.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
      await elsewhere.close();
    });

    test('has a head, which is a block', async () => {
      const head = await reader.head();
      const block = await reader.block(head.height);
      expect(block).toMatchObject({ height: head.height, hash: head.hash, time: head.time });
      expect(await reader.hashAt(head.height)).toBe(head.hash);
      // A block of a chain that goes on now, give or take what a development node makes of time.
      expect(head.time.getFullYear()).toBeGreaterThan(2020);
    });

    test('gives blocks in order, each the child of the one before, as they are one by one', async () => {
      const start = await heightNow();
      await fixture.mine(5);
      const blocks = await blocksSince(reader, start);
      expect(blocks.length).toBeGreaterThanOrEqual(5);
      expect((await reader.hashAt(start)) ?? blocks[0]?.parentHash).toBe(blocks[0]?.parentHash);
      for (const [i, block] of blocks.entries()) {
        const before = blocks[i - 1];
        expect(block.height).toBeGreaterThan(before?.height ?? start);
        if (before !== undefined) expect(block.parentHash).toBe(before.hash);
        if (before !== undefined) expect(block.time.getTime()).toBeGreaterThanOrEqual(before.time.getTime());
        expect(await reader.block(block.height)).toEqual(block);
        expect(await reader.hashAt(block.height)).toBe(block.hash);
      }
    });

    test('gives at most as many blocks as are asked for, and goes on where it stopped', async () => {
      const start = await heightNow();
      await fixture.mine(5);
      const heights = async (after: number, limit: number) =>
        (await reader.blocksAfter(after, limit)).map(({ height }) => height);
      const four = await heights(start, 4);
      expect(four).toHaveLength(4);
      const two = await heights(start, 2);
      expect([...two, ...(await heights(two[1] as number, 2))]).toEqual(four);
      expect(await heights(start, 1)).toEqual(four.slice(0, 1));
      expect(await heights((await heightNow()) + 1_000_000, 3)).toEqual([]);
    });

    test('has no block where there is none yet', async () => {
      const above = (await heightNow()) + 1_000_000;
      expect(await reader.block(above)).toBeUndefined();
      expect(await reader.hashAt(above)).toBeUndefined();
    });

    test('tells payments exact to the unit, of every asset', async () => {
      for (const asset of fixture.assets) {
        const start = await heightNow();
        const address = fixture.newAddress();
        const txHash = await fixture.pay([onlyPayment(asset, address)]);
        await fixture.mine(1);
        const payments = paidTo(await blocksSince(reader, start), address);
        expect(payments).toEqual([
          {
            outpoint: expect.stringMatching(new RegExp(`^${txHash}:\\d+$`)),
            txHash,
            outputIndex: expect.any(Number),
            asset,
            address,
            amount: fixture.amount(asset),
          },
        ]);
        expect(payments[0]?.outpoint).toBe(`${txHash}:${payments[0]?.outputIndex}`);
      }
    });

    test('tells several payments of one transaction apart', async () => {
      const start = await heightNow();
      const asset = fixture.manyOf;
      const addresses = [fixture.newAddress(), fixture.newAddress(), fixture.newAddress()];
      const txHash = await fixture.pay(addresses.map((address) => onlyPayment(asset, address)));
      await fixture.mine(1);
      const blocks = await blocksSince(reader, start);
      const payments = addresses.flatMap((address) => paidTo(blocks, address));
      expect(payments.map((payment) => [payment.txHash, payment.address, payment.amount])).toEqual(
        addresses.map((address) => [txHash, address, fixture.amount(asset)]),
      );
      expect(new Set(payments.map(({ outpoint }) => outpoint)).size).toBe(3);
    });

    test('tells payments to one address by several transactions apart', async () => {
      const start = await heightNow();
      const [asset] = fixture.assets;
      const address = fixture.newAddress();
      const one = onlyPayment(asset, address);
      const hashes = [
        await fixture.pay([one]),
        await fixture.pay([{ ...one, amount: units(one.amount + 1n) }]),
      ];
      await fixture.mine(1);
      const payments = paidTo(await blocksSince(reader, start), address);
      expect(new Map(payments.map(({ txHash, amount }) => [txHash, amount]))).toEqual(
        new Map([
          [hashes[0], one.amount],
          [hashes[1], one.amount + 1n],
        ]),
      );
      expect(new Set(payments.map(({ outpoint }) => outpoint)).size).toBe(2);
    });

    whereItCan(candidate, 'fail', 'ignores what failed', async () => {
      const start = await heightNow();
      const address = fixture.newAddress();
      const txHash = await fixture.payInVain?.(address);
      await fixture.mine(1);
      const payments = (await blocksSince(reader, start)).flatMap((block) => block.payments);
      expect(txHash).toBeDefined();
      expect(payments.filter((one) => one.txHash === txHash || one.address === address)).toEqual([]);
    });

    whereItCan(candidate, 'balances', 'tells what an address has at a block', async () => {
      const start = await heightNow();
      const [asset] = fixture.assets;
      const address = fixture.newAddress();
      await fixture.pay([onlyPayment(asset, address)]);
      await fixture.mine(1);
      const now = await heightNow();
      expect(await reader.balances?.balancesAt([address], now)).toEqual(
        new Map([[address, fixture.amount(asset)]]),
      );
      expect(await reader.balances?.balancesAt([address], start)).toEqual(new Map([[address, 0n]]));
    });

    whereItCan(candidate, 'pending', 'tells what waits once, until it is in a block', async () => {
      const [asset] = fixture.assets;
      const watch = reader.watchPending?.();
      const start = await heightNow();
      await watch?.look();
      const address = fixture.newAddress();
      const txHash = await fixture.pay([onlyPayment(asset, address)]);
      const seen = await eventually(async () => {
        const found = (await watch?.look())?.fresh.filter((payment) => payment.address === address);
        expect(found).toMatchObject([{ txHash, asset, address, amount: fixture.amount(asset) }]);
        return found;
      });
      const told: unknown[] = [];
      await fixture.mine(1);
      const last = await eventually(async () => {
        const look = await watch?.look();
        told.push(...(look?.fresh ?? []).filter((payment) => payment.address === address));
        expect(look?.has(txHash)).toBe(false);
        return look;
      });
      expect(told).toEqual([]);
      // Where it is now is not above the height told with that.
      const block = (await blocksSince(reader, start)).find((one) => paidTo([one], address).length > 0);
      expect(block?.height).toBeLessThanOrEqual(last?.height as number);
      expect(paidTo(block === undefined ? [] : [block], address)).toEqual(seen);
    });

    for (const depth of [1, 6]) {
      whereItCan(candidate, 'reorg', `names a payment the same in another block, ${depth} deep`, async () => {
        const [asset] = fixture.assets;
        const start = await heightNow();
        const addresses = [fixture.newAddress(), fixture.newAddress()];
        for (const address of addresses) await fixture.pay([onlyPayment(asset, address)]);
        await fixture.mine(depth);
        const before = await blocksSince(reader, start);
        await fixture.reorg?.(depth, 'again');
        const after = await blocksSince(reader, start);
        expect(after.length).toBeGreaterThan(before.length);
        expect(after[0]?.parentHash).toBe(before[0]?.parentHash);
        for (const [i, block] of after.entries()) {
          if (i > 0) expect(block.parentHash).toBe(after[i - 1]?.hash);
          expect(block.hash).not.toBe(before[i]?.hash);
        }
        for (const address of addresses) {
          expect(paidTo(before, address)).toHaveLength(1);
          expect(paidTo(after, address)).toEqual(paidTo(before, address));
        }
      });

      whereItCan(candidate, 'reorg', `tells no payment that was taken away, ${depth} deep`, async () => {
        const [asset] = fixture.assets;
        const start = await heightNow();
        const address = fixture.newAddress();
        await fixture.pay([onlyPayment(asset, address)]);
        await fixture.mine(depth);
        const [block] = await blocksSince(reader, start);
        expect(paidTo(block === undefined ? [] : [block], address)).toHaveLength(1);
        await fixture.reorg?.(depth, 'away');
        const height = block?.height as number;
        expect(await reader.hashAt(height)).not.toBe(block?.hash);
        expect(paidTo(await blocksSince(reader, start), address)).toEqual([]);
        const balances = await reader.balances?.balancesAt([address], height);
        expect(balances?.get(address) ?? 0n).toBe(0n);
      });
    }

    test('throws when the node is away, in every question', async () => {
      const { reader: lost } = fixture.nobody();
      await expectUnavailable({
        check: () => lost.check(),
        head: () => lost.head(),
        block: () => lost.block(1),
        blocksAfter: () => lost.blocksAfter(1, 1),
        hashAt: () => lost.hashAt(1),
        ...(lost.balances && { balancesAt: () => lost.balances?.balancesAt(['x'], 1) }),
        ...(lost.watchPending && { look: () => lost.watchPending?.().look() }),
      });
      await lost.close();
    });
  });
}
