import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import fc from 'fast-check';
import { scanChain } from '../src/operations/scan-chain.ts';
import { createScanner } from '../src/workers.ts';
import { ETHER, type Fixture, MINUTE, startFixture } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

const DUE = ETHER / 100n;
const RUNS = 20;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
  await fixture.scan();
});
afterAll(() => fixture.stop());

async function anInvoice(order: object = {}) {
  const invoice = await fixture.anInvoice(order);
  return {
    ...invoice,
    deposits: () =>
      fixture.rows('select * from deposits where invoice_id = $1 order by first_seen_at, amount, id', [
        invoice.id,
      ]),
  };
}

const empty = (count: number): Script[] => Array.from({ length: count }, () => ({}));
const cursor = async () => (await fixture.rows('select * from cursors'))[0];

describe('the scanner', () => {
  it('starts at the node’s head and stores blocks from before it', async () => {
    const fresh = await startFixture();
    try {
      fresh.chain.mine(...empty(100));
      const head = fresh.chain.height();
      await fresh.scan();
      expect((await fresh.rows('select height from cursors'))[0].height).toBe(head);
      // The chain forks below the first scanned block; money of the new branch is found.
      const merchant = fresh.merchant();
      const invoice = await merchant.invoice();
      const to = invoice.address.address.toLowerCase();
      fresh.chain.reorg(3, {}, { pay: [{ to, amount: DUE }] }, {}, {});
      await fresh.scan();
      expect(await merchant.read(invoice.id)).toMatchObject({
        status: 'confirmed',
        payments: [{ block_height: head - 1, confirmations: 3 }],
      });
    } finally {
      await fresh.stop();
    }
  });

  it('starts before the first invoice when it was created and paid while the node was down', async () => {
    const fresh = await startFixture();
    try {
      for (let minute = 0; minute < 100; minute++) {
        fresh.chain.mine({});
        fresh.pass(MINUTE);
      }
      const merchant = fresh.merchant();
      const invoice = await merchant.invoice();
      const to = invoice.address.address.toLowerCase();
      const half = DUE / 2n;
      fresh.chain.mine({ pay: [{ to, amount: half }] }, { inside: [{ to, amount: half }] }, ...empty(10));
      await fresh.scan();
      expect(await merchant.read(invoice.id)).toMatchObject({ paid_amount: '0.01' });
    } finally {
      await fresh.stop();
    }
  });

  it('allows for miners’ clocks that differ by two hours when it starts', async () => {
    const fresh = await startFixture();
    try {
      const time = () => new Date(fresh.clock.at.getTime() - 115 * MINUTE);
      for (let block = 0; block < 100; block++) {
        fresh.chain.mine({ time: time() });
        fresh.pass(10 * MINUTE);
      }
      const merchant = fresh.merchant();
      const invoice = await merchant.invoice();
      const to = invoice.address.address.toLowerCase();
      fresh.chain.mine({ pay: [{ to, amount: DUE }], time: time() }, { time: time() }, { time: time() });
      await fresh.scan();
      expect(await merchant.read(invoice.id)).toMatchObject({ paid_amount: '0.01' });
    } finally {
      await fresh.stop();
    }
  });

  it('catches up after a long downtime in bounded steps, one transaction per block', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine(...empty(20), { pay: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    expect(await fixture.scanner.step()).toBe(16);
    expect(await fixture.scanner.step()).toBe(16);
    expect(await fixture.scanner.step()).toBe(9);
    expect(await fixture.scanner.step()).toBe(0);
    expect(await cursor()).toMatchObject({ height: fixture.chain.height() });
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '0.01' });
  });

  it('is only delayed by a node that goes back, lags or is down', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, {});
    await fixture.scan();
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
    fixture.chain.mine({});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ paid_amount: '0.01' });
  });

  it('stops at another chain behind the same address and undoes nothing', async () => {
    const fresh = await startFixture();
    try {
      const merchant = fresh.merchant();
      fresh.chain.mine(...empty(3));
      await fresh.scan();
      const invoice = await merchant.invoice();
      const to = invoice.address.address.toLowerCase();
      fresh.chain.mine({ pay: [{ to, amount: DUE }] }, {});
      await fresh.scan();
      fresh.chain.reorg(fresh.chain.height() + 1, ...empty(20));
      await expect(fresh.scan()).rejects.toThrow('it is another chain, or was reset');
      expect(await merchant.read(invoice.id)).toMatchObject({ status: 'confirmed' });
    } finally {
      await fresh.stop();
    }
  });

  it('records a transaction that does something else when mined again as another deposit', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE / 2n, tx, index: 1, asset: 'ETH' }] });
    await fixture.scan();
    fixture.chain.reorg(1, { pay: [{ to: invoice.to, amount: DUE, tx, index: 1, asset: 'ETH' }] }, {});
    await fixture.scan();
    expect(await invoice.deposits()).toMatchObject([
      { state: 'dropped', amount: (DUE / 2n).toString() },
      { state: 'seen', amount: DUE.toString() },
    ]);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.01' });
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
    fixture.chain.mine({ pay: [...ours, ...others] });
    await fixture.scan();
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

