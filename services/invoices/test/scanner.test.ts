import { describe, expect, it } from '@jest/globals';
import type { Clock } from '@quittance/shared/clock';
import { eventually } from '@quittance/testkit/eventually';
import { createScanner } from '../src/workers.ts';
import { DUE, empty, type Fixture, MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, mine, blocks, reorg, withFresh } = await openFixture();

const cursor = async () => (await fixture.rows('select * from cursors'))[0];

describe('the scanner', () => {
  it('starts at the node’s head and stores blocks from before it', async () =>
    withFresh({}, async (fresh) => {
      fresh.chain.mine(...empty(100));
      const head = fresh.chain.height();
      await fresh.scan();
      expect((await fresh.rows('select height from cursors'))[0].height).toBe(head);
      // The chain forks below the first scanned block; money of the new branch is found.
      const { to, expectShown } = await fresh.anInvoice();
      fresh.chain.reorg(3, {}, { pay: [{ to, amount: DUE }] }, {}, {});
      await fresh.scan();
      await expectShown({ status: 'confirmed', payments: [{ block_height: head - 1, confirmations: 3 }] });
    }));

  it('starts before the first invoice when it was created and paid while the node was down', async () =>
    withFresh({}, async (fresh) => {
      for (let minute = 0; minute < 100; minute++) {
        fresh.chain.mine({});
        fresh.pass(MINUTE);
      }
      const { to, expectShown } = await fresh.anInvoice();
      const half = DUE / 2n;
      fresh.chain.mine({ pay: [{ to, amount: half }] }, { inside: [{ to, amount: half }] }, ...empty(10));
      await fresh.scan();
      await expectShown({ paid_amount: '0.01' });
    }));

  it('allows for miners’ clocks that differ by two hours when it starts', async () =>
    withFresh({}, async (fresh) => {
      const time = () => new Date(fresh.clock.at.getTime() - 115 * MINUTE);
      for (let block = 0; block < 100; block++) {
        fresh.chain.mine({ time: time() });
        fresh.pass(10 * MINUTE);
      }
      const { to, expectShown } = await fresh.anInvoice();
      fresh.chain.mine({ pay: [{ to, amount: DUE }], time: time() }, { time: time() }, { time: time() });
      await fresh.scan();
      await expectShown({ paid_amount: '0.01' });
    }));

  it('catches up after a long downtime in bounded steps, with one transaction up to each payment', async () => {
    const invoice = await anInvoice();
    const before = fixture.chain.height();
    fixture.chain.mine(...empty(20), { pay: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    expect(await fixture.scanner.step()).toBe(16);
    expect(await fixture.scanner.step()).toBe(16);
    expect(await fixture.scanner.step()).toBe(9);
    expect(await fixture.scanner.step()).toBe(0);
    expect(await cursor()).toMatchObject({ height: fixture.chain.height() });
    await invoice.expectShown({ status: 'confirmed', paid_amount: '0.01' });
    // A step reads 16 blocks, and the payment is in the second step.
    const written = await fixture.rows(
      `select min(height) - ${before} as first, count(*)::int as blocks from blocks
       where height > ${before} group by xmin::text order by 1`,
    );
    expect(written).toEqual([
      { first: 1, blocks: 16 },
      { first: 17, blocks: 5 },
      { first: 22, blocks: 11 },
      { first: 33, blocks: 9 },
    ]);
  });

  it('is only delayed by a node that goes back, lags or is down', async () => {
    const invoice = await anInvoice();
    await mine({ pay: [{ to: invoice.to, amount: DUE }] }, {});
    const before = await invoice.read();
    const place = await cursor();
    fixture.chain.lagsAt = fixture.chain.height() - 2;
    await fixture.scan();
    expect(await invoice.read()).toEqual(before);
    fixture.chain.away = true;
    await expect(fixture.scanner.step()).rejects.toThrow('the node does not answer');
    expect(await cursor()).toEqual(place);
    fixture.chain.away = false;
    fixture.chain.lagsAt = undefined;
    await blocks(1);
    await invoice.expectShown({ paid_amount: '0.01' });
  });

  it('stops at another chain behind the same address and undoes nothing', async () =>
    withFresh({}, async (fresh) => {
      fresh.chain.mine(...empty(3));
      await fresh.scan();
      const { to, expectShown } = await fresh.anInvoice();
      fresh.chain.mine({ pay: [{ to, amount: DUE }] }, {});
      await fresh.scan();
      fresh.chain.reorg(fresh.chain.height() + 1, ...empty(20));
      await expect(fresh.scan()).rejects.toThrow('it is another chain, or was reset');
      await expectShown({ status: 'confirmed' });
    }));

  it('records a transaction that does something else when mined again as another deposit', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    await mine({ pay: [{ to: invoice.to, amount: DUE / 2n, tx, index: 1, asset: 'ETH' }] });
    await reorg(1, { pay: [{ to: invoice.to, amount: DUE, tx, index: 1, asset: 'ETH' }] }, {});
    expect(await invoice.deposits()).toMatchObject([
      { state: 'dropped', amount: (DUE / 2n).toString() },
      { state: 'seen', amount: DUE.toString() },
    ]);
    await invoice.expectShown({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('records all of a thousand payments in a block, and none to others', async () => {
    const merchant = fixture.merchant();
    const invoices = await Promise.all(Array.from({ length: 40 }, () => merchant.invoice()));
    const ours = Array.from({ length: 1_000 }, (_, i) => ({
      to: invoices[i % 40].address.address.toLowerCase() as string,
      amount: DUE / 100n,
    }));
    const others = Array.from({ length: 4_000 }, (_, i) => ({
      to: `0x${(i + 1).toString(16).padStart(40, '0')}`,
      amount: DUE,
    }));
    await mine({ pay: [...ours, ...others] });
    const [{ n }] = await fixture.rows(
      'select count(*)::int as n from deposits d join invoices i on i.id = invoice_id where account_id = $1',
      [merchant.account],
    );
    expect(n).toBe(1_000);
    expect(await merchant.read(invoices[0].id)).toMatchObject({
      status: 'partially_paid',
      pending_amount: '0.0025',
    });
  });
});

describe('a chain on which no invoice waits for a payment', () => {
  const IDLE_MS = 5_000;

  /** A scanner as a new installation has it, and how often it has asked for the newest block in so many seconds. */
  async function resting(fresh: Fixture) {
    const { ports, watchedChain, chain } = fresh;
    const settings = { ...ports.settings, scanEveryMs: 1_000, scanIdleEveryMs: IDLE_MS };
    const scanner = createScanner({ ...ports, settings }, watchedChain);
    const { head } = chain;
    let calls = 0;
    chain.head = () => {
      calls += 1;
      return head();
    };
    while ((await scanner.step()) > 0);
    return async (seconds: number) => {
      const before = calls;
      for (let second = 0; second < seconds; second++) {
        fresh.pass(1_000);
        await scanner.step();
      }
      return calls - before;
    };
  }

  it('is scanned every five seconds, and every second while an invoice is open', async () =>
    withFresh({}, async (fresh) => {
      const asked = await resting(fresh);
      expect(await asked(20)).toBe(4);
      const invoice = await fresh.anInvoice();
      expect(await asked(3)).toBe(3);
      fresh.pass(24 * 60 * MINUTE);
      fresh.chain.mine({});
      await asked(2);
      await fresh.scan();
      await invoice.expectShown({ status: 'expired' });
      expect(await asked(20)).toBe(4);
    }));

  it('is scanned every second while an operator has its blocks read again', async () =>
    withFresh({}, async (fresh) => {
      const asked = await resting(fresh);
      fresh.chain.mine(...empty(100));
      while ((await asked(5)) > 1);
      const from = fresh.chain.height() - 99;
      await fresh.rows(
        `insert into rescans (chain, from_height, next_height, asked_at) values ('ethereum', $1, $1, now())`,
        [from],
      );
      await asked(15);
      const [{ next_height, ended_at }] = await fresh.rows('select * from rescans');
      expect({ next_height, ended: ended_at !== null }).toEqual({ next_height: from + 100, ended: true });
      expect(await asked(20)).toBe(4);
    }));

  it('is scanned before that would count as an outage, and when the clock was set back', async () =>
    withFresh({ outageMs: 4_000 }, async (fresh) => {
      const asked = await resting(fresh);
      expect(await asked(20)).toBe(10);
      fresh.pass(-MINUTE);
      expect(await asked(1)).toBe(1);
    }));
});

describe('the lease of a scanner', () => {
  it('lets one of two replicas scan, and the other take over', async () => {
    const invoice = await anInvoice();
    const other = await fixture.replica();
    const second = createScanner(other.ports, fixture.watchedChain);
    await fixture.scanner.step();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    expect(await second.step()).toBe(0);
    await invoice.expectShown({ status: 'pending' });
    await fixture.scanner.leave();
    expect(await second.step()).toBe(1);
    expect(await fixture.scanner.step()).toBe(0);
    await invoice.expectShown({ status: 'confirmed' });
    await second.leave();
  });

  it('is renewed while blocks take longer to read than the lease lasts', async () => {
    const leaseMs = 60_000;
    const invoice = await anInvoice();
    const other = await fixture.replica();
    /** Between two renewals the first scanner sleeps until the test wakes it. */
    const asleep: { ms: number; wake(): void }[] = [];
    const sleep = (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake) => {
        asleep.push({ ms, wake });
        signal?.addEventListener('abort', () => wake());
      });
    const follower = (replica: string, clock: Clock) =>
      createScanner(
        { ...other.ports, clock, settings: { ...other.ports.settings, replica, leaseMs } },
        fixture.watchedChain,
      );
    const first = follower('first', { ...other.ports.clock, sleep });
    const second = follower('second', other.ports.clock);
    await fixture.scanner.leave();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const { blocksAfter } = fixture.chain;
    const answered = Promise.withResolvers<void>();
    let calls = 0;
    fixture.chain.blocksAfter = async (...asked) => {
      calls += 1;
      if (calls === 1) await answered.promise;
      return await blocksAfter(...asked);
    };
    const reading = first.step();
    try {
      for (let passed = 0; passed <= 2 * leaseMs; ) {
        await eventually(() => expect(asleep).toHaveLength(1));
        const [renewal] = asleep.splice(0) as [(typeof asleep)[0]];
        // Time passes for the lease: this is how long it would have been until the next renewal.
        await fixture.rows(
          `update leases set expires_at = expires_at - $1::int * interval '1 millisecond' where name = 'scanner.ethereum'`,
          [renewal.ms],
        );
        expect(await second.step()).toBe(0);
        passed += renewal.ms;
        renewal.wake();
      }
    } finally {
      answered.resolve();
      fixture.chain.blocksAfter = blocksAfter;
    }
    expect(await reading).toBe(1);
    await invoice.expectShown({ status: 'confirmed' });
    await first.leave();
    await second.leave();
  });
});
