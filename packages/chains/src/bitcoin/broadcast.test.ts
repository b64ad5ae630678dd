import { expect, it } from '@jest/globals';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { RpcUnavailable } from '../json-rpc.ts';
import { inputsOf } from './broadcast.ts';

const SPENT = '5a'.repeat(32);

function aTransaction(): Transaction {
  const key = new Uint8Array(32).fill(7);
  const { script } = p2wpkh(pubECDSA(key), TEST_NETWORK);
  const transaction = new Transaction();
  transaction.addInput({ txid: SPENT, index: 3, witnessUtxo: { script, amount: 10_000n } });
  transaction.addOutput({ script, amount: 9_000n });
  transaction.sign(key);
  transaction.finalize();
  return transaction;
}
const { id, hex } = aTransaction();

it('the inputs of a transaction are those of its bytes', async () => {
  expect(
    await inputsOf(
      scriptedRpc(() => hex),
      id,
    ),
  ).toEqual([`${SPENT}:3`]);
});

it.each([
  ['bytes that are no transaction', '00', id],
  ['another transaction', hex, 'ab'.repeat(32)],
])('a node that answers %s has not answered: other nodes decide', async (_what, answer, asked) => {
  await expect(
    inputsOf(
      scriptedRpc(() => answer),
      asked,
    ),
  ).rejects.toThrow(RpcUnavailable);
});
