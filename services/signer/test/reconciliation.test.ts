import { beforeEach, describe, expect, it } from '@jest/globals';
import { aSweep, aTransfer, bumped, reconciled, signerSuite } from './signer-fixture.ts';

const fixture = await signerSuite();
const WITHIN_MS = 600_000;

const ago = (ms: number) => new Date(fixture.around.nowMs - ms);
const refusedAs = async (order = aTransfer('1')) => (await fixture.sign('ethereum', [order])).refused;

beforeEach(() => {
  fixture.set({ reconciledWithinMs: WITHIN_MS });
  fixture.hold('1');
});

describe('a payout is signed for the first time', () => {
  it('when its asset was found right lately', async () => {
    fixture.around.reconciled = reconciled('ETH', ago(WITHIN_MS));
    expect(await refusedAs()).toBeNull();
  });

  it.each([
    ['too long ago', () => reconciled('ETH', ago(WITHIN_MS + 1)), 'the asset was not reconciled lately'],
    ['never', () => reconciled('ETH', null), 'the asset was not reconciled lately'],
    ['for another asset', () => reconciled('ETH_BASE', ago(0)), 'the asset was not reconciled lately'],
    ['and halted since', () => reconciled('ETH', ago(0), true), 'payouts of the asset are halted'],
  ])('and not when that was %s', async (_when, answer, because) => {
    fixture.around.reconciled = answer();
    expect(await refusedAs()).toMatchObject({ because, payouts: ['1'], again_after_ms: 5_000 });
    expect(await fixture.rows()).toEqual({});
  });

  it('and not while the auditor does not answer', async () => {
    fixture.around.reconciled = undefined;
    const refused = { because: 'the auditor did not answer', payouts: [], again_after_ms: 1_000 };
    expect(await refusedAs()).toMatchObject(refused);
    fixture.around.reconciled = reconciled('ETH', ago(0));
    expect(await refusedAs()).toBeNull();
  });

  it('when its account does not need the deposits since then', async () => {
    fixture.around.reconciled = reconciled('ETH', ago(60_000));
    fixture.hold('1', { available: '499', deposited_since: '500' });
    expect(await refusedAs()).toMatchObject({
      because: 'the balance rests on deposits that were not reconciled yet',
      payouts: ['1'],
    });
    expect(fixture.around.describedSince).toEqual([ago(60_000).toISOString()]);
    fixture.hold('1', { available: '500', deposited_since: '500' });
    expect(await refusedAs()).toBeNull();
  });
});

it('another attempt and a sweep need no reconciliation', async () => {
  fixture.around.reconciled = reconciled('ETH', ago(0));
  const order = aTransfer('1');
  expect(await refusedAs(order)).toBeNull();
  fixture.around.reconciled = undefined;
  fixture.around.nowMs += 2 * WITHIN_MS;
  expect(await refusedAs(bumped(order))).toBeNull();
  expect(await refusedAs(aSweep())).toBeNull();
});

it('the auditor is asked once in two seconds, and never when that is switched off', async () => {
  fixture.around.reconciled = reconciled('ETH', null);
  const asked = () => fixture.around.asked.filter((command) => command === 'reconciliation.read').length;
  await refusedAs();
  fixture.around.nowMs += 1_999;
  await refusedAs();
  expect(asked()).toBe(1);
  fixture.around.nowMs += 1;
  await refusedAs();
  expect(asked()).toBe(2);
  fixture.set({ reconciledWithinMs: 0 });
  fixture.around.nowMs += 10_000;
  expect(await refusedAs()).toBeNull();
  expect(asked()).toBe(2);
  expect(fixture.around.describedSince.at(-1)).toBeNull();
});
