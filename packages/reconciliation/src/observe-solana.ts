import { connectRpc, type Rpc, read } from '@quittance/chains/json-rpc';
import type { SettingsOf } from '@quittance/chains/settings';
import { tokensOf } from '@quittance/chains/solana/network';
import { base58, count, isNoBlock, lamports, tokenUnits } from '@quittance/chains/solana/rpc';
import type { AssetSymbol } from '@quittance/shared/assets';
import pMap from 'p-map';
import { z } from 'zod';
import type { ChainObserver, ObservedPayments, ObservedTransaction } from './chain-observer.ts';

/** What the network voted for: in doubt there is rather too much to see than too little. */
const commitment = 'confirmed';
const AT_ONCE = 8;

const tokenBalance = z.object({
  accountIndex: count,
  mint: base58,
  owner: base58.optional(),
  uiTokenAmount: z.object({ amount: tokenUnits }),
});
const transactionForm = z
  .object({
    transaction: z.object({ message: z.object({ accountKeys: z.array(z.object({ pubkey: base58 })) }) }),
    meta: z.object({
      err: z.unknown(),
      preBalances: z.array(lamports),
      postBalances: z.array(lamports),
      preTokenBalances: z.array(tokenBalance).nullish(),
      postTokenBalances: z.array(tokenBalance).nullish(),
    }),
  })
  .nullable();
type Transaction = NonNullable<z.infer<typeof transactionForm>>;

const blockForm = z.object({ blockhash: base58 }).nullable();
const balanceForm = z.object({ value: lamports });
const tokensForm = z.object({
  value: z.array(
    z.object({
      account: z.object({
        data: z.object({
          parsed: z.object({ info: z.object({ tokenAmount: z.object({ amount: tokenUnits }) }) }),
        }),
      }),
    }),
  ),
});

export function observeSolana(url: string, settings: SettingsOf<'solana'>): ChainObserver {
  const rpc = connectRpc(url);
  const tokens = tokensOf({ name: settings.network, usdcMint: settings.usdcMint });

  async function transaction(txHash: string): Promise<ObservedTransaction | undefined> {
    const how = { encoding: 'jsonParsed', commitment, maxSupportedTransactionVersion: 0 };
    const answer = await rpc.call('getTransaction', [txHash, how], undefined, 'exact');
    const found = read(transactionForm, answer, 'getTransaction');
    if (found === null) return undefined;
    const succeeded = found.meta.err == null;
    return {
      succeeded,
      cost: costOf(found),
      paid: succeeded ? [...nativePaid(found), ...tokensPaid(found, tokens)] : [],
    };
  }

  async function balancesOf(asset: AssetSymbol, addresses: readonly string[]): Promise<bigint[]> {
    const mint = [...tokens].find(([, symbol]) => symbol === asset)?.[0];
    if (asset !== 'SOL' && mint === undefined) throw new Error(`no mint is configured for ${asset}`);
    // Nodes for development take no batches.
    return await pMap(
      addresses,
      (owner) => (mint === undefined ? solOf(rpc, owner) : tokensOfOwner(rpc, owner, mint)),
      { concurrency: AT_ONCE },
    );
  }

  return {
    pin: async () => undefined,

    transaction,

    async payments(txHash, slot): Promise<ObservedPayments> {
      const observed = await transaction(txHash);
      if (observed !== undefined) return observed.paid;
      return slot < (await firstKept(rpc)) ? 'not kept' : 'not in the chain';
    },

    assets: new Set(['SOL', ...tokens.values()] as const),

    // Its bytes expire, and nothing else can use their place.
    isUsed: async () => false,

    reserves: balancesOf,

    balances: balancesOf,

    async hashAt(slot) {
      const how = {
        transactionDetails: 'none',
        rewards: false,
        commitment,
        maxSupportedTransactionVersion: 0,
      };
      try {
        const answer = await rpc.call('getBlock', [slot, how]);
        return read(blockForm, answer, 'getBlock')?.blockhash;
      } catch (error) {
        if (isNoBlock(error)) return undefined;
        throw error;
      }
    },

    close: () => rpc.close(),
  };
}

/** The first slot of which the node still has the block: most keep a day or two. */
async function firstKept(rpc: Rpc): Promise<number> {
  return read(count, await rpc.call('getFirstAvailableBlock', []), 'getFirstAvailableBlock');
}

async function solOf(rpc: Rpc, owner: string): Promise<bigint> {
  const answer = await rpc.call('getBalance', [owner, { commitment }], undefined, 'exact');
  return read(balanceForm, answer, 'getBalance').value;
}

async function tokensOfOwner(rpc: Rpc, owner: string, mint: string): Promise<bigint> {
  const how = { encoding: 'jsonParsed', commitment };
  const answer = await rpc.call('getTokenAccountsByOwner', [owner, { mint }, how]);
  const { value } = read(tokensForm, answer, 'getTokenAccountsByOwner');
  return value.reduce((sum, { account }) => sum + account.data.parsed.info.tokenAmount.amount, 0n);
}

/**
 * What all wallets together have less after the transaction: its fee, and what went into accounts for tokens that were opened.
 * The lamports of accounts for tokens that were there before are no wallet's.
 */
function costOf({ meta, transaction }: Transaction): bigint {
  const accountsOf = (balances: typeof meta.postTokenBalances) =>
    new Set((balances ?? []).map(({ accountIndex }) => accountIndex));
  const [before, after] = [accountsOf(meta.preTokenBalances), accountsOf(meta.postTokenBalances)];
  return transaction.message.accountKeys.reduce((cost, _, index) => {
    const [had, has] = [meta.preBalances[index] ?? 0n, meta.postBalances[index] ?? 0n];
    const isOpened = after.has(index) && !before.has(index);
    // What was sent there before it was opened belongs to nobody, and stays in it.
    return isOpened ? cost : cost + had - has;
  }, 0n);
}

function nativePaid({ meta, transaction }: Transaction): ObservedTransaction['paid'] {
  const holdsTokens = new Set((meta.postTokenBalances ?? []).map(({ accountIndex }) => accountIndex));
  return transaction.message.accountKeys.flatMap(({ pubkey }, index) => {
    const amount = (meta.postBalances[index] ?? 0n) - (meta.preBalances[index] ?? 0n);
    if (amount <= 0n || holdsTokens.has(index)) return [];
    return [{ asset: 'SOL' as const, address: pubkey, amount }];
  });
}

/** What each owner has more of a token: what it moved between accounts of its own is no payment. */
function tokensPaid({ meta }: Transaction, tokens: ReturnType<typeof tokensOf>): ObservedTransaction['paid'] {
  const gains = new Map<string, ObservedTransaction['paid'][number]>();
  const add = (balances: typeof meta.postTokenBalances, sign: 1n | -1n) => {
    for (const { mint, owner, uiTokenAmount } of balances ?? []) {
      const asset = tokens.get(mint);
      if (asset === undefined || owner === undefined) continue;
      const gain = gains.get(`${mint} ${owner}`) ?? { asset, address: owner, amount: 0n };
      gains.set(`${mint} ${owner}`, { ...gain, amount: gain.amount + sign * uiTokenAmount.amount });
    }
  };
  add(meta.postTokenBalances, 1n);
  add(meta.preTokenBalances, -1n);
  return [...gains.values()].filter(({ amount }) => amount > 0n);
}
