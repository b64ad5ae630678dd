import { tokensOf } from '@quittance/chains/evm/network';
import { address, bytes, count, feeFields, feeOf, hash, units256 } from '@quittance/chains/evm/rpc';
import { answered, connectRpc, type Rpc, read } from '@quittance/chains/json-rpc';
import type { SettingsOf } from '@quittance/chains/settings';
import { nativeAsset } from '@quittance/shared/assets';
import { z } from 'zod';
import type { ChainLook, Seen } from './chain-look.ts';

/** Transfer(address,address,uint256) */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const BALANCE_OF = '0x70a08231';
const AT_ONCE = 100;

const receiptForm = z
  .object({
    status: count,
    ...feeFields,
    logs: z.array(z.object({ address, topics: z.array(hash), data: bytes })),
  })
  .nullable();
const transactionForm = z.object({ to: address.nullable(), value: units256 }).nullable();

export function lookAtEvm(url: string, settings: SettingsOf<'evm'>): ChainLook {
  const rpc = connectRpc(url);
  const native = nativeAsset[settings.chain];
  const tokens = tokensOf(settings);
  return {
    async transaction(txHash) {
      const [given, sent] = await rpc.batch([
        { method: 'eth_getTransactionReceipt', params: [txHash] },
        { method: 'eth_getTransactionByHash', params: [txHash] },
      ]);
      const receipt = read(receiptForm, answered(given), 'eth_getTransactionReceipt');
      const transaction = read(transactionForm, answered(sent), 'eth_getTransactionByHash');
      if (receipt === null || transaction === null) return undefined;
      const succeeded = receipt.status === 1;
      const paid: Seen['paid'] = [];
      if (succeeded && transaction.to !== null && transaction.value > 0n) {
        paid.push({ asset: native, address: transaction.to, amount: transaction.value });
      }
      for (const { address: contract, topics, data } of receipt.logs) {
        const asset = tokens.get(contract);
        const [event, , to] = topics;
        if (asset === undefined || event !== TRANSFER || to === undefined) continue;
        paid.push({ asset, address: `0x${to.slice(-40)}`, amount: BigInt(data) });
      }
      return { succeeded, cost: feeOf(receipt), paid };
    },

    async reserves(asset, { addresses }) {
      let sum = 0n;
      const contract = [...tokens].find(([, symbol]) => symbol === asset)?.[0];
      if (asset !== native && contract === undefined)
        throw new Error(`no contract is configured for ${asset}`);
      for (let at = 0; at < addresses.length; at += AT_ONCE) {
        sum += await balances(rpc, contract, addresses.slice(at, at + AT_ONCE));
      }
      return sum;
    },

    close: () => rpc.close(),
  };
}

async function balances(rpc: Rpc, contract: string | undefined, owners: readonly string[]): Promise<bigint> {
  const calls = owners.map((owner) =>
    contract === undefined
      ? { method: 'eth_getBalance', params: [owner, 'latest'] }
      : {
          method: 'eth_call',
          params: [{ to: contract, data: `${BALANCE_OF}${owner.slice(2).padStart(64, '0')}` }, 'latest'],
        },
  );
  const answers = await rpc.batch(calls);
  return answers.reduce<bigint>((sum, answer) => sum + read(units256, answered(answer), 'a balance'), 0n);
}
