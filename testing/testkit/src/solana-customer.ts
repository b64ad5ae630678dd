import { setTimeout as sleep } from 'node:timers/promises';
import type { AssetSymbol } from '@quittance/shared/assets';
import { payOnSolana, type SolanaNode, solanaRpc } from '@quittance/stack/solana';
import { address, generateKeyPairSigner } from '@solana/kit';
import { type Customer, type Payments, unitsOf } from './customer.ts';

export type SolanaCustomer = Customer & {
  /** All in one transaction. */
  payMany(payments: Payments): Promise<string>;
};

const ASK_EVERY_MS = 20;
const MINED_WITHIN_MS = 60_000;

/** A customer on surfpool, whose blocks come by themselves. */
export function solanaCustomer(node: SolanaNode): SolanaCustomer {
  const rpc = solanaRpc(node.rpc);
  const slot = () => rpc.getSlot({ commitment: 'confirmed' }).send();
  const payMany = (payments: Payments) =>
    payOnSolana(
      node,
      payments.map(({ asset, to, amount }) => ({ asset, to, amount: unitsOf(asset, amount) })),
    );
  const tokenAccounts = async (owner: string) => {
    const ofMint = { mint: address(node.tokens.USDC_SOL) };
    const how = { encoding: 'jsonParsed', commitment: 'confirmed' } as const;
    return (await rpc.getTokenAccountsByOwner(address(owner), ofMint, how).send()).value;
  };
  return {
    pay: (asset, to, amount) => payMany([{ asset, to, amount }]),
    payMany,
    newAddress: async () => (await generateKeyPairSigner()).address,
    async mine(blocks = 1) {
      const wanted = (await slot()) + BigInt(blocks);
      const deadline = Date.now() + MINED_WITHIN_MS;
      while ((await slot()) < wanted) {
        if (Date.now() > deadline) throw new Error('the Solana node makes no blocks');
        await sleep(ASK_EVERY_MS);
      }
    },
    async balance(asset: AssetSymbol, owner) {
      if (asset === 'SOL')
        return (await rpc.getBalance(address(owner), { commitment: 'confirmed' }).send()).value;
      const amounts = (await tokenAccounts(owner)).map(({ account }) =>
        BigInt(account.data.parsed.info.tokenAmount.amount),
      );
      return amounts.reduce((sum, amount) => sum + amount, 0n);
    },
    async transactions(owner) {
      const accounts = [address(owner), ...(await tokenAccounts(owner)).map(({ pubkey }) => pubkey)];
      const found = new Set<string>();
      for (const account of accounts) {
        const signatures = await rpc.getSignaturesForAddress(account, { commitment: 'confirmed' }).send();
        for (const { signature, err } of [...signatures].reverse()) if (err === null) found.add(signature);
      }
      return [...found];
    },
  };
}
