import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { associatedAccount } from '@quittance/chains/solana/transaction';
import type { PayoutId } from '@quittance/shared/ids';
import { takeLease } from '@quittance/shared/lease';
import { patient } from '@quittance/testkit/patience';
import { unknownHistory } from '../src/operations/account-chain/solana-driver.ts';
import { deriveAddresses } from '../src/operations/derive-addresses.ts';
import { chainLease } from '../src/operations/run-chain-worker.ts';
import {
  newWallet,
  RENT,
  SOL,
  type SolanaEngines,
  SolanaFixture,
  solanaEngines,
  TOKEN_RENT,
} from './solana-fixture.ts';

jest.setTimeout(patient(300_000));

let engines: SolanaEngines;
let fixture: SolanaFixture;

beforeAll(async () => {
  engines = await solanaEngines();
});
afterAll(() => engines?.stop());
afterEach(async () => {
  try {
    await fixture.expectSound();
  } finally {
    await fixture.close();
  }
});

const fresh = async (lamports = 10n * SOL, usdc?: bigint) => {
  fixture = await SolanaFixture.fresh(engines, { lamports, ...(usdc === undefined ? {} : { usdc }) });
};

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
    ['a token account', 'USDC_SOL', 5n, () => associatedAccount(fixture.wallet.hotAddress, engines.usdcMint)],
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
    const recipient = await closedToUs();
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

/** An owner whose token account is frozen by `close`, so that it can be paid only before. */
async function closedToUs() {
  const address = fixture.newRecipient();
  await fixture.pay('USDC_SOL', address, 1n);
  return {
    address,
    close: async () => {
      const frozen = { amount: 0, state: 'frozen' };
      await fixture.rpc.call('surfnet_setTokenAccount', [address, engines.usdcMint, frozen]);
    },
  };
}

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
    await expires();
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

/** Waits until the newest attempt has expired and its proof is asked for. */
async function expires(): Promise<void> {
  type Row = { valid_to_height: string; tx_hash: string; final_height_when_signed: string };
  const last = (await fixture.transactions()).at(-1) as Row;
  // eslint-disable-next-line no-restricted-syntax -- heights
  const [validTo, from] = [Number(last.valid_to_height), Number(last.final_height_when_signed)];
  await fixture.until(async () =>
    expect(await fixture.sender.nonInclusion(last.tx_hash, validTo, from)).toBe('proven'),
  );
  fixture.clock.advance(31_000);
}

describe('a payout that no block includes', () => {
  it('is signed again once, only after its expiry is proved, and is paid once', async () => {
    await fresh();
    fixture.onBroadcast = async () => 'unknown';
    const { id, to } = await fixture.reserve('SOL', SOL);
    await fixture.run();
    // However old it is by the clock, it could still be mined.
    fixture.clock.advance(3_600_000);
    for (let i = 0; i < 5; i++) await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ attempt: 1, state: 'signed' }]);
    await expires();
    await fixture.run();
    const [first, second] = await fixture.transactions();
    expect(first).toMatchObject({ attempt: 1, state: 'invalidated' });
    expect(second).toMatchObject({ attempt: 2, state: 'signed', replacement_group: first?.['id'] });
    for (let i = 0; i < 5; i++) await fixture.run();
    expect(await fixture.transactions()).toHaveLength(2);
    fixture.onBroadcast = (_raw, send) => send();
    expect(await fixture.ends(id, 'mined')).toMatchObject({ tx_hash: second?.['tx_hash'] });
    // The bytes of the first attempt arrive late.
    await fixture.sender.broadcast(String(first?.['raw']));
    await fixture.pay('SOL', fixture.newRecipient(), SOL);
    expect(await fixture.customer.balance('SOL', to)).toBe(SOL);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });

  it('but that was mined before its expiry is not signed again, however late we learn of it', async () => {
    await fresh();
    fixture.onBroadcast = async (_raw, send) => {
      await send();
      return 'unknown';
    };
    const { id } = await fixture.reserve('SOL', SOL);
    await fixture.run();
    const [{ tx_hash, valid_to_height }] = (await fixture.transactions()) as [
      { tx_hash: string; valid_to_height: string },
    ];
    await fixture.finalized(tx_hash);
    await fixture.until(async () => {
      const height = await fixture.rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
      expect(height).toBeGreaterThan(Number(valid_to_height)); // eslint-disable-line no-restricted-syntax -- a height
    });
    fixture.clock.advance(3_600_000);
    await fixture.ends(id, 'mined');
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('waits while the node cannot prove its expiry', async () => {
    await fresh();
    fixture.onBroadcast = async () => 'unknown';
    const { id } = await fixture.reserve('SOL', SOL);
    await fixture.run();
    await expires();
    const silent = fixture.replica({
      sender: {
        ...fixture.sender,
        nonInclusion: () => Promise.reject(new Error('the node is away')),
      },
    });
    await fixture.admin.rows('delete from leases');
    await fixture.run(silent);
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.admin.rows('delete from leases');
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.ends(id, 'mined');
    expect(await fixture.transactions()).toHaveLength(2);
  });

  it('and whose recipient refuses payments now fails', async () => {
    await fresh(SOL, 100n);
    const recipient = await closedToUs();
    fixture.onBroadcast = async () => 'unknown';
    const { id } = await fixture.reserve('USDC_SOL', 50n, recipient.address);
    await fixture.run();
    await recipient.close();
    await expires();
    await fixture.ends(id, 'failed');
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    expect(await fixture.transactions()).toMatchObject([{ state: 'invalidated' }]);
  });

  it('is not signed again by a process that has lost the lease', async () => {
    await fresh();
    fixture.onBroadcast = async () => 'unknown';
    const { id } = await fixture.reserve('SOL', SOL);
    await fixture.run();
    await expires();
    const slow = fixture.replica({
      sender: {
        ...fixture.sender,
        tryTransfer: async (order) => {
          await fixture.db.rows(`update leases set expires_at = now() - interval '1 second'`);
          await takeLease(fixture.db, chainLease(fixture.ports), 'another', 60_000);
          return fixture.sender.tryTransfer(order);
        },
      },
    });
    await fixture.admin.rows('delete from leases');
    await fixture.run(slow);
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.admin.rows('delete from leases');
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.ends(id, 'mined');
  });
});

