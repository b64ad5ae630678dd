import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { address } from '@solana/kit';
import { type MoneyIn, startMoneyIn } from './money-in.ts';
import { both, type SolanaForger, startSolanaForger } from './solana-forger.ts';
import { solanaSpoofs } from './solana-spoofs.ts';
import { expectOwed, type Forged, received } from './spoofs.ts';

/**
 * What looks like a payment and is none, or is another one than it says, on a real Solana runtime. Each row says what
 * really comes to be ours, and the node's own balances have to agree: this is credited and nothing beyond.
 */
let forger: SolanaForger;
let shop: MoneyIn;

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

describe('spoofed deposits on Solana', () => {
  it.each(solanaSpoofs)('%s', async (name, _asked, real) => {
    const { invoice } = forged.get(name) as Forged;
    const customer = solanaCustomer(forger.chain.faucet);
    for (const asset of both) {
      const wanted = real[asset] ?? 0n;
      expect(await customer.balance(asset, invoice.address)).toBe(wanted);
      expect({ asset, found: await received(shop, invoice, asset) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what is ours', async () => {
    const customer = solanaCustomer(forger.chain.faucet);
    // The node makes its blocks by itself.
    const mine = async () => undefined;
    await expectOwed(shop, 'solana', {
      forged: forged.values(),
      assets: both,
      balance: customer.balance,
      mine,
    });
    expect(forged.size).toBe(solanaSpoofs.length);
  });
});
