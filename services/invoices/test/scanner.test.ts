import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import fc from 'fast-check';
import { scanChain } from '../src/operations/scan-chain.ts';
import { createScanner } from '../src/workers.ts';
import { newTx, type Script } from './scripted-chain.ts';
import { ETHER, MINUTE, startWorld, type World } from './world.ts';

const DUE = ETHER / 100n;
const RUNS = 20;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.scan();
});
afterAll(() => world.stop());

async function anInvoice(order: object = {}) {
  const invoice = await world.anInvoice(order);
  return {
    ...invoice,
    deposits: () =>
      world.rows('select * from deposits where invoice_id = $1 order by first_seen_at, amount, id', [
        invoice.id,
      ]),
  };
}

const empty = (count: number): Script[] => Array.from({ length: count }, () => ({}));
const cursor = async () => (await world.rows('select * from cursors'))[0];

describe('the scanner', () => {
  it('starts at the node’s head and stores blocks from before it', async () => {
    const fresh = await startWorld();
    try {
      fresh.chain.mine(...empty(100));
      const head = fresh.chain.height();
      await fresh.scan();
      expect((await fresh.rows('select height from cursors'))[0].height).toBe(head);
      // The chain parts below the block it began with; money of the new branch is found.
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
    const fresh = await startWorld();
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
    const fresh = await startWorld();
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
    world.chain.mine(...empty(20), { pay: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    expect(await world.scanner.step()).toBe(16);
    expect(await world.scanner.step()).toBe(16);
    expect(await world.scanner.step()).toBe(9);
    expect(await world.scanner.step()).toBe(0);
    expect(await cursor()).toMatchObject({ height: world.chain.height() });
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '0.01' });
  });

  it('is only delayed by a node that goes back, lags or is down', async () => {
    const invoice = await anInvoice();
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, {});
    await world.scan();
    const before = await invoice.read();
    const place = await cursor();
    world.chain.lagsAt = world.chain.height() - 2;
    await world.scan();
    expect(await invoice.read()).toEqual(before);
    world.chain.away = true;
    await expect(world.scanner.step()).rejects.toThrow('the node does not answer');
    expect(await cursor()).toEqual(place);
    world.chain.away = false;
    world.chain.lagsAt = undefined;
    world.chain.mine({});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ paid_amount: '0.01' });
  });

  it('stops at another chain behind the same address and undoes nothing', async () => {
    const fresh = await startWorld();
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
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE / 2n, tx, index: 1, asset: 'ETH' }] });
    await world.scan();
    world.chain.reorg(1, { pay: [{ to: invoice.to, amount: DUE, tx, index: 1, asset: 'ETH' }] }, {});
    await world.scan();
    expect(await invoice.deposits()).toMatchObject([
      { state: 'dropped', amount: (DUE / 2n).toString() },
      { state: 'seen', amount: DUE.toString() },
    ]);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('records all of a thousand payments in a block, and none to others', async () => {
    const merchant = world.merchant();
    const invoices = await Promise.all(Array.from({ length: 40 }, () => merchant.invoice()));
    const ours = Array.from({ length: 1_000 }, (_, i) => ({
      to: invoices[i % 40].address.address.toLowerCase() as string,
      amount: DUE / 100n,
    }));
    const others = Array.from({ length: 4_000 }, (_, i) => ({
      to: `0x${(i + 1).toString(16).padStart(40, '0')}`,
      amount: DUE,
    }));
    world.chain.mine({ pay: [...ours, ...others] });
    await world.scan();
    const [{ n }] = await world.rows(
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
    const other = await world.replica();
    const second = createScanner(other.ports, world.watchedChain);
    await world.scanner.step();
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    expect(await second.step()).toBe(0);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await world.scanner.leave();
    expect(await second.step()).toBe(1);
    expect(await world.scanner.step()).toBe(0);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await second.leave();
  });

  it('is renewed while blocks take longer to read than the lease lasts', async () => {
    const invoice = await anInvoice();
    const other = await world.replica();
    const follower = (replica: string) =>
      createScanner(
        { ...other.ports, settings: { ...other.ports.settings, replica, leaseMs: 1_000 } },
        world.watchedChain,
      );
    const [first, second] = [follower('first'), follower('second')];
    await world.scanner.leave();
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const { blocksAfter } = world.chain;
    world.chain.blocksAfter = async (...asked) => {
      await sleep(3_000);
      return await blocksAfter(...asked);
    };
    const reading = first.step();
    for (let i = 0; i < 8; i++) {
      await sleep(300);
      expect(await second.step()).toBe(0);
    }
    expect(await reading).toBe(1);
    world.chain.blocksAfter = blocksAfter;
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    await first.leave();
    await second.leave();
  });

  it('stops a scanner that slept through its lease from writing', async () => {
    const invoice = await anInvoice();
    await world.scanner.step();
    const [lease] = await world.rows(
      `select name, holder, token::text from leases where name = 'scanner.ethereum'`,
    );
    // Somebody else took over while it was asleep.
    await world.rows(`update leases set holder = 'other', token = token + 1 where name = 'scanner.ethereum'`);
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    await expect(scanChain(world.ports, world.watchedChain, lease)).rejects.toThrow(
      'has gone to another holder',
    );
    expect(await invoice.deposits()).toEqual([]);
    await world.rows(
      `update leases set expires_at = now() - interval '1 second' where name = 'scanner.ethereum'`,
    );
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('keeps one result when two scanners both believe to hold it', async () => {
    const invoice = await anInvoice();
    await world.scanner.step();
    const [lease] = await world.rows(
      `select name, holder, token::text from leases where name = 'scanner.ethereum'`,
    );
    world.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, {}, {});
    const both = await Promise.allSettled([
      scanChain(world.ports, world.watchedChain, lease),
      scanChain(world.ports, world.watchedChain, lease),
    ]);
    expect(both.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    await world.scan();
    expect(await invoice.deposits()).toHaveLength(1);
    expect(await cursor()).toMatchObject({ height: world.chain.height() });
  });
});

describe('contract-sent ETH', () => {
  it('is found by the balance, in its block, with its transaction where the node traces', async () => {
    const invoice = await anInvoice();
    const tx = newTx();
    world.chain.mine(...empty(3), { inside: [{ to: invoice.to, amount: DUE, tx }] }, ...empty(5));
    const height = world.chain.height() - 5;
    await world.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'confirmed',
      payments: [
        { tx_hash: tx, amount: '0.01', block_height: height, confirmations: 6, status: 'confirmed' },
      ],
    });
    const [{ outpoint, block_hash }] = await invoice.deposits();
    expect(outpoint).toBe(`${block_hash}:${invoice.to}`);
    await world.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid' });
    world.chain.mine(...empty(3));
    await world.scan();
    expect(await invoice.deposits()).toHaveLength(1);
  });

  it('comes in several pieces, beside ordinary payments and sweeps', async () => {
    const invoice = await anInvoice();
    const third = DUE / 4n;
    world.chain.mine(
      { inside: [{ to: invoice.to, amount: third }] },
      { pay: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: third + 7n }] },
      { inside: [{ to: invoice.to, amount: third }] },
      { inside: [{ to: invoice.to, amount: third }], spend: [{ from: invoice.to, amount: 2n * third }] },
    );
    await world.scan();
    expect((await invoice.deposits()).map(({ amount, tx_hash }) => [amount, tx_hash === null])).toEqual(
      expect.arrayContaining([[third.toString(), true]]),
    );
    expect(await invoice.deposits()).toHaveLength(4);
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    const [{ total }] = await world.rows(
      'select sum(amount)::text as total from deposits where invoice_id = $1',
      [invoice.id],
    );
    expect(total).toBe(DUE.toString());
    world.chain.mine({ spend: [{ from: invoice.to, amount: third - 7n }] }, ...empty(3));
    await world.scan();
    expect(await invoice.deposits()).toHaveLength(4);
  });

  it('is found on each of many open invoices, with one check per block', async () => {
    const merchant = world.merchant();
    const invoices = await Promise.all(Array.from({ length: 300 }, () => merchant.invoice()));
    await world.scan();
    const read = world.chain.balancesRead;
    world.chain.mine({
      inside: invoices.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })),
    });
    await world.scan();
    const { body } = await merchant.get('/api/invoices?status=confirmed&perPage=1');
    expect(body.meta.total).toBe(300);
    const open = await world.rows('select 1 from addresses where balance_check_at is not null');
    // Once to find it, once to see that it explains all, and a few to find the block.
    expect(world.chain.balancesRead - read).toBeLessThan(open.length + 300 * 6);
    const again = world.chain.balancesRead;
    await world.scan();
    expect(world.chain.balancesRead).toBe(again);
  });

  it('in time is in time: no invoice expires before its balance is checked', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    world.pass(MINUTE);
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    world.pass(MINUTE);
    world.chain.mine(...empty(3));
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('in time is in time although another payment arrives after the expiry', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    world.pass(2 * MINUTE);
    world.chain.mine({ pay: [{ to: invoice.to, amount: 1n }] });
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
  });

  it('that is late is recorded as late, also days later', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    world.pass(2 * MINUTE);
    world.chain.mine({});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    world.pass(24 * 60 * MINUTE);
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ amount: '0.01' }] });
    world.chain.mine(...empty(3));
    await world.scan();
    const told = await world.told(invoice.id);
    expect(told.map(({ kind }) => kind).slice(1)).toEqual([
      'invoice.expired',
      'invoice.late_payment',
      'deposit.settled',
    ]);
    expect(told.at(-1)?.payload).toMatchObject({ disposition: 'unresolved', tx_hash: null });
    // After a week nobody looks any more.
    world.pass(8 * 24 * 60 * MINUTE);
    world.chain.mine({});
    await world.scan();
    expect(
      await world.rows('select balance_check_at from addresses where address = $1', [invoice.to]),
    ).toEqual([{ balance_check_at: null }]);
  });

  it('from before the address was given out belongs to no invoice', async () => {
    // The address of the invoice after the next: anybody could know it who knew the key, an earlier installation did.
    const first = await anInvoice();
    const spare = await world.watchedChain.addresses.take();
    expect(spare.address).not.toBe(first.to);
    world.chain.mine({ inside: [{ to: spare.address, amount: 5n * DUE }] });
    await world.scan();
    const take = world.watchedChain.addresses.take;
    world.watchedChain.addresses.take = async () => spare;
    const invoice = await anInvoice();
    world.watchedChain.addresses.take = take;
    expect(invoice.to).toBe(spare.address);
    world.chain.mine(...empty(2));
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending', payments: [] });
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', pending_amount: '0.01' });
  });

  it('is dropped with its block and found again in the new one', async () => {
    const invoice = await anInvoice();
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, {});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed' });
    world.chain.reorg(2, {}, {});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    world.chain.reorg(1, { inside: [{ to: invoice.to, amount: DUE }] }, {}, {});
    await world.scan();
    expect((await invoice.deposits()).map(({ state }) => state).sort()).toEqual(['dropped', 'settled']);
    await world.credit();
    expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '0.01' });
  });

  it('is found late where the node has pruned old states', async () => {
    const invoice = await anInvoice();
    world.chain.mine({});
    await world.scan();
    world.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
    world.chain.prunedBelow = world.chain.height() - 4;
    await world.scan();
    world.chain.prunedBelow = 0;
    const [deposit] = await invoice.deposits();
    expect(deposit).toMatchObject({ amount: DUE.toString(), block_height: world.chain.height() - 4 });
  });
});

