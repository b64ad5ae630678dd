import { amount, hash, isUnknownTransaction } from '@quittance/chains/bitcoin/rpc';
import { connectRpc, RpcRefused, read } from '@quittance/chains/json-rpc';
import { z } from 'zod';
import type { ChainObserver, ObservedTransaction } from './chain-observer.ts';

const AT_ONCE = 100;
/** Fewer: a transaction may be as large as a block. */
const PARENTS_AT_ONCE = 10;
/** An output is gone when the one that its transaction spends is gone, and so on: rarely more than one step. */
const STEPS_MAX = 8;
/** A transaction may spend thousands of outputs. */
const INPUTS_MAX = 100;
/** A scan reads every unspent output there is. */
const SCAN_MAX_MS = 20 * 60_000;
/** A node takes requests of up to 32 MB. */
const SCANNED_AT_ONCE = 100_000;
/** The node has not come so far. */
const OUT_OF_RANGE = -8;

const transactionForm = z.object({
  blockhash: hash.optional(),
  vin: z.array(
    z.object({ coinbase: z.string().optional(), txid: hash.optional(), vout: z.int().optional() }),
  ),
  vout: z.array(z.object({ value: amount, scriptPubKey: z.object({ address: z.string().optional() }) })),
});
/** Core goes on showing transactions of blocks that were dropped: these have -1 confirmations. */
const headerForm = z.object({ confirmations: z.int() });
const outputForm = z.object({ value: amount }).nullable();

const scanForm = z.object({
  success: z.literal(true),
  unspents: z.array(z.object({ desc: z.string(), amount, height: z.int() })),
});

type Transaction = z.infer<typeof transactionForm>;
type Output = { txid: string; vout: number };

export function observeBitcoin(url: string): ChainObserver {
  const rpc = connectRpc(url);
  const ask = (method: string, params: unknown[]) => rpc.call(method, params, undefined, 'exact');

  const transactionOf = (answer: unknown) => read(transactionForm, answer, 'getrawtransaction');

  async function find(txHash: string) {
    try {
      return transactionOf(await ask('getrawtransaction', [txHash, true]));
    } catch (error) {
      if (isUnknownTransaction(error)) return undefined;
      throw error;
    }
  }

  async function findInChain(txHash: string) {
    const found = await find(txHash);
    if (found?.blockhash === undefined) return undefined;
    const { confirmations } = read(
      headerForm,
      await ask('getblockheader', [found.blockhash]),
      'getblockheader',
    );
    return confirmations < 1 ? undefined : found;
  }

  const paidBy = ({ vout }: Transaction): ObservedTransaction['paid'] =>
    vout.flatMap(({ value, scriptPubKey: { address } }) =>
      address === undefined ? [] : [{ asset: 'BTC', address, amount: value }],
    );

  /** What these outputs hold. Each transaction is asked for once: it brings all its outputs, and many may be of one. */
  async function sumOf(outputs: readonly Output[]): Promise<bigint> {
    let value = 0n;
    const parents = [...Map.groupBy(outputs, ({ txid }) => txid)];
    for (let at = 0; at < parents.length; at += PARENTS_AT_ONCE) {
      const asked = parents.slice(at, at + PARENTS_AT_ONCE);
      const calls = asked.map(([txid]) => ({ method: 'getrawtransaction', params: [txid, true] }));
      const answers = await rpc.batch(calls, undefined, 'exact');
      for (const [i, [txid, spent]] of asked.entries()) {
        const { vout } = transactionOf(answers[i]);
        for (const { vout: place } of spent) {
          const output = vout[place];
          if (output === undefined) throw new Error(`the node shows no output ${place} of ${txid}`);
          value += output.value;
        }
      }
    }
    return value;
  }

  /** Spent by a transaction in the chain, or of a transaction that never can be there, for the same reason. */
  async function isUsed(outpoint: string, steps = 0): Promise<boolean> {
    const [txid = '', place] = outpoint.split(':');
    // eslint-disable-next-line no-restricted-syntax -- the place of an output in its transaction
    const utxo = await ask('gettxout', [txid, Number(place), false]);
    if (read(outputForm, utxo, 'gettxout') !== null) return false;
    if ((await findInChain(txid)) !== undefined) return true;
    if (steps === STEPS_MAX) return false;
    const source = await find(txid);
    for (const input of source?.vin.slice(0, INPUTS_MAX) ?? []) {
      if (input.txid === undefined || input.vout === undefined) continue;
      if (await isUsed(`${input.txid}:${input.vout}`, steps + 1)) return true;
    }
    return false;
  }

  return {
    pin: async () => undefined,

    async transaction(txHash) {
      const found = await findInChain(txHash);
      if (found === undefined) return undefined;
      const brought = await sumOf(
        found.vin.flatMap(({ txid, vout }) =>
          txid === undefined || vout === undefined ? [] : [{ txid, vout }],
        ),
      );
      const left = found.vout.reduce((sum, { value }) => sum + value, 0n);
      return { succeeded: true, cost: brought - left, paid: paidBy(found) };
    },

    async payments(txHash) {
      const found = await findInChain(txHash);
      return found === undefined ? 'not in the chain' : paidBy(found);
    },

    assets: new Set(['BTC'] as const),

    isUsed: async (input) => 'outpoint' in input && (await isUsed(input.outpoint)),

    async reserves(_asset, utxos) {
      const found: bigint[] = [];
      for (let at = 0; at < utxos.length; at += AT_ONCE) {
        const calls = utxos.slice(at, at + AT_ONCE).map((outpoint) => {
          const [txid, output] = outpoint.split(':');
          // eslint-disable-next-line no-restricted-syntax -- the place of an output in its transaction
          return { method: 'gettxout', params: [txid, Number(output), false] };
        });
        for (const answer of await rpc.batch(calls, undefined, 'exact')) {
          found.push(read(outputForm, answer, 'gettxout')?.value ?? 0n);
        }
      }
      return found;
    },

    async balances(_asset, addresses, height) {
      const sums = new Map<string, bigint>();
      for (let from = 0; from < addresses.length; from += SCANNED_AT_ONCE) {
        const descriptors = addresses
          .slice(from, from + SCANNED_AT_ONCE)
          .map((address) => `addr(${address})`);
        const answer = await rpc.call('scantxoutset', ['start', descriptors], SCAN_MAX_MS, 'exact');
        for (const { desc, amount: value, height: at } of read(scanForm, answer, 'scantxoutset').unspents) {
          const address = /^addr\((\w+)\)/.exec(desc)?.[1] ?? '';
          if (at <= height) sums.set(address, (sums.get(address) ?? 0n) + value);
        }
      }
      return addresses.map((address) => sums.get(address) ?? 0n);
    },

    async hashAt(height) {
      try {
        return read(hash, await ask('getblockhash', [height]), 'getblockhash');
      } catch (error) {
        if (error instanceof RpcRefused && error.code === OUT_OF_RANGE) return undefined;
        throw error;
      }
    },

    close: () => rpc.close(),
  };
}
