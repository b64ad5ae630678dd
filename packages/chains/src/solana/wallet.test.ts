import { describe, expect, test } from '@jest/globals';
import { openWallet } from './wallet.ts';

describe('a wallet', () => {
  const phrase = `${'abandon '.repeat(11)}about`;
  const wallet = openWallet(phrase);

  test('has the addresses that other wallets show for the same words', () => {
    // Phantom, Solflare and Ledger: m/44'/501'/0'/0'.
    expect(wallet.depositAddress(0)).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    expect(wallet.depositAddress(1)).toBe('Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb');
    expect(wallet.depositAddress(7)).toBe('9h1cLBiraaUqM1CdJTaVaew1oQtgQUW24FZ8YdnLLgJY');
    expect(wallet.hotAddress).toBe('GKreMsHvt8A79VApjboYDq3J4ZCXSJRYYQk9BscMbi1H');
    expect(openWallet(`  ${phrase.replaceAll(' ', '\n')} `).hotAddress).toBe(wallet.hotAddress);
  });

  test.each([-1, 0.5, 2 ** 31])('has no deposit address %p', (index) => {
    expect(() => wallet.depositAddress(index)).toThrow();
  });

  test('never gives out its hot address, nor one address twice', () => {
    const addresses = Array.from({ length: 50 }, (_, i) => wallet.depositAddress(i));
    expect(new Set([...addresses, wallet.hotAddress]).size).toBe(51);
  });

  test('does not repeat wrong words, and prints no key', () => {
    expect(() => openWallet(`${phrase} secret`)).toThrow(/^this is not a BIP-39 recovery phrase$/);
    expect(JSON.stringify([wallet, wallet.hotSigner])).not.toMatch(/key|chainCode|data/);
  });
});
