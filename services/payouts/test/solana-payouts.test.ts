import { describe, expect, it, jest } from '@jest/globals';
import { associatedAccount } from '@quittance/chains/solana/transaction';
import { patient } from '@quittance/testkit/patience';
import { halt, resume } from './chain-worker-fixture.ts';
import { RENT, SOL, type SolanaFixture, solanaSuite, TOKEN_RENT } from './solana-fixture.ts';

jest.setTimeout(patient(300_000));

/** Payouts and sweeps on a real Solana node, stepped by hand. */
let fixture: SolanaFixture;
const fresh = solanaSuite((made) => {
  fixture = made;
});
const hotBalance = (asset: 'SOL' | 'USDC_SOL') => fixture.customer.balance(asset, fixture.wallet.hotAddress);

describe('a payout', () => {
  it('of SOL arrives exactly, and its network fee is published once', async () => {
    await fresh();
    const { id, to } = await fixture.reserve('SOL', 3n * SOL);
    const payout = await fixture.ends(id, 'mined');
    const [transaction] = await fixture.transactions();
    expect(payout['tx_hash']).toBe(transaction?.['tx_hash']);
    expect(await fixture.customer.balance('SOL', to)).toBe(3n * SOL);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const [spent] = await fixture.spent();
    expect(spent).toMatchObject({ purpose: 'payout', asset: 'SOL', tx_hash: payout['tx_hash'] });
    expect(await hotBalance('SOL')).toBe(7n * SOL - BigInt(spent?.amount ?? 0));
  });

  it('of tokens opens the account of a new owner at our cost', async () => {
    await fresh(SOL, 1_000n);
    const { id, to } = await fixture.reserve('USDC_SOL', 600n);
    await fixture.ends(id, 'mined');
    const again = await fixture.reserve('USDC_SOL', 400n, to);
    await fixture.ends(again.id, 'mined');
    expect(await fixture.customer.balance('USDC_SOL', to)).toBe(1_000n);
    const [first, second] = (await fixture.spent()).map(({ amount }) => BigInt(amount));
    expect(first).toBeGreaterThan(TOKEN_RENT + 5_000n);
    expect(second).toBeLessThan(10_000n);
    expect(await hotBalance('SOL')).toBe(SOL - (first ?? 0n) - (second ?? 0n));
  });

  it('that equals another one has a transaction of its own', async () => {
    await fresh();
    const to = fixture.newRecipient();
    const alike = await Promise.all(Array.from({ length: 5 }, () => fixture.reserve('SOL', SOL, to)));
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(5);
    for (const { id } of alike) await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('SOL', to)).toBe(5n * SOL);
  });

  it.each([
    [
      'a new account that would have too little to stay',
      'SOL',
      RENT - 1n,
      async () => fixture.newRecipient(),
    ],
    ['a token account', 'USDC_SOL', 5n, () => associatedAccount(fixture.wallet.hotAddress, fixture.usdcMint)],
  ] as const)('to %s is refused before anything is signed', async (_, asset, amount, recipient) => {
    await fresh(SOL, 100n);
    const { id } = await fixture.reserve(asset, amount, await recipient());
    // Other payouts are paid.
    const other = await fixture.reserve('SOL', RENT);
    expect((await fixture.ends(id, 'failed'))['failed_reason']).toMatch(/does not accept/);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    await fixture.ends(other.id, 'mined');
    expect(await fixture.transactions()).toHaveLength(1);
    // The token account has a balance already, so expectSound must not check it as the recipient of this payout.
    await fixture.admin.rows('delete from payouts where id = $1', [id]);
  });

  it('of rent that the hot wallet must keep waits, and delays no other payout', async () => {
    await fresh(SOL);
    const { id } = await fixture.reserve('SOL', SOL - 6_000n);
    const small = await fixture.reserve('SOL', RENT);
    await fixture.ends(small.id, 'mined');
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    await fixture.pay('SOL', fixture.wallet.hotAddress, SOL);
    await fixture.ends(id, 'mined');
  });

  it('that fails on the chain gives the amount back, and the fee is spent', async () => {
    await fresh(SOL, 100n);
    const recipient = await fixture.recipientThatCloses();
    fixture.onBroadcast = async (_raw, send) => {
      await recipient.close();
      return send();
    };
    const { id } = await fixture.reserve('USDC_SOL', 50n, recipient.address);
    expect((await fixture.ends(id, 'failed'))['failed_reason']).toMatch(/did not accept/);
    expect(await fixture.published(id)).toEqual([
      'payout.created',
      'hold.release, fee kept',
      'payout.failed',
    ]);
    expect(await fixture.transactions()).toMatchObject([{ state: 'reverted' }]);
    expect(await fixture.spent()).toMatchObject([{ purpose: 'payout' }]);
    expect(await hotBalance('USDC_SOL')).toBe(100n);
  });
});

