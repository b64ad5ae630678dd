import type { BitcoindHandle } from '@quittance/engines/bitcoind';
import { testBitcoind } from '@quittance/testkit/engines';
import { createBitcoinReader } from '../src/bitcoin/reader.ts';
import { createBitcoinSender } from '../src/bitcoin/sender.ts';
import { createBitcoinSigner } from '../src/bitcoin/signer.ts';
import { openBitcoinWallet } from '../src/bitcoin/wallet.ts';
import { connectRpc } from '../src/json-rpc.ts';

export const PHRASE = 'test test test test test test test test test test test junk';
export const wallet = openBitcoinWallet('regtest', PHRASE);

/** A Bitcoin node that mines when told to, and what we read and send with. */
export async function bitcoinChain(flags: readonly string[] = []) {
  const node = await testBitcoind(flags);
  const rpc = connectRpc(node.rpcUrl);
  const signer = createBitcoinSigner('regtest', wallet);
  return {
    node,
    rpc,
    reader: createBitcoinReader({ rpc, network: 'regtest' }),
    sender: createBitcoinSender({ rpc, network: 'regtest', wallet: signer.addresses }),
    signer,
    stop: async () => {
      await rpc.close();
      await node.stop();
    },
  };
}
export type BitcoinChain = Awaited<ReturnType<typeof bitcoinChain>>;

/** The output of a transaction that pays an address. */
export async function outpointOf(node: BitcoindHandle, txid: string, address: string): Promise<string> {
  const { vout } = await node.rpc<{ vout: { n: number; scriptPubKey: { address?: string } }[] }>(
    'getrawtransaction',
    txid,
    1,
  );
  const output = vout.find(({ scriptPubKey }) => scriptPubKey.address === address);
  if (output === undefined) throw new Error(`${txid} does not pay ${address}`);
  return `${txid}:${output.n}`;
}
