import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type Address, isAddress, isOffCurveAddress } from '@solana/kit';
import type { SolanaNetwork } from './network.ts';
import { associatedAccount } from './transaction.ts';
import { checkAddress, openWallet, paymentUri, referenceKey } from './wallet.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v';
const network: SolanaNetwork = { name: 'mainnet', usdcMint: USDC };
const wallet = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';

describe('an address', () => {
  test.each([
    ['a wallet', wallet],
    ['31 leading zeros of 32 bytes', '11111111111111111111111111111112'],
  ])('is %s', (_, text) => {
    expect(checkAddress(network, text)).toBe(text);
  });

  // Vaults of several signers are such; whether one can be paid is asked of the node.
  test('is also one that is no public key', async () => {
    const text = await associatedAccount(wallet, USDC);
    expect(isOffCurveAddress(text as Address)).toBe(true);
    expect(checkAddress(network, text)).toBe(text);
  });

  test.each([
    ['empty', ''],
    ['31 bytes', '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJzio'],
    ['33 bytes', '1'.repeat(33)],
    [
      '64 bytes: a signature',
      '2id3YC2jK9G5Wo2phDx4gJVAew8DcY5NAojnVuao8rkxwPYPe8cSwE5GzhEgJA2y8fVjDEo6iR6ykBvDxrTQrtpb',
    ],
    ['letters that base58 leaves out', `0OIl${wallet.slice(4)}`],
    ['blanks around it', ` ${wallet}`],
    ['Ethereum', '0x52908400098527886E0F7030069857D2E4169EE7'],
    ['Bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['the system program', '1'.repeat(32)],
    ['the Token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['Token-2022', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'],
    ['the mint of the coin that is paid', USDC],
  ])('is none: %s', (_, text) => {
    expect(checkAddress(network, text)).toBeUndefined();
  });
});

describe('what a wallet opens', () => {
  const reference = referenceKey('inv_1');
  const payment = { address: wallet, reference: 'inv_1' };

  test.each([
    ['SOL', 1_500_000_000n, `solana:${wallet}?amount=1.5&reference=${reference}`],
    ['SOL', 1n, `solana:${wallet}?amount=0.000000001&reference=${reference}`],
    ['USDC_SOL', 12_000_000n, `solana:${wallet}?amount=12&spl-token=${USDC}&reference=${reference}`],
  ] as const)('%s %p', (asset, amount, uri) => {
    expect(paymentUri(network, { ...payment, asset, amount: units(amount) })).toBe(uri);
  });

  test('has a reference that is a key of its own for each invoice', () => {
    expect(isAddress(reference)).toBe(true);
    expect(referenceKey('inv_1')).toBe(reference);
    expect(referenceKey('inv_2')).not.toBe(reference);
  });

  test('has the texts percent-encoded, and cut between two characters where they are long', () => {
    const uri = paymentUri(network, {
      ...{ ...payment, asset: 'SOL', amount: units(1n) },
      ...{ label: 'Tee & Co', message: '茶'.repeat(50) },
    });
    const fields = new URL(uri).searchParams;
    expect(uri).toContain('&label=Tee%20%26%20Co&message=%E8%8C%B6');
    expect(fields.get('label')).toBe('Tee & Co');
    expect(fields.get('message')).toBe('茶'.repeat(10));
    expect([...fields.keys()]).toEqual(['amount', 'reference', 'label', 'message']);
  });

  test('is nothing for an asset that is not there', () => {
    const wanted = { ...payment, asset: 'USDC_SOL', amount: units(1n) } as const;
    expect(() => paymentUri({ name: 'mainnet' }, wanted)).toThrow('not an asset');
  });
});

describe('a wallet', () => {
  const phrase = `${'abandon '.repeat(11)}about`;
  const wallet = openWallet(phrase);

  test('has the addresses that other wallets show for the same words', () => {
    // Phantom, Solflare and Ledger: m/44'/501'/0'/0'.
    expect(wallet.depositAddress(0)).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    expect(wallet.depositAddress(1)).toBe('Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb');
    expect(wallet.depositAddress(7)).toBe('9h1cLBiraaUqM1CdJTaVaew1oQtgQUW24FZ8YdnLLgJY');
    expect(wallet.hotAddress).toBe('GKreMsHvt8A79VApjboYDq3J4ZCXSJRYYQk9BscMbi1H');
  });

  test.each([-1, 0.5, 2 ** 31])('has no deposit address %p', (index) => {
    expect(() => wallet.depositAddress(index)).toThrow();
  });

  test('prints no key', () => {
    expect(JSON.stringify([wallet, wallet.hotKeyPair])).not.toMatch(/key|chainCode|data/);
  });
});
