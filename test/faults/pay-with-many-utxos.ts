import type { Quittance } from '@quittance/testkit/quittance';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';

const REGTEST = { ...TEST_NETWORK, bech32: 'bcrt' };
const KEY = new Uint8Array(32).fill(9);
const FEE = 100_000n;

type Output = { n: number; scriptPubKey: { address?: string } };

/** Pays one address with many outputs of one transaction, which the node's own wallet refuses to make. */
export async function payWithManyUtxos(
  { stack }: Pick<Quittance, 'stack'>,
  to: string,
  utxos: number,
  each: bigint,
): Promise<void> {
  const node = stack.engines.bitcoin;
  if (node === undefined) throw new Error('this stack has no node of Bitcoin');
  const payer = p2wpkh(pubECDSA(KEY), REGTEST);
  const whole = each * BigInt(utxos) + FEE;
  const whole8 = whole.toString().padStart(9, '0');
  const funding = await node.pay(payer.address as string, `${whole8.slice(0, -8)}.${whole8.slice(-8)}`);
  await node.mine(1);
  const { vout } = await node.rpc<{ vout: Output[] }>('getrawtransaction', funding, 1);
  const index = vout.find(({ scriptPubKey }) => scriptPubKey.address === payer.address)?.n ?? 0;
  const split = new Transaction();
  split.addInput({ txid: funding, index, witnessUtxo: { script: payer.script, amount: whole } });
  for (let i = 0; i < utxos; i++) split.addOutputAddress(to, each, REGTEST);
  split.sign(KEY);
  split.finalize();
  await node.rpc('sendrawtransaction', Buffer.from(split.extract()).toString('hex'));
}
