import { amount, hash, isNotFound } from '@quittance/chains/bitcoin/rpc';
import { answered, connectRpc, RpcRefused, read } from '@quittance/chains/json-rpc';
import { z } from 'zod';
import type { ChainLook } from './chain-look.ts';

const AT_ONCE = 100;

const transactionForm = z.object({
  blockhash: hash.optional(),
  vin: z.array(
    z.object({ coinbase: z.string().optional(), txid: hash.optional(), vout: z.int().optional() }),
  ),
  vout: z.array(z.object({ value: amount, scriptPubKey: z.object({ address: z.string().optional() }) })),
});
/** Core goes on showing transactions of blocks that were dropped: these have -1 confirmations. */
const headerForm = z.object({ confirmations: z.int() });
const coinForm = z.object({ value: amount }).nullable();

export function lookAtBitcoin(url: string): ChainLook {
  const rpc = connectRpc(url);
  const ask = (method: string, params: unknown[]) => rpc.call(method, params, undefined, 'exact');

  async function find(txHash: string) {
    try {
      return read(transactionForm, await ask('getrawtransaction', [txHash, true]), 'getrawtransaction');
    } catch (error) {
      if (error instanceof RpcRefused && isNotFound(error)) return undefined;
      throw error;
    }
  }

  return {
    async transaction(txHash) {
      const found = await find(txHash);
      if (found?.blockhash === undefined) return undefined;
      const { confirmations } = read(
        headerForm,
        await ask('getblockheader', [found.blockhash]),
        'getblockheader',
      );
      if (confirmations < 1) return undefined;
      let brought = 0n;
      for (const { txid, vout } of found.vin) {
        if (txid === undefined || vout === undefined) continue;
        const spent = (await find(txid))?.vout[vout];
        if (spent === undefined) throw new Error(`the node does not know ${txid}, which ${txHash} spends`);
        brought += spent.value;
      }
      const left = found.vout.reduce((sum, { value }) => sum + value, 0n);
      return {
        succeeded: true,
        cost: brought - left,
        paid: found.vout.flatMap(({ value, scriptPubKey }) =>
          scriptPubKey.address === undefined
            ? []
            : [{ asset: 'BTC' as const, address: scriptPubKey.address, amount: value as bigint }],
        ),
      };
    },

    async reserves(_asset, { coins }) {
      let sum = 0n;
      for (let at = 0; at < coins.length; at += AT_ONCE) {
        const calls = coins.slice(at, at + AT_ONCE).map((outpoint) => {
          const [txid, output] = outpoint.split(':');
          // tidy-allow number: the place of an output in its transaction
          return { method: 'gettxout', params: [txid, Number(output), false] };
        });
        for (const answer of await rpc.batch(calls, undefined, 'exact')) {
          sum += read(coinForm, answered(answer), 'gettxout')?.value ?? 0n;
        }
      }
      return sum;
    },

    close: () => rpc.close(),
  };
}
