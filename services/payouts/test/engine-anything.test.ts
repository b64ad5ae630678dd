import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { EvmSender } from '@quittance/chains/chain';
import type { PayoutId } from '@quittance/shared/ids';
import { assertProperty } from '@quittance/testkit/assert-property';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import fc from 'fast-check';
import { CONFIRMATIONS, EngineFixture, ETHER } from './engine-fixture.ts';
import { type BroadcastFate, intercepted, MAX_FEE } from './scripted-chain.ts';

/**
 * Under random faults, in the end every payout has ended, and the chain has exactly the payments that the payouts say.
 */
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const aStep = <K extends string, Fields extends object>(
  weight: number,
  name: K,
  fields: { [F in keyof Fields]: fc.Arbitrary<Fields[F]> },
) => ({
  weight,
  arbitrary: fc.record(fields).map((drawn) => ({ do: name, ...drawn })),
});
const asset = fc.constantFrom('ETH' as const, 'USDC_ERC20' as const);
const tenths = fc.integer({ min: 1, max: 40 });
const fate = fc.constantFrom<BroadcastFate>('lose_answer', 'lose_bytes', 'reject', 'accept');
const step = fc.oneof(
  aStep(4, 'reserve', { asset, tenths, refusing: fc.constantFrom('no', 'no', 'no', 'estimated', 'mined') }),
  aStep(2, 'deposit', { asset, tenths, index: fc.nat(5) }),
  aStep(5, 'run', {}),
  aStep(3, 'die', { afterCalls: fc.nat(16), late: fc.boolean() }),
  aStep(4, 'mine', { blocks: fc.integer({ min: 1, max: 3 }) }),
  aStep(1, 'reorg', {
    depth: fc.integer({ min: 1, max: CONFIRMATIONS - 1 }),
    held: fc.constantFrom('gone' as const, 'pending' as const),
  }),
  aStep(1, 'forget', {}),
  aStep(2, 'fates', { fates: fc.array(fate, { maxLength: 4 }) }),
  aStep(2, 'wait', { ms: fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.constant(200_000)) }),
  aStep(2, 'price', { times: fc.integer({ min: 1, max: 12 }) }),
  aStep(1, 'mine_older', {}),
  aStep(1, 'use_nonce', {}),
);
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** A sender whose process dies at its nth call to the node, before the call or before its answer. */
function dying(sender: EvmSender, afterCalls: number, late: boolean): EvmSender {
  let calls = 0;
  return intercepted(sender, async (call) => {
    calls += 1;
    if (calls < afterCalls) return call();
    if (late && calls === afterCalls) await call();
    throw new Error('killed');
  });
}

const amountOf = ({ asset, tenths: count }: { asset: 'ETH' | 'USDC_ERC20'; tenths: number }) =>
  BigInt(count) * (asset === 'ETH' ? ETHER / 10n : 100_000n);

async function take(fixture: EngineFixture, payouts: PayoutId[], step: Step): Promise<void> {
  const { chain, clock } = fixture;
  switch (step.do) {
    case 'reserve': {
      const to = fixture.newRecipient();
      if (step.refusing !== 'no') chain.refusing.add(to);
      if (step.refusing === 'mined') chain.unforeseen.add(to);
      payouts.push((await fixture.reserve({ asset: step.asset, amount: amountOf(step), to })).id);
      return;
    }
    case 'deposit':
      await fixture.deposit(step.index, step.asset, amountOf(step));
      return;
    case 'run':
      await fixture.run();
      return;
    case 'die':
      await fixture
        .run(fixture.replicaWith(dying(chain.sender, step.afterCalls, step.late)))
        .catch((error: Error) => expect(error.message).toMatch('killed'));
      await fixture.freeLease();
      return;
    case 'mine':
      return chain.mine(step.blocks);
    case 'reorg':
      return chain.reorg(Math.min(step.depth, chain.blocks.length - 1), step.held);
    case 'forget':
      return chain.forgetPool();
    case 'fates':
      chain.fates.push(...step.fates);
      return;
    case 'wait':
      return clock.advance(step.ms);
    case 'price':
      chain.leastFee = MAX_FEE * BigInt(step.times);
      return;
    case 'mine_older':
      return mineOlder(fixture);
    case 'use_nonce':
      return chain.useNonce(HOT);
  }
}

/** A miner has kept a replaced attempt, and includes it when its nonce is next. */
async function mineOlder({ chain, db }: EngineFixture): Promise<void> {
  const older = await db.rows<{ raw: string }>(
    `select raw from transactions as one where state in ('signed', 'broadcast') and exists (
       select from transactions as other where other.replacement_group = one.replacement_group and other.attempt > one.attempt)
     order by nonce, attempt`,
  );
  const next = older.find(({ raw }) => chain.arrived.includes(raw) && chain.canMine(raw));
  if (next !== undefined) chain.mineBytes(next.raw);
}

const chainNonce = ({ chain }: EngineFixture): number =>
  chain.blocks.flatMap((block) => block.mined).filter(({ transaction }) => transaction.from === HOT).length;

async function nextNonceOf({ db }: EngineFixture): Promise<number | undefined> {
  const row = await db.maybe<{ next: number }>(
    'select next_nonce::int as next from wallets where address = $1',
    [HOT],
  );
  return row?.next;
}

/** An operator resumes signing behind another party's transaction once it is final. */
async function decide({ chain, db }: EngineFixture): Promise<void> {
  const final = await chain.sender.nonce(HOT, 'finalized');
  await db.rows(`update wallets set next_nonce = greatest(next_nonce, $2) where address = $1`, [HOT, final]);
}

/** Ends all faults: enough money, time, blocks, and a node that works. */
async function heal(fixture: EngineFixture): Promise<void> {
  fixture.chain.fates.length = 0;
  fixture.chain.leastFee = 1n;
  fixture.chain.fund('ETH', HOT, 1_000n * ETHER);
  fixture.chain.fund('USDC_ERC20', HOT, 1_000_000_000n);
  for (let round = 0; round < 12; round++) {
    fixture.clock.advance(31_000);
    await fixture.run();
    if (fixture.ports.signingPause.reason !== undefined) await decide(fixture);
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
  }
  await fixture.run();
}

it('every payout ends once under random faults', async () => {
  await assertProperty(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const fixture = await EngineFixture.fresh(database);
      try {
        fixture.chain.fund('ETH', HOT, 3n * ETHER);
        fixture.chain.fund('USDC_ERC20', HOT, 2_000_000n);
        const payouts: PayoutId[] = [];
        for (const step of steps) {
          const used = chainNonce(fixture);
          const given = await nextNonceOf(fixture);
          await take(fixture, payouts, step);
          // Signing is paused while the chain has used nonces that the database has not.
          if (given !== undefined && used > given) expect(await nextNonceOf(fixture)).toBe(given);
          await fixture.expectSound();
        }
        await heal(fixture);
        for (const id of payouts) {
          const { status } = await fixture.payout(id);
          expect(['mined', 'failed']).toContain(status);
          expect((await fixture.published(id)).slice(1)).toHaveLength(2);
        }
        await fixture.expectSound();
      } finally {
        await fixture.close();
      }
    }),
    { least: 10, most: 60 },
  );
});
