import { tokensOf } from '@quittance/chains/evm/network';
import { address, bytes, count, hash, toHex, units256 } from '@quittance/chains/evm/rpc';
import { connectRpc, type Rpc, read } from '@quittance/chains/json-rpc';
import type { SettingsOf } from '@quittance/chains/settings';
import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import { z } from 'zod';
import type {
  ChainObserver,
  ObservedBlock,
  ObservedPayments,
  ObservedTransaction,
} from './chain-observer.ts';

/** Transfer(address,address,uint256) */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const BALANCE_OF = '0x70a08231';
/** A number of 256 bits, as text: the whole data of a transfer. */
const WORD = 2 + 64;
const AT_ONCE = 100;
/** Of how many of the newest blocks every node knows the balances. Most keep 128. */
const BALANCES_KEPT = 64;

const receiptForm = z
  .object({
    status: count,
    blockNumber: count,
    gasUsed: units256,
    effectiveGasPrice: units256,
    /** What networks on top of Ethereum charge for their data. */
    l1Fee: units256.nullish(),
    logs: z.array(z.object({ address, topics: z.array(hash), data: bytes })),
  })
  .nullable();
const blockForm = z.object({ hash }).nullable();
const contentForm = z.object({ transactions: z.array(hash) }).nullable();
const pinnedForm = z.object({ hash, number: count }).nullable();
const transactionForm = z
  .object({ to: address.nullish(), value: units256, blockNumber: count.nullish() })
  .nullable();

export function observeEvm(url: string, settings: SettingsOf<'evm'>): ChainObserver {
  const rpc = connectRpc(url);
  const native = nativeAsset[settings.chain];
  const tokens = tokensOf(settings);
  let pinned: ObservedBlock | undefined;

  async function find(txHash: string) {
    const [given, sent] = await rpc.batch([
      { method: 'eth_getTransactionReceipt', params: [txHash] },
      { method: 'eth_getTransactionByHash', params: [txHash] },
    ]);
    const receipt = read(receiptForm, given, 'eth_getTransactionReceipt');
    const transaction = read(transactionForm, sent, 'eth_getTransactionByHash');
    return { receipt, transaction };
  }

  async function isIn(txHash: string, height: number): Promise<boolean> {
    const answer = await rpc.call('eth_getBlockByNumber', [toHex(height), false]);
    return read(contentForm, answer, 'eth_getBlockByNumber')?.transactions.includes(txHash) === true;
  }

  async function balancesOf(asset: AssetSymbol, addresses: readonly string[]): Promise<bigint[]> {
    const found: bigint[] = [];
    const contract = [...tokens].find(([, symbol]) => symbol === asset)?.[0];
    if (asset !== native && contract === undefined) throw new Error(`no contract is configured for ${asset}`);
    for (let at = 0; at < addresses.length; at += AT_ONCE) {
      found.push(...(await balances(rpc, contract, addresses.slice(at, at + AT_ONCE), pinned)));
    }
    return found;
  }

  function observedIn({
    receipt,
    transaction,
  }: Awaited<ReturnType<typeof find>>): ObservedTransaction | undefined {
    if (receipt === null || transaction === null) return undefined;
    if (pinned !== undefined && receipt.blockNumber > pinned.height) return undefined;
    const succeeded = receipt.status === 1;
    const paid: ObservedTransaction['paid'] = [];
    if (succeeded && transaction.to != null && transaction.value > 0n) {
      paid.push({ asset: native, address: transaction.to, amount: transaction.value });
    }
    for (const { address: contract, topics, data } of receipt.logs) {
      const asset = tokens.get(contract);
      const [event, , to] = topics;
      if (asset === undefined || event !== TRANSFER || to === undefined || data.length !== WORD) continue;
      paid.push({ asset, address: `0x${to.slice(-40)}`, amount: BigInt(data) });
    }
    const { gasUsed, effectiveGasPrice, l1Fee } = receipt;
    return { succeeded, cost: gasUsed * effectiveGasPrice + (l1Fee ?? 0n), paid };
  }

  return {
    async pin(wanted) {
      const blockAt = async (at: string) => {
        const found = read(
          pinnedForm,
          await rpc.call('eth_getBlockByNumber', [at, false]),
          'eth_getBlockByNumber',
        );
        return found && { height: found.number, hash: found.hash };
      };
      const newest = await blockAt('latest');
      if (newest === null) throw new Error('the node has no block');
      const isNear = newest.height >= wanted && newest.height - wanted <= BALANCES_KEPT;
      pinned = (isNear ? await blockAt(toHex(wanted)) : null) ?? newest;
      return pinned;
    },

    transaction: async (txHash) => observedIn(await find(txHash)),

    async payments(txHash, height): Promise<ObservedPayments> {
      const found = await find(txHash);
      // Nodes that prune forget receipts before transactions.
      if (found.receipt === null && found.transaction?.blockNumber != null) return 'not kept';
      const observed = observedIn(found);
      if (observed !== undefined) return observed.paid;
      // They find transactions of the last weeks or months by their hash, and have older ones in their blocks alone.
      return (await isIn(txHash, height)) ? 'not kept' : 'not in the chain';
    },

    assets: new Set([native, ...tokens.values()]),

    async isUsed(input) {
      if (!('nonce' in input)) return false;
      const params = [input.wallet, blockOf(pinned)];
      const answer = await rpc.call('eth_getTransactionCount', params);
      return read(count, answer, 'eth_getTransactionCount') > input.nonce;
    },

    reserves: balancesOf,

    balances: balancesOf,

    async hashAt(height) {
      const answer = await rpc.call('eth_getBlockByNumber', [toHex(height), false]);
      return read(blockForm, answer, 'eth_getBlockByNumber')?.hash;
    },

    close: () => rpc.close(),
  };
}

/** By its hash: behind one URL there may be several nodes, and one that does not have it must refuse (EIP-1898). */
const blockOf = (pinned: ObservedBlock | undefined) =>
  pinned === undefined ? 'latest' : { blockHash: pinned.hash, requireCanonical: true };

async function balances(
  rpc: Rpc,
  contract: string | undefined,
  owners: readonly string[],
  pinned: ObservedBlock | undefined,
): Promise<bigint[]> {
  const block = blockOf(pinned);
  const calls = owners.map((owner) =>
    contract === undefined
      ? { method: 'eth_getBalance', params: [owner, block] }
      : {
          method: 'eth_call',
          params: [{ to: contract, data: `${BALANCE_OF}${owner.slice(2).padStart(64, '0')}` }, block],
        },
  );
  const answers = await rpc.batch(calls);
  return answers.map((answer) => read(units256, answer, 'a balance'));
}