describe('the lease of a scanner', () => {
  it('lets one of two replicas scan, and the other take over', async () => {
    const invoice = await anInvoice();
    const other = await fixture.replica();
    const second = createScanner(other.ports, fixture.watchedChain);
    await fixture.scanner.step();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    expect(await second.step()).toBe(0);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await fixture.scanner.leave();
    expect(await second.step()).toBe(1);
    expect(await fixture.scanner.step()).toBe(0);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await second.leave();
  });

  it('is renewed while blocks take longer to read than the lease lasts', async () => {
    const invoice = await anInvoice();
    const other = await fixture.replica();
    const follower = (replica: string) =>
      createScanner(
        { ...other.ports, settings: { ...other.ports.settings, replica, leaseMs: 1_000 } },
        fixture.watchedChain,
      );
    const [first, second] = [follower('first'), follower('second')];
    await fixture.scanner.leave();
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const { blocksAfter } = fixture.chain;
    fixture.chain.blocksAfter = async (...asked) => {
      await sleep(3_000);
      return await blocksAfter(...asked);
    };
    const reading = first.step();
    for (let i = 0; i < 8; i++) {
      await sleep(300);
      expect(await second.step()).toBe(0);
    }
    expect(await reading).toBe(1);
    fixture.chain.blocksAfter = blocksAfter;
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await first.leave();
    await second.leave();
  });

  it('stops a scanner that slept through its lease from writing', async () => {
    const invoice = await anInvoice();
    await fixture.scanner.step();
    const [lease] = await fixture.rows(
      `select name, holder, token::text from leases where name = 'scanner.ethereum'`,
    );
    // Another replica took over while it was paused.
    await fixture.rows(
      `update leases set holder = 'other', token = token + 1 where name = 'scanner.ethereum'`,
    );
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await expect(scanChain(fixture.ports, fixture.watchedChain, lease)).rejects.toThrow(
      'has gone to another holder',
    );
    expect(await invoice.deposits()).toEqual([]);
    await fixture.rows(
      `update leases set expires_at = now() - interval '1 second' where name = 'scanner.ethereum'`,
    );
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('keeps one result when two scanners both believe to hold it', async () => {
    const invoice = await anInvoice();
    await fixture.scanner.step();
    const [lease] = await fixture.rows(
      `select name, holder, token::text from leases where name = 'scanner.ethereum'`,
    );
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, {}, {});
    const both = await Promise.allSettled([
      scanChain(fixture.ports, fixture.watchedChain, lease),
      scanChain(fixture.ports, fixture.watchedChain, lease),
    ]);
    expect(both.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    await fixture.scan();
    expect(await invoice.deposits()).toHaveLength(1);
    expect(await cursor()).toMatchObject({ height: fixture.chain.height() });
  });
});

describe('contract-sent ETH', () => {
  it('is found by the balance, in its block, with its transaction where the node traces', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    fixture.chain.mine(...empty(3), { inside: [{ to: invoice.to, amount: DUE, tx }] }, ...empty(5));
    const height = fixture.chain.height() - 5;
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [
        { tx_hash: tx, amount: '0.01', block_height: height, confirmations: 6, status: 'confirmed' },
      ],
    });
    const [{ outpoint, block_hash }] = await invoice.deposits();
    expect(outpoint).toBe(`${block_hash}:${invoice.to}`);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    expect(await invoice.deposits()).toHaveLength(1);
  });

  it('comes in several pieces, beside ordinary payments and sweeps', async () => {
    const invoice = await anInvoice();
    const third = DUE / 4n;
    fixture.chain.mine(
      { inside: [{ to: invoice.to, amount: third }] },
      { pay: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: third + 7n }] },
      { inside: [{ to: invoice.to, amount: third }] },
      { inside: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: 2n * third }] },
    );
    await fixture.scan();
    expect((await invoice.deposits()).map(({ amount, tx_hash }) => [amount, tx_hash === null])).toEqual(
      expect.arrayContaining([[third.toString(), true]]),
    );
    expect(await invoice.deposits()).toHaveLength(4);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    const [{ total }] = await fixture.rows(
      'select sum(amount)::text as total from deposits where invoice_id = $1',
      [invoice.id],
    );
    expect(total).toBe(DUE.toString());
    fixture.chain.mine({ spend: [{ from: invoice.to, amount: third - 7n }] }, ...empty(3));
    await fixture.scan();
    expect(await invoice.deposits()).toHaveLength(4);
  });

  it('is found on each of many open invoices, with one check per block', async () => {
    const merchant = fixture.merchant();
    const invoices = await Promise.all(Array.from({ length: 300 }, () => merchant.invoice()));
    await fixture.scan();
    const read = fixture.chain.balancesRead;
    fixture.chain.mine({
      inside: invoices.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })),
    });
    await fixture.scan();
    const { body } = await merchant.get('/api/invoices?status=confirmed&perPage=1');
    expect(body.meta.total).toBe(300);
    const open = await fixture.rows('select 1 from addresses where balance_check_at is not null');
    // One check finds it, one sees that it explains the balance, and a few find the block.
    expect(fixture.chain.balancesRead - read).toBeLessThan(open.length + 300 * 6);
    const again = fixture.chain.balancesRead;
    await fixture.scan();
    expect(fixture.chain.balancesRead).toBe(again);
  });

  it('in time is in time: no invoice expires before its balance is checked', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE);
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    fixture.pass(MINUTE);
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('in time is in time although another payment arrives after the expiry', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    fixture.pass(2 * MINUTE);
    fixture.chain.mine({ pay: [{ to: invoice.to, amount: 1n }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('that is late is recorded as late, also days later', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(2 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    fixture.pass(24 * 60 * MINUTE);
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ amount: '0.01' }] });
    fixture.chain.mine(...empty(3));
    await fixture.scan();
    const told = await fixture.told(invoice.id);
    expect(told.map(({ kind }) => kind).slice(1)).toEqual([
      'invoice.expired',
      'invoice.late_payment',
      'deposit.settled',
    ]);
    expect(told.at(-1)?.payload).toMatchObject({ disposition: 'unresolved', tx_hash: null });
    // After a week the balance is not checked any more.
    fixture.pass(8 * 24 * 60 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    expect(
      await fixture.rows('select balance_check_at from addresses where address = $1', [invoice.to]),
    ).toEqual([{ balance_check_at: null }]);
  });

  it('from before the address was given out belongs to no invoice', async () => {
    // The address of a later invoice: an earlier installation with the same key could know it.
    const first = await anInvoice();
    const pooled = await fixture.watchedChain.addresses.take();
    expect(pooled.address).not.toBe(first.to);
    fixture.chain.mine({ inside: [{ to: pooled.address, amount: 5n * DUE }] });
    await fixture.scan();
    const take = fixture.watchedChain.addresses.take;
    fixture.watchedChain.addresses.take = async () => pooled;
    const invoice = await anInvoice();
    fixture.watchedChain.addresses.take = take;
    expect(invoice.to).toBe(pooled.address);
    fixture.chain.mine(...empty(2));
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending', payments: [] });
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('is dropped with its block and found again in the new one', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, {});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    fixture.chain.reorg(2, {}, {});
    await fixture.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    fixture.chain.reorg(1, { inside: [{ to: invoice.to, amount: DUE }] }, {}, {});
    await fixture.scan();
    expect((await invoice.deposits()).map(({ state }) => state).sort()).toEqual(['dropped', 'settled']);
    await fixture.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.01' });
  });

  it('is found late where the node has pruned old states', async () => {
    const invoice = await anInvoice();
    fixture.chain.mine({});
    await fixture.scan();
    fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    fixture.chain.prunedBelow = fixture.chain.height() - 4;
    await fixture.scan();
    fixture.chain.prunedBelow = 0;
    const [deposit] = await invoice.deposits();
    expect(deposit).toMatchObject({ amount: DUE.toString(), block_height: fixture.chain.height() - 4 });
  });
});

