import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Units } from '@quittance/shared/money';
import fc from 'fast-check';
import { ETHER, type Fixture, MINUTE, startFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** A rescan reads blocks again: it records missed payments and records none twice. */
const DUE = ETHER / 100n;
const DOLLARS = 25_000_000n;
const MONTH = 30 * 24 * 60 * MINUTE;
const RUNS = 15;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
  await fixture.scan();
});
afterAll(() => fixture.stop());

async function anInvoice(order: object = {}) {
  const invoice = await fixture.anInvoice(order);
  const { id } = invoice;
  return {
    ...invoice,
    deposits: () =>
      fixture.rows(
        'select outpoint, amount::text, state from deposits where invoice_id = $1 order by outpoint',
        [id],
      ),
    settled: async () => (await fixture.told(id)).filter(({ kind }) => kind === 'deposit.settled'),
  };
}

/** A block that the node first reports without a payment. */
function blockOf(payment: { to: string; amount: bigint; asset: 'ETH' | 'USDC_ERC20' }) {
  const [block] = fixture.chain.mine({});
  if (block === undefined) throw new Error('no block was mined');
  const txHash = newTx();
  const { to: address, amount, asset } = payment;
  return {
    height: block.height,
    outpoint: `${txHash}:0`,
    show: () =>
      (block.payments as unknown[]).push({
        outpoint: `${txHash}:0`,
        txHash,
        outputIndex: 0,
        asset,
        address,
        amount: amount as Units,
      }),
  };
}

const ask = (from: number) =>
  fixture.rows(
    `insert into rescans (chain, from_height, next_height, asked_at) values ('ethereum', $1, $1, now())`,
    [from],
  );
const lastRescan = async () => (await fixture.rows('select * from rescans order by id desc limit 1'))[0];
const height = async () => (await fixture.rows('select height from cursors'))[0].height as number;

/** Steps until all rescans have ended. */
async function done() {
  for (let steps = 0; steps < 200; steps++) {
    await fixture.scan();
    const [{ open }] = await fixture.rows('select count(*)::int as open from rescans where ended_at is null');
    if (open === 0) return;
  }
  throw new Error(`does not end: ${JSON.stringify(await lastRescan())}`);
}
async function rescan(from: number) {
  await ask(from);
  await done();
}

it('a rescan records missed payments, final at once, and changes nothing else', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  const paid = blockOf({ to: invoice.to, amount: DOLLARS, asset: 'USDC_ERC20' });
  fixture.chain.mine({}, {}, {}, {});
  await fixture.scan();
  expect(await invoice.read()).toMatchObject({ status: 'pending' });
  paid.show();
  await fixture.scan();
  expect(await invoice.deposits()).toEqual([]);

  const before = await height();
  await rescan(paid.height);
  expect(await height()).toBe(before);
  expect(await invoice.deposits()).toEqual([
    { outpoint: paid.outpoint, amount: DOLLARS.toString(), state: 'settled' },
  ]);
  expect(await lastRescan()).toMatchObject({ found: 1, until_height: before, failure: null });
  await fixture.credit();
  expect(await invoice.read()).toMatchObject({ status: 'paid', paid_amount: '25' });
});

it('a rescan reports no known payment again', async () => {
  const invoice = await anInvoice();
  fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, ...Array.from({ length: 40 }, () => ({})));
  await fixture.scan();
  const told = await fixture.told(invoice.id);
  await rescan(0);
  expect(await lastRescan()).toMatchObject({ found: 0, next_height: (await height()) + 1 });
  expect(await fixture.told(invoice.id)).toEqual(told);
});

it('a rescan counts a payment that was found by its balance once, also when its block shows it now', async () => {
  const invoice = await anInvoice();
  const [block] = fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] });
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  expect(await invoice.settled()).toHaveLength(1);
  // The node was wrong: the block has an ordinary payment.
  const hidden = block as unknown as { inside: unknown[]; payments: unknown[]; height: number };
  hidden.inside.length = 0;
  const txHash = newTx();
  const payment = {
    outpoint: `${txHash}:0`,
    txHash,
    outputIndex: 0,
    asset: 'ETH',
    address: invoice.to,
    amount: DUE,
  };
  hidden.payments.push(payment);
  await rescan(hidden.height);
  fixture.chain.mine({}, {});
  await fixture.scan();
  expect(await invoice.settled()).toHaveLength(1);
  expect(await lastRescan()).toMatchObject({ found: 0 });
  // Payments that its balance does not explain are found too, in the same transaction or in another.
  const more = blockOf({ to: invoice.to, amount: DUE, asset: 'ETH' });
  await fixture.scan();
  fixture.pass(MONTH);
  fixture.chain.mine({});
  await fixture.scan();
  more.show();
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  const settled = await invoice.settled();
  await rescan(more.height);
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  expect(settled.length).toBeLessThanOrEqual(2);
  expect((await invoice.settled()).map(({ payload }) => payload.amount)).toEqual([
    DUE.toString(),
    DUE.toString(),
  ]);
});