describe('a broadcast', () => {
  it.each([
    ['whose answer is lost', (send: () => Promise<unknown>) => send()],
    ['that is lost', async () => undefined],
  ])('%s is repeated with the same bytes', async (_, what) => {
    await fresh();
    let lost = 3;
    fixture.onBroadcast = async (_raw, send) => {
      if (lost-- <= 0) return send();
      await what(send);
      return 'unknown';
    };
    const payouts = [await fixture.reserve('SOL', SOL), await fixture.reserve('SOL', 2n * SOL)];
    for (const { id } of payouts) await fixture.ends(id, 'mined');
    expect(await fixture.transactions()).toHaveLength(2);
    expect(new Set(fixture.sent).size).toBe(2);
  });

  it('that a process did not make before it died is made by another one with the same bytes', async () => {
    await fresh();
    fixture.onBroadcast = () => Promise.reject(new Error('killed'));
    const { id } = await fixture.reserve('SOL', SOL);
    await expect(fixture.run()).rejects.toThrow('killed');
    expect(await fixture.transactions()).toMatchObject([{ state: 'signed', broadcasts: 0 }]);
    fixture.onBroadcast = (_raw, send) => send();
    await fixture.admin.rows('delete from leases');
    await fixture.until(async () => {
      await fixture.run(fixture.replica());
      await fixture.admin.rows('delete from leases');
      expect((await fixture.payout(id as PayoutId))['status']).toBe('mined');
    });
    expect(new Set(fixture.sent).size).toBe(1);
  });
});

describe('a database that has lost commits', () => {
  it('pauses signing, because payouts that look unpaid may be paid', async () => {
    await fresh();
    const first = await fixture.reserve('SOL', SOL);
    await fixture.ends(first.id, 'mined');
    // Money of the operator does not pause signing.
    await fixture.pay('SOL', fixture.wallet.hotAddress, SOL);
    await fixture.run();
    expect(fixture.ports.signingPause.reason).toBeUndefined();
    // A backup from the time of the last check is restored.
    const rows = await fixture.db.rows('select * from wallet_histories');
    expect(rows).toMatchObject([{ address: fixture.wallet.hotAddress, signature: expect.any(String) }]);
    const [known] = (await fixture.transactions()) as [{ tx_hash: string }];
    const all = await fixture.sender.signatures(null, 100);
    const before = all[all.indexOf(known.tx_hash) - 1];
    await fixture.db.rows('update wallet_histories set signature = $1', [before]);
    await fixture.admin.rows('delete from payments');
    await fixture.admin.rows('delete from transactions');
    await fixture.db.rows(`update payouts set status = 'reserved', tx_hash = null`);
    await fixture.run();
    expect(fixture.ports.signingPause.reason).toMatch(known.tx_hash);
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.customer.balance('SOL', first.to)).toBe(SOL);
    await fixture.admin.rows('delete from outbox');
    await fixture.admin.rows('delete from payouts');
    fixture.sent.length = 0;
  });

  it('is checked from where the last check ended, also when that failed half-way', async () => {
    await fresh();
    await fixture.run();
    for (let i = 1n; i <= 3n; i++) await fixture.pay('SOL', fixture.wallet.hotAddress, i * SOL);
    const payments = (await fixture.sender.signatures(null, 100)).slice(-3);
    const asked: string[] = [];
    let isAway = true;
    const isSignedByHot = async (signature: string): Promise<boolean> => {
      asked.push(signature);
      if (isAway && signature === payments[2]) throw new Error('the node is away');
      return await fixture.sender.isSignedByHot(signature);
    };
    const ports = { ...fixture.ports, sender: { ...fixture.sender, isSignedByHot } };
    await expect(unknownHistory(ports)).rejects.toThrow('away');
    isAway = false;
    expect(await unknownHistory(ports)).toBeUndefined();
    expect(asked).toEqual([...payments, payments[2]]);
  });
});

describe('addresses for invoices', () => {
  const chainsOf = () => new Map([['solana' as const, fixture.ports]]);

  it('are those of the wallet, the same every time', async () => {
    await fresh(0n);
    const ask = { chain: 'solana', from: 7, count: 3 } as const;
    const given = await deriveAddresses({ db: fixture.db, chains: chainsOf() }, ask);
    expect(given.addresses).toEqual([7, 8, 9].map((index) => fixture.wallet.depositAddress(index)));
    expect(await deriveAddresses({ db: fixture.db, chains: chainsOf() }, ask)).toEqual(given);
  });

  it('are not derived for a chain that is not configured, or from another seed than before', async () => {
    await fresh(0n);
    const ask = { chain: 'solana', from: 0, count: 1 } as const;
    await expect(deriveAddresses({ db: fixture.db, chains: new Map() }, ask)).rejects.toThrow(
      'not configured',
    );
    await deriveAddresses({ db: fixture.db, chains: chainsOf() }, ask);
    const { hotAddress, depositAddress } = newWallet();
    const strange = { ...fixture.ports, sender: { ...fixture.sender, hotAddress, depositAddress } };
    const chains = new Map([['solana' as const, strange]]);
    await expect(deriveAddresses({ db: fixture.db, chains }, ask)).rejects.toThrow('WALLET_SEED');
  });
});