describe('for any sequence of branches', () => {
  type Sent = { to: number; amount: bigint; inside: boolean; tx: string };
  /** A payment goes to one of three invoices. */
  const payment = fc.record({
    to: fc.integer({ min: 0, max: 2 }),
    parts: fc.integer({ min: 1, max: 6 }),
    inside: fc.boolean(),
  });
  const step = fc.record({
    /** How many blocks are dropped, then the new ones. */
    depth: fc.integer({ min: 0, max: 4 }),
    blocks: fc.array(fc.array(payment, { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
    /** The dropped payments are mined again in the last new block. */
    again: fc.boolean(),
    scans: fc.boolean(),
    handsOver: fc.boolean(),
    credits: fc.boolean(),
  });

  it('the final chain alone decides the state of an invoice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        // A step checks a few hundred balances: those of earlier runs would delay these.
        await fixture.rows('update addresses set balance_check_at = null');
        const invoices = [await anInvoice(), await anInvoice(), await anInvoice()];
        await fixture.scan();
        const floor = fixture.chain.height();
        // The content of each block above the floor: the expected result.
        let keptBlocks: Sent[][] = [];
        for (const { depth, blocks, again, scans, handsOver, credits } of steps) {
          const left = keptBlocks.splice(Math.max(0, keptBlocks.length - depth));
          const come: Sent[][] = blocks.map((payments) =>
            payments.map(({ to, parts, inside }) => ({
              to,
              amount: (DUE * BigInt(parts)) / 8n,
              inside,
              tx: newTx(),
            })),
          );
          // A winning branch is not shorter.
          while (come.length < left.length) come.push([]);
          if (again) come.at(-1)?.push(...left.flat());
          keptBlocks = [...keptBlocks, ...come];
          const scripts = come.map((payments): Script => {
            const named = payments.map(({ to, ...rest }) => ({ ...rest, to: invoices[to]?.to ?? '' }));
            return {
              pay: named.filter(({ inside }) => !inside),
              inside: named.filter(({ inside }) => inside),
            };
          });
          fixture.chain.reorg(left.length, ...scripts);
          expect(fixture.chain.height()).toBe(floor + keptBlocks.length);
          if (handsOver) await fixture.scanner.leave();
          if (scans) await fixture.scan();
          if (credits) await fixture.credit();
        }
        // Long enough to give up dropped payments and to check the balances of paid invoices.
        fixture.pass(20 * MINUTE);
        fixture.chain.mine(...empty(8));
        await fixture.scan();
        await fixture.credit();

        for (const [i, invoice] of invoices.entries()) {
          const due = keptBlocks.flat().filter(({ to }) => to === i);
          const total = due.reduce((sum, { amount }) => sum + amount, 0n);
          const deposits = await invoice.deposits();
          const inChain = deposits.filter(({ state }) => state === 'seen' || state === 'settled');
          expect(inChain.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(total);
          expect(deposits.filter(({ state }) => state === 'missing')).toEqual([]);
          const { status, payments } = await invoice.read();
          // A paid invoice stays paid; otherwise the payments in the chain decide.
          if (status !== 'paid') {
            expect(status).toBe(total === 0n ? 'pending' : 'partially_paid');
            expect(total).toBeLessThan(DUE);
          }
          expect(payments).toHaveLength(deposits.length);
          const told = (await fixture.told(invoice.id)).filter(({ kind }) => kind.startsWith('deposit.'));
          const credited = told.reduce(
            (sum, { kind, payload }) =>
              sum + (kind === 'deposit.settled' ? 1n : -1n) * BigInt(payload.amount),
            0n,
          );
          // Settled minus reversed events equal the settled deposits in the chain.
          const settled = inChain.filter(({ state }) => state === 'settled');
          expect(credited).toBe(settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n));
          if (status === 'paid') expect(settled).toHaveLength(inChain.length);
          const keys = told.map(({ kind, payload }) => `${kind} ${payload.deposit_id}`);
          expect(new Set(keys).size).toBe(keys.length);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