it('a rescan records native money once at an address that is no longer checked', async () => {
  const invoice = await anInvoice();
  fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] }, {}, {}, {});
  await fixture.scan();
  await fixture.credit();
  fixture.pass(MONTH);
  fixture.chain.mine({});
  await fixture.scan();
  const late = blockOf({ to: invoice.to, amount: DUE, asset: 'ETH' });
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  late.show();
  await ask(late.height);
  await rescan(late.height);
  fixture.chain.mine({}, {});
  await fixture.scan();
  expect(await invoice.settled()).toHaveLength(2);
  expect((await invoice.deposits()).map(({ outpoint }) => outpoint)).toContain(late.outpoint);
});

/** Makes the node report blocks differently for this many steps. */
async function whileTold(told: typeof fixture.chain.blocksAfter, steps: number) {
  const { blocksAfter } = fixture.chain;
  fixture.chain.blocksAfter = told;
  try {
    for (let i = 0; i < steps; i++) await fixture.scanner.step();
  } finally {
    fixture.chain.blocksAfter = blocksAfter;
  }
}

it('a rescan skips no block that the node lacks, returns with a gap or takes from another chain', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  fixture.chain.mine(...Array.from({ length: 20 }, () => ({})));
  const paid = blockOf({ to: invoice.to, amount: DOLLARS, asset: 'USDC_ERC20' });
  fixture.chain.mine({}, {}, {}, {});
  await fixture.scan();
  paid.show();
  await ask(paid.height - 18);
  await fixture.scanner.step();
  const { next_height: next } = await lastRescan();
  expect(next).toBeLessThan(paid.height);
  const { blocksAfter } = fixture.chain;
  await whileTold(() => Promise.resolve([]), 5);
  await whileTold(() => Promise.reject(new Error('too many requests')), 5);
  await whileTold(async (from, limit) => (await blocksAfter(from, limit)).slice(3), 5);
  const strange = { hash: '0xelse', payments: [{ to: 'nobody' }] };
  await whileTold(
    async (from, limit) =>
      (await blocksAfter(from, limit)).map((block) => ({ ...block, ...strange }) as never),
    5,
  );
  expect(await lastRescan()).toMatchObject({ next_height: next, tries: 20, ended_at: null });
  await done();
  expect(await lastRescan()).toMatchObject({ found: 1, failure: null, first_height: paid.height - 18 });
  expect(await invoice.deposits()).toMatchObject([{ outpoint: paid.outpoint }]);
});

it('a rescan records nothing of a fork whose blocks follow each other', async () => {
  const invoice = await anInvoice();
  const [last] = fixture.chain.mine({}, {}, {}).slice(-1);
  await fixture.scan();
  const forged = {
    ...last,
    hash: '0xfork',
    payments: [
      {
        outpoint: '0xforged:0',
        txHash: '0xforged',
        outputIndex: 0,
        asset: 'ETH',
        address: invoice.to,
        amount: DUE,
      },
    ],
  };
  await ask(last?.height ?? 0);
  await whileTold(() => Promise.resolve([forged as never]), 3);
  expect(await invoice.deposits()).toEqual([]);
  expect(await lastRescan()).toMatchObject({ tries: 3 });
  await done();
});

it('a rescan credits no payment from before the address was given out', async () => {
  const [earlier] = fixture.chain.mine({});
  if (earlier === undefined) throw new Error('no block was mined');
  fixture.chain.mine({});
  await fixture.scan();
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  (earlier.payments as unknown[]).push({
    outpoint: '0xearlier:0',
    txHash: '0xearlier',
    outputIndex: 0,
    asset: 'USDC_ERC20',
    address: invoice.to,
    amount: DOLLARS,
  });
  await rescan(earlier.height);
  expect(await invoice.deposits()).toEqual([]);
  expect(await lastRescan()).toMatchObject({ found: 0, failure: null });
});

