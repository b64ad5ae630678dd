import { expect, it } from '@jest/globals';
import type { Block } from '@quittance/chains/chain';
import { DUE, empty, MINUTE } from './fixture.ts';
import { openRescanFixture } from './rescan-fixture.ts';

/** A rescan reads blocks again: it records missed payments and records none twice. */
const DOLLARS = 25_000_000n;
const MONTH = 30 * 24 * 60 * MINUTE;

const opened = await openRescanFixture();
const { fixture, anInvoice, mine, block, blocks, pass, ask, lastRescan, height, done, rescan } = opened;
const { chain } = fixture;

it('a rescan records missed payments, final at once, and changes nothing else', async () => {
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  const paid = block();
  await blocks(4);
  await invoice.expectShown({ status: 'pending' });
  const { outpoint } = chain.reveal(paid, { to: invoice.to, amount: DOLLARS, asset: 'USDC_ERC20' });
  await fixture.scan();
  expect(await invoice.deposits()).toEqual([]);

  const before = await height();
  await rescan(paid.height);
  expect(await height()).toBe(before);
  expect(await invoice.deposits()).toEqual([{ outpoint, amount: DOLLARS.toString(), state: 'settled' }]);
  expect(await lastRescan()).toMatchObject({ found: 1, until_height: before, failure: null });
  await fixture.credit();
  await invoice.expectShown({ status: 'paid', paid_amount: '25' });
});

it('a rescan reports no known payment again', async () => {
  const invoice = await anInvoice();
  await mine({ pay: [{ to: invoice.to, amount: DUE }] }, ...empty(40));
  const told = await fixture.told(invoice.id);
  await rescan(0);
  expect(await lastRescan()).toMatchObject({ found: 0, next_height: (await height()) + 1 });
  expect(await fixture.told(invoice.id)).toEqual(told);
});

it('a rescan counts a payment that was found by its balance once, also when its block shows it now', async () => {
  const invoice = await anInvoice();
  const wrong = block({ inside: [{ to: invoice.to, amount: DUE }] });
  await blocks(3);
  expect(await invoice.settled()).toHaveLength(1);
  // The node was wrong: the block has an ordinary payment.
  chain.reveal(wrong, { to: invoice.to, amount: DUE });
  await rescan(wrong.height);
  await blocks(2);
  expect(await invoice.settled()).toHaveLength(1);
  expect(await lastRescan()).toMatchObject({ found: 0 });
  // Payments that its balance does not explain are found too, in the same transaction or in another.
  const more = block();
  await fixture.scan();
  await pass(MONTH);
  chain.reveal(more, { to: invoice.to, amount: DUE });
  await blocks(3);
  const settled = await invoice.settled();
  await rescan(more.height);
  await blocks(3);
  expect(settled.length).toBeLessThanOrEqual(2);
  expect((await invoice.settled()).map(({ payload }) => payload.amount)).toEqual([
    DUE.toString(),
    DUE.toString(),
  ]);
});

it('a rescan records native money once at an address that is no longer checked', async () => {
  const invoice = await anInvoice();
  await mine({ pay: [{ to: invoice.to, amount: DUE }] }, {}, {}, {});
  await fixture.credit();
  await pass(MONTH);
  const late = block();
  await blocks(3);
  const { outpoint } = chain.reveal(late, { to: invoice.to, amount: DUE });
  await ask(late.height);
  await rescan(late.height);
  await blocks(2);
  expect(await invoice.settled()).toHaveLength(2);
  expect((await invoice.deposits()).map(({ outpoint }) => outpoint)).toContain(outpoint);
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
  fixture.chain.mine(...empty(20));
  const paid = block();
  await blocks(4);
  const { outpoint } = chain.reveal(paid, { to: invoice.to, amount: DOLLARS, asset: 'USDC_ERC20' });
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
  expect(await invoice.deposits()).toMatchObject([{ outpoint }]);
});

it('a rescan records nothing of a fork whose blocks follow each other', async () => {
  const invoice = await anInvoice();
  const [last] = fixture.chain.mine({}, {}, {}).slice(-1);
  await fixture.scan();
  const forged = { ...(last as Block), hash: '0xfork' };
  chain.reveal(forged, { to: invoice.to, amount: DUE });
  await ask(last?.height ?? 0);
  await whileTold(() => Promise.resolve([forged]), 3);
  expect(await invoice.deposits()).toEqual([]);
  expect(await lastRescan()).toMatchObject({ tries: 3 });
  await done();
});

it('a rescan credits no payment from before the address was given out', async () => {
  const earlier = block();
  await blocks(1);
  const invoice = await anInvoice({ asset: 'USDC_ERC20' });
  chain.reveal(earlier, { to: invoice.to, amount: DOLLARS, asset: 'USDC_ERC20' });
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
