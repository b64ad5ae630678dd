import type { BitcoinSender } from '@quittance/chains/bitcoin/sender';
import type { BitcoinSigner } from '@quittance/chains/bitcoin/signer';
import { type SignedSpend, type Spend, selectUtxos } from '@quittance/chains/bitcoin/spend';
import type { BitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import type { Broadcast, Payment, TransactionStatus } from '@quittance/chains/chain';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { type BitcoinNet, type BtcBlock, type BtcTransaction, hashOf } from './bitcoin-net.ts';
import { type Ask, askToBroadcast } from './chain.ts';

export const NETWORK = 'regtest';
const USUAL_VIRTUAL_BYTES = 210n;
/** As the production sender counts it. */
const FINAL_DEPTH = 100;

export const paymentsOf = ({ hash, outputs }: BtcTransaction): Payment[] =>
  outputs.map(({ address, amount }, n) => ({
    outpoint: `${hash}:${n}`,
    txHash: hash,
    outputIndex: n,
    asset: 'BTC',
    address,
    amount,
  }));

export type BitcoinView = { net: BitcoinNet; wallet: BitcoinWallet; feeRate: () => bigint };

/** Signs with words in place of keys. */
export const signerOf = (wallet: BitcoinWallet): BitcoinSigner => ({
  addresses: wallet,
  signSpend: async (spend) => signed(wallet, spend),
});

export function senderOf({ net, wallet, feeRate }: BitcoinView, ask: Ask): BitcoinSender {
  return {
    chain: 'bitcoin',
    hotAddress: wallet.hotAddress,
    check: () => ask('check', () => undefined),
    balance: (_asset, address) =>
      ask('balance', () => units(net.unspentOf(address).reduce((sum, { amount }) => sum + amount, 0n))),
    estimatedFee: () => ask('usualCost', () => units(USUAL_VIRTUAL_BYTES * feeRate())),
    feeRate: () => ask('feeRate', feeRate),
    selectUtxos: (order) => selectUtxos(NETWORK, wallet.hotAddress, order),
    replacementFee: (txHash, virtualBytes) =>
      ask('replacementFee', () => net.replacementFee(txHash, virtualBytes)),
    broadcast: (raw) => askToBroadcast(ask, (): Broadcast => net.take(readBytes(raw))),
    status: (txHash) => ask(`status ${txHash.slice(0, 8)}`, () => statusOf(net, txHash)),
    height: () => ask('height', () => net.height),
    unspent: (outpoints) =>
      ask('unspent', () =>
        outpoints.map((outpoint) => {
          const found = net.unspent(outpoint);
          return found && { confirmations: net.height - found.height + 1, amount: found.amount };
        }),
      ),
    spentInMempool: (outpoints) =>
      ask('spentInMempool', () =>
        net.pool.some(({ inputs }) => inputs.some((one) => outpoints.includes(one))),
      ),
    unspentOf: (address) => ask('unspentOf', () => ({ height: net.height, outputs: net.unspentOf(address) })),
    async received(address, from, to) {
      const blocks = await blocksOf(net, ask, from, to);
      return blocks
        .flatMap((block) => block.transactions.flatMap(paymentsOf))
        .filter((payment) => payment.address === address)
        .map(({ outpoint, amount }) => ({ outpoint, amount }));
    },
    // A node with an index tells it of all that is in its pool or was ever in a block.
    inputsOf: (txHash) =>
      ask('inputsOf', () => {
        const isTold = net.inPool(txHash) !== undefined || net.wasMined(txHash);
        return isTold ? [...(net.transaction(txHash)?.inputs ?? [])] : undefined;
      }),
    async findSpenders(outpoints, from, to) {
      const wanted = new Set(outpoints);
      const blocks = await blocksOf(net, ask, from, to);
      return blocks.flatMap(({ height, hash: blockHash, transactions }) =>
        transactions.flatMap(({ hash: txHash, inputs }) =>
          inputs
            .filter((outpoint) => wanted.has(outpoint))
            .map((outpoint) => ({ outpoint, txHash, height, blockHash })),
        ),
      );
    },
    newestBlock: () => ask('newestBlock', () => net.blocks.at(-1)?.hash ?? 'none'),
    finalizedHeight: () => ask('finalizedHeight', () => Math.max(0, net.height - FINAL_DEPTH)),
    close: async () => {},
  };
}

/** A block that the node does not have is no answer. */
const blocksOf = (net: BitcoinNet, ask: Ask, from: number, to: number): Promise<readonly BtcBlock[]> =>
  ask('blocks', () => {
    if (to > net.height) throw new Error(`no block ${to}`);
    return net.blocks.slice(from, Math.max(from, to + 1));
  });

function statusOf(net: BitcoinNet, txHash: string): TransactionStatus {
  const height = net.heightOf(txHash);
  const block = height === undefined ? undefined : net.blocks[height];
  if (height === undefined || block === undefined) {
    return { state: net.inPool(txHash) === undefined ? 'absent' : 'pending' };
  }
  const feePaid = units(net.transaction(txHash)?.fee ?? 0n);
  const confirmations = net.height - height + 1;
  return { state: 'mined', height, blockHash: block.hash, confirmations, succeeded: true, feePaid };
}

type Bytes = {
  inputs: string[];
  outputs: { address: string; amount: string }[];
  fee: string;
  virtualBytes: number;
};

/** Spends of P2WPKH: their sizes are known without a signature. */
const weightOf = (inputs: number, outputs: number): number => 42 + 272 * inputs + 124 * outputs;

function signed(wallet: BitcoinWallet, { utxos, recipients, change, fee }: Spend): SignedSpend {
  const inside = utxos.reduce((sum, { amount }) => sum + amount, 0n);
  const outputs = recipients.map(({ to, amount }) => ({ address: to, amount }));
  if (change !== null) {
    outputs.push({ address: wallet.address('change', change.index), amount: change.amount });
  }
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  invariant(inside - paid === fee, 'the transaction pays the fee that was decided');
  const virtualBytes = Math.ceil(weightOf(utxos.length, outputs.length) / 4);
  const bytes: Bytes = {
    inputs: utxos.map(({ outpoint }) => outpoint),
    outputs: outputs.map(({ address, amount }) => ({ address, amount: amount.toString() })),
    fee: fee.toString(),
    virtualBytes,
  };
  const raw = JSON.stringify(bytes);
  const changeOutput = change === null ? null : recipients.length;
  return { raw, txHash: hashOf(raw), maxCost: fee, fee, virtualBytes, changeOutput };
}

function readBytes(raw: string): BtcTransaction {
  const { inputs, outputs, fee, virtualBytes } = JSON.parse(raw) as Bytes;
  return {
    hash: hashOf(raw),
    inputs,
    outputs: outputs.map(({ address, amount }) => ({ address, amount: units(amount) as Units })),
    fee: BigInt(fee),
    virtualBytes,
  };
}
