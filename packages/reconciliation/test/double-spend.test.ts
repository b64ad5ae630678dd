import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import type { ChainObserver } from '../src/chain-observer.ts';
import { observeBitcoin } from '../src/observe-bitcoin.ts';

/** A coin that a reorganisation takes away, on a real node. */
let dataDir: string;
let node: BitcoindHandle;
let observer: ChainObserver;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'quittance-double-spend-'));
  node = await startBitcoind({ dataDir, port: 0 });
  observer = observeBitcoin(node.rpcUrl);
});
afterAll(async () => {
  await observer?.close();
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

type Utxo = { txid: string; vout: number; amount: number };

/** Signed by the faucet, and given to no node: spends a coin of one bitcoin or more to a new address. */
async function spend({ txid, vout, amount }: Utxo, fee: number) {
  const to = await node.rpc<string>('getnewaddress');
  const whole = (amount - fee).toFixed(8);
  const raw = await node.rpc<string>('createrawtransaction', [{ txid, vout }], { [to]: whole });
  const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', raw, [
    await prevout(txid, vout),
  ]);
  const { txid: id } = await node.rpc<{ txid: string }>('decoderawtransaction', hex);
  return { hex, utxo: { txid: id, vout: 0, amount: amount - fee }, outpoint: `${id}:0` };
}
type Made = { vout: { scriptPubKey: { hex: string }; value: number }[] };
/** What no node has yet, by its hash. */
const made = new Map<string, string>();

async function prevout(txid: string, vout: number) {
  const hex = made.get(txid);
  const source =
    hex === undefined
      ? await node.rpc<Made>('getrawtransaction', txid, 1)
      : await node.rpc<Made>('decoderawtransaction', hex);
  return { txid, vout, scriptPubKey: source.vout[vout]?.scriptPubKey.hex, amount: source.vout[vout]?.value };
}

test('the coin of a dropped transaction may come back until its own coin is spent in another block', async () => {
  const [utxo] = await node.rpc<Utxo[]>('listunspent', 1);
  if (utxo === undefined) throw new Error('the faucet has coins');
  const deposit = await spend(utxo, 0.001);
  const other = await spend(utxo, 0.002);
  made.set(deposit.utxo.txid, deposit.hex);
  const payout = await spend(deposit.utxo, 0.001);
  expect(await observer.isUsed({ outpoint: `${utxo.txid}:${utxo.vout}` })).toBe(false);

  await node.reorganise(1, [[deposit.hex], [payout.hex]]);
  expect(await observer.isUsed({ outpoint: payout.outpoint })).toBe(false);
  expect(await observer.isUsed({ outpoint: deposit.outpoint })).toBe(true);

  await node.reorganise(2);
  await node.rpc('gettxoutsetinfo', 'none');
  expect(await observer.isUsed({ outpoint: deposit.outpoint })).toBe(false);

  await node.reorganise(1, [[other.hex]]);
  expect(await observer.isUsed({ outpoint: deposit.outpoint })).toBe(true);
});
