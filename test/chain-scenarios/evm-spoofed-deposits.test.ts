import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Hex } from 'viem';
import { CONFIRMATIONS, type EvmForger, startEvmForger } from './evm-forger.ts';
import { spoofedEther } from './evm-spoofed-ether.ts';
import { spoofedTokens } from './evm-spoofed-tokens.ts';
import { expectOwed, type Forged, received } from './spoofs.ts';

/**
 * What looks like a payment and is none, or is another one than it says, on a real Ethereum node. Each row says what
 * really comes to lie on the address, and the node's own balances have to agree: this is credited and nothing beyond.
 */
let forger: EvmForger;
beforeAll(async () => {
  forger = await startEvmForger();
});
afterAll(() => forger?.stop());

const spoofs = [
  ...spoofedEther.map(([name, ...spoof]) => [name, 'ETH', ...spoof] as const),
  ...spoofedTokens.map(([name, ...spoof]) => [name, 'USDC_ERC20', ...spoof] as const),
];

/** What each row's account has on the chain when all is done. */
const forged: Forged[] = [];
const assets = ['ETH', 'USDC_ERC20'] as const;

describe('spoofed deposits on Ethereum', () => {
  it.each(spoofs)('%s', async (name, asked, real, forge) => {
    const { chain, shop } = forger;
    const account = shop.newAccount();
    const invoice = await shop.invoice(account, { asset: asked, amount: 25, expires_in: 1 });
    forged.push({ name, account, invoice });
    const to = invoice.address as Hex;
    await forge(to, forger);
    await chain.mineEmpty(2 * CONFIRMATIONS + 1);
    await shop.look('ethereum');
    for (const asset of assets) {
      const wanted = real[asset] ?? 0n;
      expect(await chain.balance(asset, to)).toBe(wanted);
      expect({ asset, found: await received(shop, invoice, asset) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what lies on the addresses', async () => {
    const { chain, shop } = forger;
    await expectOwed(shop, 'ethereum', {
      ...{ forged, assets, mine: () => chain.mineEmpty(1) },
      balance: (asset, address) => chain.balance(asset, address as Hex),
    });
    expect(forged).toHaveLength(spoofs.length);
  });
});
