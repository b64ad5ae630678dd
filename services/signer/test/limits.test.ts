import { describe, expect, it } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import { units } from '@quittance/shared/money';
import type { AssetSigningLimits } from '../src/domain/limits.ts';
import { signerSuite } from './signer-fixture.ts';
import { aSpend, aSweep, aTransfer, bumped, HOUR_MS, recipients } from './signer-orders.ts';

const fixture = await signerSuite();

const limit = (name: keyof AssetSigningLimits, amount: bigint) =>
  fixture.set({ limits: { ETH: { [name]: units(amount) } } });

let nonce = 0;
/** What becomes of a payout of so many wei. */
async function paid(payout: string, amount: bigint, account = 'acc_1'): Promise<string> {
  fixture.hold(payout, { amount: String(amount), account_id: account });
  nonce += 1;
  const { refused } = await fixture.sign('ethereum', [aTransfer(payout, { amount: units(amount), nonce })]);
  if (refused !== null) expect(refused).toMatchObject({ payouts: [payout], again_after_ms: 60_000 });
  return refused?.because ?? 'signed';
}

describe('a limit is reached and not exceeded', () => {
  it('of one payout', async () => {
    limit('per_payout', 1_000n);
    expect(await paid('1', 1_001n)).toBe('the payout is above the limit of one payout');
    expect(await paid('1', 1_000n)).toBe('signed');
  });

  it.each([
    [
      'of an account in 24 hours, and not of another account',
      'per_account_24h',
      'acc_1',
      24,
      'the account is above its limit of 24 hours',
    ],
    ['of an hour', 'per_hour', 'acc_2', 1, 'the asset is above its limit of an hour'],
    ['of 24 hours', 'per_24h', 'acc_2', 24, 'the asset is above its limit of 24 hours'],
  ] as const)('%s', async (_what, name, account, hours, above) => {
    limit(name, 1_000n);
    expect(await paid('1', 600n)).toBe('signed');
    expect(await paid('2', 401n, account)).toBe(above);
    if (name === 'per_account_24h') expect(await paid('3', 1_000n, 'acc_2')).toBe('signed');
    expect(await paid('2', 400n, account)).toBe('signed');
    fixture.around.nowMs += hours * HOUR_MS - 1;
    expect(await paid('4', 1n, account)).toBe(above);
    fixture.around.nowMs += 1;
    expect(await paid('4', 1_000n, account)).toBe('signed');
  });

  it('of the fees of 24 hours, which sweeps take as well', async () => {
    const [sweep] = (await fixture.sign('ethereum', [aSweep()])).signed.map(readSignature);
    const cost = sweep?.maxCost ?? 0n;
    expect(cost).toBe(21_000n * 10n ** 9n);
    limit('fees_per_24h', 2n * cost - 1n);
    const order = aTransfer(fixture.hold('1'));
    const { refused } = await fixture.sign('ethereum', [order]);
    expect(refused).toMatchObject({
      because: 'network fees are above their limit of 24 hours',
      payouts: [],
      again_after_ms: 60_000,
    });
    expect(await fixture.rows()).toMatchObject({ signatures: 1 });
    expect(await fixture.rows()).not.toHaveProperty('cleared_payouts');
    limit('fees_per_24h', 2n * cost);
    expect((await fixture.sign('ethereum', [order])).refused).toBeNull();
    // Each attempt takes its own.
    expect((await fixture.sign('ethereum', [bumped(order)])).refused).toMatchObject({ payouts: [] });
    fixture.around.nowMs += 24 * HOUR_MS;
    expect((await fixture.sign('ethereum', [bumped(order)])).refused).toBeNull();
  });
});

it('another attempt of a payout is signed after the limits were reached or lowered', async () => {
  const order = aTransfer(fixture.hold('1'));
  expect((await fixture.sign('ethereum', [order])).refused).toBeNull();
  fixture.set({ limits: { ETH: { per_payout: units(0n), per_hour: units(0n) } } });
  expect((await fixture.sign('ethereum', [bumped(order)])).refused).toBeNull();
});

it('the payouts of one request count against each other, in one transaction or in several', async () => {
  limit('per_hour', 2_000n);
  const orders = ['1', '2', '3'].map((id, i) => aTransfer(fixture.hold(id), { nonce: 100 + i }));
  const { signed, refused } = await fixture.sign('ethereum', orders);
  expect([signed.length, refused?.payouts]).toEqual([2, ['3']]);

  fixture.set({ limits: { BTC: { per_hour: units(20_000n) } } });
  for (const id of ['4', '5', '6'])
    fixture.hold(id, { asset: 'BTC', amount: '10000', destination: recipients.bitcoin });
  const together = await fixture.sign('bitcoin', [aSpend(['4', '5', '6'], [1])]);
  expect([together.signed.length, together.refused?.payouts]).toEqual([0, ['6']]);
  expect((await fixture.sign('bitcoin', [aSpend(['4', '5'], [1])])).refused).toBeNull();
});
