import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import type { Hex } from 'viem';
import { CONFIRMATIONS, type EvmForger, startEvmForger } from './evm-forger.ts';
import { spoofedEther } from './evm-spoofed-ether.ts';
import { spoofedTokens } from './evm-spoofed-tokens.ts';
import type { Invoice } from './money-in.ts';

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
const forged: { name: string; account: AccountId; invoice: Invoice }[] = [];

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
    for (const asset of ['ETH', 'USDC_ERC20'] as const) {
      const wanted = real[asset] ?? 0n;
      expect(await chain.balance(asset, to)).toBe(wanted);
      const { found } = await shop.db.one<{ found: string }>(
        `select coalesce(sum(amount), 0)::text as found from deposits
         where invoice_id = $1 and asset = $2 and state in ('seen', 'settled', 'missing')`,
        [invoice.id, asset],
      );
      expect({ asset, found: BigInt(found) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what lies on the addresses', async () => {
    const { chain, shop } = forger;
    await shop.pass('ethereum', 160_000, () => chain.mineEmpty(1));
    await shop.settled();
    for (const { name, account, invoice } of forged) {
      for (const asset of ['ETH', 'USDC_ERC20'] as const) {
        const { available, held, unresolved } = await shop.booked(account, asset);
        const there = await chain.balance(asset, invoice.address as Hex);
        expect({ name, asset, owed: available + held + unresolved }).toEqual({ name, asset, owed: there });
      }
    }
    expect(forged).toHaveLength(spoofs.length);
    expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
    expect(await shop.unborne('ethereum')).toEqual([]);
  });
});