describe('for any sequence of branches', () => {
  type Sent = { to: number; amount: bigint; inside: boolean; tx: string };
  /** Payments go to one of three invoices, by their number. */
  const payment = fc.record({
    to: fc.integer({ min: 0, max: 2 }),
    parts: fc.integer({ min: 1, max: 6 }),
    inside: fc.boolean(),
  });
  const step = fc.record({
    /** Blocks that leave, then blocks that come. */
    depth: fc.integer({ min: 0, max: 4 }),
    blocks: fc.array(fc.array(payment, { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
    /** What left is mined again, in the last of the new blocks. */
    again: fc.boolean(),
    scans: fc.boolean(),
    handsOver: fc.boolean(),
    credits: fc.boolean(),
  });

  it('the final chain alone decides the state of an invoice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        // Only a few hundred balances are looked at in a step: those of earlier runs would take turns with these.
        await world.rows('update addresses set balance_check_at = null');
        const invoices = [await anInvoice(), await anInvoice(), await anInvoice()];
        await world.scan();
        const floor = world.chain.height();
        // What stands in each block above the floor, kept here as the oracle.
        let currentPayments: Sent[][] = [];
        for (const { depth, blocks, again, scans, handsOver, credits } of steps) {
          const left = currentPayments.splice(Math.max(0, currentPayments.length - depth));
          const come: Sent[][] = blocks.map((payments) =>
            payments.map(({ to, parts, inside }) => ({
              to,
              amount: (DUE * BigInt(parts)) / 8n,
              inside,
              tx: newTx(),
            })),
          );
          // A branch that wins is not shorter.
          while (come.length < left.length) come.push([]);
          if (again) come.at(-1)?.push(...left.flat());
          currentPayments = [...currentPayments, ...come];
          const scripts = come.map((payments): Script => {
            const named = payments.map(({ to, ...rest }) => ({ ...rest, to: invoices[to]?.to ?? '' }));
            return {
              pay: named.filter(({ inside }) => !inside),
              inside: named.filter(({ inside }) => inside),
            };
          });
          world.chain.reorg(left.length, ...scripts);
          expect(world.chain.height()).toBe(floor + currentPayments.length);
          if (handsOver) await world.scanner.leave();
          if (scans) await world.scan();
          if (credits) await world.credit();
        }
        // Long enough for all that is away to be given up, and for a look at the balances of what is paid.
        world.pass(20 * MINUTE);
        world.chain.mine(...empty(8));
        await world.scan();
        await world.credit();

        for (const [i, invoice] of invoices.entries()) {
          const due = currentPayments.flat().filter(({ to }) => to === i);
          const total = due.reduce((sum, { amount }) => sum + amount, 0n);
          const deposits = await invoice.deposits();
          const inChain = deposits.filter(({ state }) => state === 'seen' || state === 'settled');
          expect(inChain.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(total);
          expect(deposits.filter(({ state }) => state === 'missing')).toEqual([]);
          const { status, payments } = await invoice.read();
          // Paid stays paid; else it is what the money in the chain makes it.
          if (status !== 'paid') {
            expect(status).toBe(total === 0n ? 'pending' : 'partially_paid');
            expect(total).toBeLessThan(DUE);
          }
          expect(payments).toHaveLength(deposits.length);
          const told = (await world.told(invoice.id)).filter(({ kind }) => kind.startsWith('deposit.'));
          const credited = told.reduce(
            (sum, { kind, payload }) =>
              sum + (kind === 'deposit.settled' ? 1n : -1n) * BigInt(payload.amount),
            0n,
          );
          // What the ledger was told, less what was taken back, is what is settled and in the chain.
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
