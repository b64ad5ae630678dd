import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { address } from '@solana/kit';
import { type Invoice, type MoneyIn, startMoneyIn } from './money-in.ts';
import { type Asset, both, type SolanaForger, startSolanaForger } from './solana-forger.ts';
import { solanaSpoofs } from './solana-spoofs.ts';

/**
 * What looks like a payment and is none, or is another one than it says, on a real Solana runtime. Each row says what
 * really comes to be ours, and the node's own balances have to agree: this is credited and nothing beyond.
 */
let forger: SolanaForger;
let shop: MoneyIn;

type Forged = { name: string; account: AccountId; invoice: Invoice };
const forged = new Map<string, Forged>();

beforeAll(async () => {
  forger = await startSolanaForger();
  const { chain, usdc } = forger;
  shop = await startMoneyIn(
    { SOL: { rate: '150', confirmations: 1 }, USDC_SOL: { rate: '1', confirmations: 1 } },
    {
      SOLANA_RPC_URL: chain.node.rpcUrl,
      SOLANA_NETWORK: 'local',
      SOLANA_USDC_MINT: usdc,
      ADDRESSES_AHEAD: '64',
    },
  );
  await shop.look('solana');
  for (const [name, asked, , forge] of solanaSpoofs) {
    const account = shop.newAccount();
    const invoice = await shop.invoice(account, { asset: asked, amount: 25, expires_in: 1 });
    forged.set(name, { name, account, invoice });
    await forge(address(invoice.address), forger);
  }
  await forger.finalized();
  await shop.look('solana');
});
afterAll(async () => {
  await shop?.stop();
  await forger?.chain.stop();
});

const found = async ({ id }: Invoice, asset: Asset): Promise<bigint> => {
  const { sum } = await shop.db.one<{ sum: string }>(
    `select coalesce(sum(amount), 0)::text as sum from deposits
     where invoice_id = $1 and asset = $2 and state in ('seen', 'settled', 'missing')`,
    [id, asset],
  );
  return BigInt(sum);
};

describe('spoofed deposits on Solana', () => {
  it.each(solanaSpoofs)('%s', async (name, _asked, real) => {
    const { invoice } = forged.get(name) as Forged;
    const customer = solanaCustomer(forger.chain.faucet);
    for (const asset of both) {
      const wanted = real[asset] ?? 0n;
      expect(await customer.balance(asset, invoice.address)).toBe(wanted);
      expect({ asset, found: await found(invoice, asset) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what is ours', async () => {
    const blocks = async () => undefined;
    await shop.pass('solana', 160_000, blocks);
    await shop.settled();
    const customer = solanaCustomer(forger.chain.faucet);
    for (const { name, account, invoice } of forged.values()) {
      for (const asset of both) {
        const { available, held, unresolved } = await shop.booked(account, asset);
        const there = await customer.balance(asset, invoice.address);
        expect({ name, asset, owed: available + held + unresolved }).toEqual({ name, asset, owed: there });
      }
    }
    expect(forged.size).toBe(solanaSpoofs.length);
    expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
    expect(await shop.unborne('solana')).toEqual([]);
  });
});