it('a halt stops new signatures for the asset, and other assets are paid', async () => {
  await fresh(10n * SOL, 1_000n);
  const lamports = await fixture.reserve('SOL', SOL);
  const tokens = await fixture.reserve('USDC_SOL', 100n);
  await halt(fixture.db, 'SOL');
  await fixture.ends(tokens.id, 'mined');
  expect(await fixture.payout(lamports.id)).toMatchObject({ status: 'reserved' });
  await resume(fixture.db, 'SOL');
  await fixture.ends(lamports.id, 'mined');
});

describe('sweeps', () => {
  it('bring SOL for a payout that the hot wallet does not cover, and leave nothing behind', async () => {
    await fresh(SOL);
    const addresses = [await fixture.deposit('SOL', 2n * SOL), await fixture.deposit('SOL', 3n * SOL)];
    const { id, to } = await fixture.reserve('SOL', 5n * SOL);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('SOL', to)).toBe(5n * SOL);
    for (const address of addresses) expect(await fixture.customer.balance('SOL', address)).toBe(0n);
    const spent = (await fixture.spent()).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect(await hotBalance('SOL')).toBe(SOL - spent);
  });

  it('bring SOL to a hot wallet that has none to pay with', async () => {
    await fresh(0n);
    const address = await fixture.deposit('SOL', 4n * SOL);
    const { id } = await fixture.reserve('SOL', 3n * SOL);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('SOL', address)).toBe(0n);
    // On a slow machine both are final in the same round, and the payout is settled first.
    const spent = await fixture.spent();
    expect(spent).toHaveLength(2);
    expect(spent.find(({ purpose }) => purpose === 'sweep')).toMatchObject({ amount: '5000' });
    expect(spent.find(({ purpose }) => purpose === 'payout')).toBeDefined();
  });

  it('bring tokens of addresses that never had a lamport, to a hot wallet that never had a token', async () => {
    await fresh(SOL);
    await fixture.deposit('USDC_SOL', 700n);
    const address = await fixture.deposit('USDC_SOL', 800n);
    const { id, to } = await fixture.reserve('USDC_SOL', 1_500n);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('USDC_SOL', to)).toBe(1_500n);
    expect(await fixture.customer.balance('USDC_SOL', address)).toBe(0n);
    expect((await fixture.spent()).map(({ purpose }) => purpose)).toEqual(['sweep', 'sweep', 'payout']);
  });

  it('leave deposits whose events have not arrived', async () => {
    await fresh(SOL);
    const address = await fixture.deposit('SOL', 2n * SOL);
    await fixture.pay('SOL', address, SOL);
    const { id } = await fixture.reserve('SOL', 2n * SOL);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('SOL', address)).toBe(SOL);
  });

  it('are made before a payout needs them when they are economical', async () => {
    await fresh(SOL);
    const worth = await fixture.deposit('USDC_SOL', 5_000_000n);
    const small = await fixture.deposit('USDC_SOL', 1_000n);
    const quote = (usd_rate: string) => ({ usd_rate, min_confirmations: 1 }) as never;
    const quotes = {
      latest: () => undefined,
      fresh: (asset: string) => quote(asset === 'SOL' ? '200' : '1'),
    };
    const ports = fixture.replica({ quotes });
    await fixture.until(async () => {
      await fixture.run(ports);
      expect(await fixture.db.rows(`select 1 from unswept_deposits where state = 'swept'`)).toHaveLength(1);
    });
    expect(await fixture.customer.balance('USDC_SOL', worth)).toBe(0n);
    expect(await fixture.customer.balance('USDC_SOL', small)).toBe(1_000n);
    expect(await hotBalance('USDC_SOL')).toBe(5_000_000n);
  });

  it('that expire are planned again', async () => {
    await fresh(SOL);
    await fixture.deposit('SOL', 5n * SOL);
    fixture.onBroadcast = async () => 'unknown';
    const { id } = await fixture.reserve('SOL', 4n * SOL);
    await fixture.run();
    await fixture.expires();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ state: 'invalidated' }]);
    // The database uses its own clock, which no test moves.
    await fixture.db.rows('update unswept_deposits set retry_at = now()');
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.ends(id, 'mined');
    expect((await fixture.transactions()).map(({ purpose, state }) => [purpose, state])).toEqual([
      ['sweep', 'invalidated'],
      ['sweep', 'mined'],
      ['payout', 'mined'],
    ]);
  });
});
