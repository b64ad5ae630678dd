import { describe, expect, it, jest } from '@jest/globals';
import { associatedAccount } from '@quittance/chains/solana/transaction';
import { patient } from '@quittance/testkit/patience';
import { RENT, SOL, solanaSuite, TOKEN_RENT } from './solana-fixture.ts';

jest.setTimeout(patient(300_000));

/** Payouts and sweeps on a real Solana node, stepped by hand. */
const { fixture, begin } = solanaSuite();

const sumOf = (spent: readonly { amount: string }[]): bigint =>
  spent.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
const hotBalance = (asset: 'SOL' | 'USDC_SOL') => fixture.customer.balance(asset, fixture.wallet.hotAddress);

describe('a payout', () => {
  it('of SOL that equals others arrives exactly, by a transaction of its own whose fee is published', async () => {
    await begin();
    const to = fixture.newRecipient();
    const alike = await Promise.all(Array.from({ length: 5 }, () => fixture.reserve('SOL', SOL, to)));
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(5);
    const hashes: unknown[] = [];
    for (const { id } of alike) {
      hashes.push((await fixture.ends(id, 'mined'))['tx_hash']);
      expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    }
    expect(hashes.sort()).toEqual((await fixture.transactions()).map(({ tx_hash }) => tx_hash).sort());
    expect(await fixture.customer.balance('SOL', to)).toBe(5n * SOL);
    const spent = await fixture.spent();
    expect(new Set(spent.map(({ purpose, asset }) => `${purpose} ${asset}`))).toEqual(
      new Set(['payout SOL']),
    );
    expect(await hotBalance('SOL')).toBe(5n * SOL - sumOf(spent));
  });

  it('of tokens opens the account of a new owner at our cost', async () => {
    await begin(SOL, 1_000n);
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

  it('to an account that would have too little to stay, or to a token account, is refused before anything is signed', async () => {
    await begin(SOL, 100n);
    const tokenAccount = await associatedAccount(fixture.wallet.hotAddress, fixture.usdcMint);
    const refused = [
      await fixture.reserve('SOL', RENT - 1n),
      await fixture.reserve('USDC_SOL', 5n, tokenAccount),
    ];
    // Other payouts are paid.
    const other = await fixture.reserve('SOL', RENT);
    for (const { id } of refused) {
      expect((await fixture.ends(id, 'failed'))['failed_reason']).toMatch(/does not accept/);
      expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    }
    await fixture.ends(other.id, 'mined');
    expect(await fixture.transactions()).toHaveLength(1);
    // The token account has a balance already, so expectSound must not check it as the recipient of this payout.
    await fixture.admin.rows('delete from payouts where address = $1', [tokenAccount]);
  });

  it('of rent that the hot wallet must keep waits, and delays no other payout', async () => {
    await begin(SOL);
    const { id } = await fixture.reserve('SOL', SOL - 6_000n);
    const small = await fixture.reserve('SOL', RENT);
    await fixture.ends(small.id, 'mined');
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    await fixture.pay('SOL', fixture.wallet.hotAddress, SOL);
    await fixture.ends(id, 'mined');
  });

  it('that fails on the chain gives the amount back, and the fee is spent', async () => {
    await begin(SOL, 100n);
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

describe('sweeps', () => {
  it('bring SOL for a payout that the hot wallet does not cover, and leave what no event is about', async () => {
    await begin(SOL);
    const first = await fixture.deposit('SOL', 2n * SOL);
    const second = await fixture.deposit('SOL', 3n * SOL);
    // The event of a later payment has not arrived.
    await fixture.fund('SOL', second, 4n * SOL);
    const { id, to } = await fixture.reserve('SOL', 5n * SOL);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('SOL', to)).toBe(5n * SOL);
    expect(await fixture.customer.balance('SOL', first)).toBe(0n);
    expect(await fixture.customer.balance('SOL', second)).toBe(SOL);
    expect(await hotBalance('SOL')).toBe(SOL - sumOf(await fixture.spent()));
  });

  it('bring SOL to a hot wallet that has none to pay with', async () => {
    await begin(0n);
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
    await begin(SOL);
    await fixture.deposit('USDC_SOL', 700n);
    const address = await fixture.deposit('USDC_SOL', 800n);
    const { id, to } = await fixture.reserve('USDC_SOL', 1_500n);
    await fixture.ends(id, 'mined');
    expect(await fixture.customer.balance('USDC_SOL', to)).toBe(1_500n);
    expect(await fixture.customer.balance('USDC_SOL', address)).toBe(0n);
    expect((await fixture.spent()).map(({ purpose }) => purpose)).toEqual(['sweep', 'sweep', 'payout']);
  });

  it('are made before a payout needs them when they are economical', async () => {
    await begin(SOL);
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

  it('that expire are planned again, and are logged once', async () => {
    await begin(SOL);
    await fixture.deposit('SOL', 3n * SOL);
    await fixture.deposit('SOL', 2n * SOL);
    fixture.onBroadcast = async () => 'unknown';
    const { id } = await fixture.reserve('SOL', 4n * SOL);
    await fixture.run();
    await fixture.expires();
    await fixture.run();
    const ends = async () =>
      (await fixture.transactions()).map(({ purpose, state }) => `${purpose} ${state}`);
    const expired = ['sweep invalidated', 'sweep invalidated'];
    expect(await ends()).toEqual(expired);
    const ended = fixture.lines.filter(({ msg }) => /in no block|never be mined/.test(msg));
    expect(ended).toMatchObject([
      { level: 'warn', msg: 'a sweep was in no block in its time, its deposits are swept again' },
    ]);
    // The database uses its own clock, which no test moves.
    await fixture.db.rows('update unswept_deposits set retry_at = now()');
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.ends(id, 'mined');
    expect(await ends()).toEqual([...expired, 'sweep mined', 'sweep mined', 'payout mined']);
  });
});
