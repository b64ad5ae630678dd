import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { factsOf } from '@quittance/chains/bitcoin/network';
import { addressOf } from '@quittance/chains/bitcoin/wallet';
import { type BitcoindHandle, BitcoindRefused } from '@quittance/engines/bitcoind';
import { payOnBitcoin } from '@quittance/stack/bitcoin';
import { type Customer, type Payments, unitsOf } from './customer.ts';

export type BitcoinCustomer = Customer & {
  /** All in one transaction. */
  payMany(payments: Payments): Promise<string>;
  /** Replaces the newest `depth` blocks by empty ones, one more than there were: what they held waits again. */
  dropBlocks(depth: number): Promise<void>;
};

const SCAN_TRIES_MAX = 200;
const SCAN_PAUSE_MS = 50;
const PUBLIC_KEY_BYTES = 33;

type Output = { value: number; scriptPubKey: { address?: string } };
type Block = { tx: { txid: string; vout: Output[] }[] };

/** A customer on Bitcoin Core's own chain. */
export function bitcoinCustomer(node: BitcoindHandle): BitcoinCustomer {
  const at = { rpc: node.rpcUrl };
  return {
    pay: (_asset, to, amount) => payOnBitcoin(at, [{ to, amount: unitsOf('BTC', amount) }]),
    payMany: (payments) =>
      payOnBitcoin(
        at,
        payments.map(({ to, amount }) => ({ to, amount: unitsOf('BTC', amount) })),
      ),
    // Nobody's: the node's wallet would pay others with what comes to an address of its own, and the balance be gone.
    newAddress: async () => addressOf(factsOf('regtest').form, randomBytes(PUBLIC_KEY_BYTES)),
    async mine(blocks = 1) {
      await node.mine(blocks);
    },
    async dropBlocks(depth) {
      await node.reorganise(depth);
    },
    async balance(_asset, address) {
      // A double has enough digits for all the coins there are.
      return unitsOf('BTC', (await scan(node, address)).toFixed(8));
    },
    async transactions(address) {
      const height = await node.rpc<number>('getblockcount');
      const found: string[] = [];
      for (let at = 0; at <= height; at++) {
        const block = await node.rpc<Block>('getblock', await node.rpc('getblockhash', at), 2);
        const paying = block.tx.filter(({ vout }) =>
          vout.some(({ scriptPubKey }) => scriptPubKey.address === address),
        );
        found.push(...paying.map(({ txid }) => txid));
      }
      return found;
    },
  };
}

/** The node looks for one at a time, and refuses the others meanwhile. */
async function scan(node: BitcoindHandle, address: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      const look = ['start', [`addr(${address})`]] as const;
      return (await node.rpc<{ total_amount: number }>('scantxoutset', ...look)).total_amount;
    } catch (error) {
      const isBusy = error instanceof BitcoindRefused && /in progress/.test(error.message);
      if (!isBusy || tries >= SCAN_TRIES_MAX) throw error;
      await sleep(SCAN_PAUSE_MS);
    }
  }
}