it('a rescan fails when the node lacks the blocks, and not while the node is down', async () => {
  await ask(0);
  await whileTold((from) => (from < 0 ? Promise.reject(new Error('pruned')) : Promise.resolve([])), 59);
  expect(await lastRescan()).toMatchObject({ ended_at: null, tries: 59 });
  fixture.chain.away = true;
  await expect(fixture.scanner.step()).rejects.toThrow('the node does not answer');
  expect(await lastRescan()).toMatchObject({ ended_at: null, tries: 59 });
  fixture.chain.away = false;
  await whileTold(() => Promise.reject(new Error('pruned')), 1);
  expect(await lastRescan()).toMatchObject({ failure: 'pruned' });
});

/** Native money that a contract sends. Only the balance shows it. */
const inside = (to: string, amount: bigint = DUE) => fixture.chain.mine({ inside: [{ to, amount }] });
const balanceLook = async (address: string) =>
  (
    await fixture.rows('select balance_check_at, balance_before::text from addresses where address = $1', [
      address,
    ])
  )[0];

/** A rescan with its balance checks, which happen at the next block. */
async function rescanWithLooks(from: number) {
  await rescan(from);
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
}

it('a rescan finds contract-sent money once at an address that is no longer checked', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  fixture.pass(2 * MINUTE);
  fixture.chain.mine({});
  await fixture.scan();
  fixture.pass(MONTH);
  fixture.chain.mine({});
  await fixture.scan();
  expect(await balanceLook(invoice.to)).toMatchObject({ balance_check_at: null });
  inside(invoice.to);
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  expect(await invoice.deposits()).toEqual([]);

  await rescanWithLooks(await height());
  const [late] = await invoice.settled();
  expect(late?.payload).toMatchObject({ amount: DUE.toString(), disposition: 'unresolved' });
  expect((await fixture.told(invoice.id)).map(({ kind }) => kind)).toContain('invoice.late_payment');
  await rescanWithLooks(0);
  expect(await invoice.settled()).toHaveLength(1);
  expect(await balanceLook(invoice.to)).toMatchObject({ balance_check_at: null });
});

it('a rescan finds contract-sent money at the address of a token invoice once', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  fixture.chain.mine({});
  await fixture.scan();
  expect(await balanceLook(invoice.to)).toEqual({ balance_check_at: null, balance_before: '0' });
  fixture.chain.mine(...Array.from({ length: 20 }, () => ({})));
  inside(invoice.to);
  fixture.chain.mine({}, {}, {});
  // Like most nodes, it has no old states.
  fixture.chain.prunedBelow = fixture.chain.height() - 10;
  await fixture.scan();
  expect(await invoice.deposits()).toEqual([]);

  await rescanWithLooks(await height());
  fixture.chain.prunedBelow = 0;
  const [sent] = await invoice.settled();
  expect(sent?.payload).toMatchObject({ asset: 'ETH', amount: DUE.toString(), disposition: 'unresolved' });
  await rescanWithLooks(0);
  expect(await invoice.settled()).toHaveLength(1);
  expect(await balanceLook(invoice.to)).toMatchObject({ balance_check_at: null });
});

it('a rescan leaves money of unknown age undecided until a node has the old state', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  fixture.chain.mine({});
  await fixture.scan();
  // An address that was given out before balances were checked.
  await fixture.rows('update addresses set balance_before = null, balance_height = null where address = $1', [
    invoice.to,
  ]);
  inside(invoice.to);
  fixture.chain.mine(...Array.from({ length: 20 }, () => ({})));
  fixture.chain.prunedBelow = fixture.chain.height() - 10;
  await rescanWithLooks(fixture.chain.height() - 10);
  fixture.chain.prunedBelow = 0;
  expect(await invoice.deposits()).toEqual([]);
  expect(await balanceLook(invoice.to)).toEqual({ balance_check_at: null, balance_before: null });
  await rescanWithLooks(await height());
  expect(await invoice.settled()).toHaveLength(1);
});

