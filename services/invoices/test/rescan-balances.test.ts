import { expect, it } from '@jest/globals';
import type { Block } from '@quittance/chains/chain';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { DUE, empty, MINUTE } from './fixture.ts';
import { openRescanFixture } from './rescan-fixture.ts';

/** A rescan reads blocks again: it records missed payments and records none twice. */
const MONTH = 30 * 24 * 60 * MINUTE;

const opened = await openRescanFixture();
const { fixture, anInvoice, mine, block, inside, blocks, pass, ask, lastRescan, height, rescan } = opened;
const { balanceLook, rescanWithLooks } = opened;

it('a rescan finds contract-sent money once at an address that is no longer checked', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pass(2 * MINUTE);
  await pass(MONTH);
  expect(await balanceLook(invoice.to)).toMatchObject({ balance_check_at: null });
  await inside(invoice.to);
  await blocks(3);
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
  await blocks(1);
  expect(await balanceLook(invoice.to)).toEqual({ balance_check_at: null, balance_before: '0' });
  fixture.chain.mine(...empty(20), { inside: [{ to: invoice.to, amount: DUE }] }, ...empty(3));
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
  await blocks(1);
  // An address that was given out before balances were checked.
  await fixture.rows('update addresses set balance_before = null, balance_height = null where address = $1', [
    invoice.to,
  ]);
  fixture.chain.mine({ inside: [{ to: invoice.to, amount: DUE }] }, ...empty(20));
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
  await blocks(1);
  await mine({
    inside: many.map(({ address }) => ({ to: address.address.toLowerCase(), amount: DUE })),
  });
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
  await blocks(1);
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
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom('ETH', 'USDC_ERC20'),
      fc.array(happening, { minLength: 4, maxLength: 14 }),
      async (asset, happenings) => {
        const { to, id } = await fixture.anInvoice({ asset });
        await blocks(1);
        fixture.chain.prunedBelow = 0;
        const begun = await height();
        const pay = { to, amount: DUE };
        const hidden: Block[] = [];
        const show = (one: Block) => void fixture.chain.reveal(one, pay);
        const booked = async () => {
          const [{ sum }] = await fixture.rows(
            `select coalesce(sum(amount), 0)::text as sum from deposits
             where invoice_id = $1 and asset = 'ETH' and state in ('seen', 'settled')`,
            [id],
          );
          return BigInt(sum);
        };
        for (const what of happenings) {
          if (what === 'told') fixture.chain.mine({ pay: [pay] });
          if (what === 'hidden') hidden.push(block({ inside: [pay] }));
          if (what === 'shown') hidden.splice(0, 1).forEach(show);
          if (what === 'inside') fixture.chain.mine({ inside: [pay] });
          if (what === 'spent') fixture.chain.mine({ spend: [{ from: to, amount: 1n }] });
          if (what === 'later') fixture.pass(MONTH);
          if (what === 'looks') await rescanWithLooks(await height());
          if (what === 'again') await rescan(begun);
          if (what === 'parted') fixture.chain.reorg(3);
          if (what === 'pruned') fixture.chain.prunedBelow = fixture.chain.height() - 3;
          if (what !== 'shown') await blocks(1);
          expect(await booked()).toBeLessThanOrEqual(await cameTo(to));
        }
        hidden.forEach(show);
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
    { least: 5, most: 15 },
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
