import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { creditedDeposit } from '@quittance/testkit/credited-deposit';
import { readReconciliation } from '../src/operations/read-reconciliation.ts';
import { resumePayouts } from '../src/operations/resume-payouts.ts';
import { ADDRESS, PAID } from './audit-fixture.ts';
import { chainSuite, HOT } from './chain-with-deposit.ts';

/** What the auditor answers who signs payouts: since when an asset is known to be right. */

const { fixture, at } = await chainSuite(`
  ${creditedDeposit({ amount: 60, address: ADDRESS, txHash: PAID, height: 10, booked: "now() - interval '1 day'" })};
  ${creditedDeposit({ n: 2, asset: 'SOL', amount: 50, address: 'A', txHash: 't' })};
  insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${HOT}', 'hot', 0)`);

const check = (given?: { isChainDue: boolean }) => fixture.checkOf(at.ports, given);

/** Of ETH: whether it is halted, and when the check that it has passed began. */
async function eth() {
  const { assets } = await readReconciliation(at.ports);
  const found = assets.find(({ asset }) => asset === 'ETH');
  if (found === undefined) throw new Error('ETH is not answered');
  return found;
}
const passedAt = async () => (await eth()).passed_at;
const newestCheck = async () =>
  (await fixture.db.one<{ at: Date }>('select max(began_at) as at from checks')).at.toISOString();

/** A later check passes, which shows that nothing else was in its way. @returns when it began. */
async function passed(): Promise<string | null> {
  await check();
  const at = await passedAt();
  expect(at).toBe(await newestCheck());
  return at;
}

describe('an asset has passed', () => {
  it('the newest check that has compared the records and its chain, from when that check began', async () => {
    expect(await eth()).toEqual({ asset: 'ETH', passed_at: null, is_halted: false });
    for (const scope of ['whole', 'recent', 'recent']) {
      expect(await check()).toBe(`${scope} right`);
      expect(await eth()).toEqual({ asset: 'ETH', passed_at: await newestCheck(), is_halted: false });
    }
    const { assets } = await readReconciliation(at.ports);
    expect(assets.filter(({ passed_at }) => passed_at !== null).map(({ asset }) => asset)).toEqual(['ETH']);
  });

  it('no check while its chain cannot be asked, or is not asked', async () => {
    const height = [...at.node.blocks];
    at.node.blocks.clear();
    await check();
    expect(await passedAt()).toBeNull();
    for (const [block, hash] of height) at.node.blocks.set(block, hash);
    const before = await passed();
    expect(await check({ isChainDue: false })).toBe('recent right');
    expect(await passedAt()).toBe(before);
    at.node.blocks.clear();
    await check();
    expect(await passedAt()).toBe(before);
    for (const [block, hash] of height) at.node.blocks.set(block, hash);
    await passed();
  });

  /** What is left on the chain of the deposit and of the operator's own. */
  const left = (deposit: bigint, own: bigint) => at.node.balances.set(ADDRESS, deposit).set(HOT, own);

  it.each<[string, () => unknown, () => unknown]>([
    ['in its records', () => fixture.off(1), () => fixture.off(-1)],
    ['on its chain', () => left(59n, 0n), () => left(60n, 100n)],
  ])(
    'no check that has found a discrepancy %s, nor one that only looks again at what was found',
    async (_, begin, end) => {
      const before = await passed();
      await begin();
      expect(await check()).toBe('recent wrong');
      await end();
      expect(await check()).toBe('again right');
      expect(await passedAt()).toBe(before);
      await passed();
    },
  );

  it('no check that has found less on its chain', async () => {
    const before = await passed();
    left(59n, 0n);
    await check();
    expect(await eth()).toEqual({ asset: 'ETH', passed_at: before, is_halted: false });
    await check();
    expect(await eth()).toEqual({ asset: 'ETH', passed_at: before, is_halted: true });
  });

  it('no check of new rows while a discrepancy of an old row is known', async () => {
    const before = await passed();
    await fixture.run(
      `update ledger.entries set amount = amount + 1 where bucket = 'custody' and asset = 'ETH'`,
    );
    await fixture.later('1 day');
    expect([await check(), await check()]).toEqual(['whole wrong', 'again wrong']);
    // As if every row had just been checked.
    await fixture.run(`update auditor.checks set ended_at = now() where scope = 'whole'`);
    expect(await check()).toBe('recent right');
    expect(await eth()).toEqual({ asset: 'ETH', passed_at: before, is_halted: true });
  });

  it('a check that has found discrepancies of other assets alone', async () => {
    await fixture.off(1, 'SOL');
    expect(await check()).toBe('whole wrong');
    expect(await passedAt()).toBe(await newestCheck());
    await check();
    await passed();
  });

  it('no check that has found a discrepancy of no asset', async () => {
    const before = await passed();
    await fixture.run(`insert into auditor.discrepancies
      (invariant, subject, what, pauses_payouts, first_seen_at, last_seen_at, times)
      values ('I1', 'of all', 'of all', true, now(), now(), 2)`);
    expect(await check()).toBe('recent right');
    expect(await passedAt()).toBe(before);
  });

  it('a check whose only discrepancies an operator has accepted', async () => {
    await fixture.off(1);
    await check();
    await check();
    expect(await eth()).toEqual({ asset: 'ETH', passed_at: null, is_halted: true });
    const resumed = await resumePayouts(
      { db: fixture.admin, clock: systemClock, note: async () => undefined },
      { asset: 'ETH', force: true, chains: at.ports.chains, gracePeriodSeconds: 0, chainDays: 30 },
    );
    expect(resumed).toMatchObject({ ok: true });
    await passed();
    expect(await eth()).toMatchObject({ is_halted: false });
    // It has grown since.
    const before = await passedAt();
    await fixture.off(1);
    await check();
    expect(await passedAt()).toBe(before);
  });
});

it('an asset is halted as long as payouts has not resumed it', async () => {
  await fixture.run(`insert into payouts.halted_assets (asset, halt) values ('ETH', 1)`);
  try {
    expect(await eth()).toMatchObject({ is_halted: true });
  } finally {
    await fixture.run('delete from payouts.halted_assets');
  }
});