it('a rescan checks each of many addresses once, a page per step', async () => {
  const merchant = fixture.merchant();
  const order = { asset: 'USDC_ERC20' };
  const many = await Promise.all(Array.from({ length: 300 }, () => merchant.invoice(order)));
  fixture.chain.mine({});
  await fixture.scan();
  fixture.chain.mine({
    inside: many.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })),
  });
  await fixture.scan();
  const [{ all }] = await fixture.rows('select count(*)::int as all from addresses');
  await ask(await height());
  let asked = 0;
  while ((await lastRescan()).ended_at === null) {
    await fixture.scanner.step();
    const [{ due }] = await fixture.rows(
      'select count(*)::int as due from addresses where balance_check_at is not null',
    );
    expect(due - asked).toBeLessThanOrEqual(250);
    asked = due;
  }
  expect(asked).toBe(all);
  const read = fixture.chain.balancesRead;
  fixture.chain.mine({});
  await fixture.scan();
  expect(
    await fixture.rows(`select 1 from deposits where asset = 'ETH' and invoice_id = any($1)`, [
      many.map(({ id }) => id),
    ]),
  ).toHaveLength(300);
  // One check finds it, one sees that it explains the balance, and a few find the block.
  expect(fixture.chain.balancesRead - read).toBeLessThan(all + 300 * 6);
});

/**
 * What may happen to an address, in any order. `hidden`: a payment that the node does not report at first, `parted`: the
 * chain drops its last blocks, `pruned`: the node drops its old states.
 */
const happening = fc.constantFrom(
  'told',
  'hidden',
  'shown',
  'inside',
  'spent',
  'parted',
  'pruned',
  'nothing',
  'later',
  'looks',
  'again',
);

it('rescans never record more than was paid, and in the end all of it, for any faults', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ETH', 'USDC_ERC20'),
      fc.array(happening, { minLength: 4, maxLength: 14 }),
      async (asset, happenings) => {
        const { to, id } = await fixture.anInvoice({ asset });
        fixture.chain.mine({});
        await fixture.scan();
        fixture.chain.prunedBelow = 0;
        const begun = await height();
        const hidden: (() => void)[] = [];
        const booked = async () => {
          const [{ sum }] = await fixture.rows(
            `select coalesce(sum(amount), 0)::text as sum from deposits
             where invoice_id = $1 and asset = 'ETH' and state in ('seen', 'settled')`,
            [id],
          );
          return BigInt(sum);
        };
        const pay = { to, amount: DUE };
        for (const what of happenings) {
          if (what === 'told') fixture.chain.mine({ pay: [pay] });
          if (what === 'hidden') hidden.push(hiddenPayment(to));
          if (what === 'shown') hidden.shift()?.();
          if (what === 'inside') inside(to);
          if (what === 'spent') fixture.chain.mine({ spend: [{ from: to, amount: 1n }] });
          if (what === 'later') fixture.pass(MONTH);
          if (what === 'looks') await rescanWithLooks(await height());
          if (what === 'again') await rescan(begun);
          if (what === 'parted') fixture.chain.reorg(3);
          if (what === 'pruned') fixture.chain.prunedBelow = fixture.chain.height() - 3;
          if (what !== 'shown') fixture.chain.mine({});
          await fixture.scan();
          expect(await booked()).toBeLessThanOrEqual(await cameTo(to));
        }
        for (const show of hidden) show();
        await rescanWithLooks(begun);
        await rescanWithLooks(begun);
        const came = await cameTo(to);
        expect(await booked()).toBe(came);
        const told = (await fixture.told(id)).map(({ kind, payload }) => {
          if (kind === 'deposit.settled') return BigInt(payload.amount);
          return kind === 'deposit.reversed' ? -BigInt(payload.amount) : 0n;
        });
        expect(told.reduce((sum, amount) => sum + amount, 0n)).toBe(came);
      },
    ),
    { numRuns: RUNS },
  );
});

/** The native money in the blocks of the chain, reported or not. */
async function cameTo(address: string): Promise<bigint> {
  const blocks = (await fixture.chain.blocksAfter(-1, Number.POSITIVE_INFINITY)) as unknown as {
    payments: { address: string; asset: string; amount: bigint }[];
    inside: { to: string; amount: bigint }[];
  }[];
  return blocks
    .flatMap(({ payments, inside: inner }) => [
      ...payments.filter((payment) => payment.address === address && payment.asset === 'ETH'),
      ...inner.filter(({ to }) => to === address),
    ])
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** A payment that the node does not report in its block before `show`. */
function hiddenPayment(to: string): () => void {
  const [block] = inside(to) as unknown as { inside: unknown[]; payments: unknown[] }[];
  if (block === undefined) throw new Error('no block was mined');
  const txHash = newTx();
  const payment = { outpoint: `${txHash}:0`, txHash, outputIndex: 0, asset: 'ETH', address: to, amount: DUE };
  return () => {
    block.inside.length = 0;
    block.payments.push(payment);
  };
}
