import { testBitcoind } from '@quittance/testkit/engines';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import type { Paid } from './money-out.ts';

export const REGTEST = { ...TEST_NETWORK, bech32: 'bcrt' };
const UTXOS_AT_ONCE = 500;
const UTXO_AMOUNT = 5_000_000n;
const FEE = 2_000n;
const SATOSHIS = 100_000_000;

/** Money of a payer, each spent in a way of its own. */
export type Utxo = { txid: string; index: number; amount: bigint };
export type Output = { address: string; amount: bigint } | { script: Uint8Array; amount: bigint };

type VerboseBlock = {
  tx: { txid: string; vout: { value: number; scriptPubKey: { address?: string } }[] }[];
};

/** The node writes a double with eight digits: of less than 90 million bitcoins each stays apart from the next. */
const satoshis = (value: number): bigint => BigInt(Math.round(value * SATOSHIS));

export type BitcoinChain = Awaited<ReturnType<typeof startBitcoinChain>>;

/** A real Bitcoin Core whose blocks hold what a test puts into them, and a payer with as many coins as are asked for. */
export async function startBitcoinChain() {
  const node = await testBitcoind();
  const key = new Uint8Array(32).fill(7);
  const payer = p2wpkh(pubECDSA(key), REGTEST);
  const utxos: Utxo[] = [];

  let mined = 0;

  /** A block of these transactions and nothing else, whatever waits. */
  async function mine(raws: readonly string[]): Promise<string> {
    mined += 1;
    // Unlike any before: a block made twice in the same second would be the same block.
    const nobody = `raw(6a04${mined.toString(16).padStart(8, '0')})`;
    return (await node.rpc<{ hash: string }>('generateblock', nobody, raws)).hash;
  }

  function sign(given: readonly Utxo[], outputs: readonly Output[], sequence = 0xfffffffd): string {
    const transaction = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true });
    for (const { txid, index, amount } of given) {
      transaction.addInput({ txid, index, sequence, witnessUtxo: { script: payer.script, amount } });
    }
    for (const output of outputs) {
      if ('script' in output) transaction.addOutput(output);
      else transaction.addOutputAddress(output.address, output.amount, REGTEST);
    }
    const rest =
      given.reduce((sum, { amount }) => sum + amount, 0n) -
      outputs.reduce((sum, { amount }) => sum + amount, 0n) -
      FEE;
    if (rest < 0n) throw new Error('the coins do not suffice');
    if (rest > FEE) transaction.addOutput({ script: payer.script, amount: rest });
    transaction.sign(key);
    transaction.finalize();
    return toHex(transaction.extract());
  }

  async function makeUtxos(): Promise<void> {
    const whole = UTXO_AMOUNT * BigInt(UTXOS_AT_ONCE) + 100_000n;
    const funding = await node.pay(payer.address as string, decimal(whole));
    const { vout } = await node.rpc<{ vout: { n: number; scriptPubKey: { address?: string } }[] }>(
      'getrawtransaction',
      funding,
      1,
    );
    await node.mine(1);
    const index = vout.find(({ scriptPubKey }) => scriptPubKey.address === payer.address)?.n ?? 0;
    const split = new Transaction();
    split.addInput({ txid: funding, index, witnessUtxo: { script: payer.script, amount: whole } });
    for (let i = 0; i < UTXOS_AT_ONCE; i++) split.addOutput({ script: payer.script, amount: UTXO_AMOUNT });
    split.sign(key);
    split.finalize();
    await mine([toHex(split.extract())]);
    for (let i = 0; i < UTXOS_AT_ONCE; i++) utxos.push({ txid: split.id, index: i, amount: UTXO_AMOUNT });
    // Deeper than any reorganisation to come.
    await node.mine(10);
  }

  return {
    node,
    payer,
    mine,
    sign,
    /** Coins that nothing has spent. */
    async take(count: number): Promise<Utxo[]> {
      while (utxos.length < count) await makeUtxos();
      return utxos.splice(0, count);
    },
    /** Replaces the newest `depth` blocks by these, which are more. What only the old ones had waits again. */
    async reorg(depth: number, blocks: readonly (readonly string[])[]): Promise<void> {
      if (blocks.length <= depth) throw new Error('a branch that wins is longer');
      const height = await node.rpc<number>('getblockcount');
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - depth + 1));
      for (const block of blocks) await mine(block);
    },
    async mineEmpty(blocks: number): Promise<void> {
      for (let i = 0; i < blocks; i++) await mine([]);
    },
    /** What lies on these addresses, by the node's own set of unspent outputs. */
    async balances(addresses: readonly string[]): Promise<Map<string, bigint>> {
      const found = new Map<string, bigint>();
      const { unspents } = await node.rpc<{ unspents: { desc: string; amount: number }[] }>(
        'scantxoutset',
        'start',
        addresses.map((address) => `addr(${address})`),
      );
      for (const { desc, amount } of unspents) {
        const address = /^addr\((\w+)\)/.exec(desc)?.[1] ?? desc;
        found.set(address, (found.get(address) ?? 0n) + satoshis(amount));
      }
      return found;
    },
    /** Every output to these addresses that the chain holds, read block by block. */
    async paymentsTo(addresses: readonly string[]): Promise<Map<string, Paid[]>> {
      const found = new Map<string, Paid[]>(addresses.map((address) => [address, []]));
      const head = await node.rpc<number>('getblockcount');
      for (let height = 0; height <= head; height++) {
        const { tx } = await node.rpc<VerboseBlock>('getblock', await node.rpc('getblockhash', height), 2);
        for (const { txid, vout } of tx) {
          for (const { value, scriptPubKey } of vout) {
            const payment = { asset: 'BTC' as const, amount: satoshis(value), txHash: txid };
            found.get(scriptPubKey.address ?? '')?.push(payment);
          }
        }
      }
      return found;
    },
    stop: () => node.stop(),
  };
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Bitcoins as decimal text. */
export const decimal = (satoshis: bigint): string =>
  `${satoshis / 100_000_000n}.${(satoshis % 100_000_000n).toString().padStart(8, '0')}`;
