import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sum, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { OutScript, SigHash, selectUTXO, Transaction } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import { type SignedTransaction, within } from '../chain.ts';
import { KeysUnavailable } from '../hot-key.ts';
import { type BitcoinNetwork, factsOf } from './network.ts';
import { type BitcoinKeys, type Branch, checkAddress, scriptOf } from './wallet.ts';

/** Satoshi for each virtual byte. Nodes relay from 1 (some from 0.1); above the cap an estimate is not believed. */
export const FEE_RATE_MIN = 1n;
export const FEE_RATE_MAX = 500n;
/** The dearest dust limit of any kind of output that nodes still relay: P2PKH. */
export const DUST = 546n;
/** Standard transactions have up to 100,000 virtual bytes; nodes relay none that is larger. */
const VIRTUAL_BYTES_MAX = 90_000;
/** Virtual bytes of an input that spends P2WPKH, rounded up. */
export const INPUT_VIRTUAL_BYTES = 69n;
/** A KMS takes tens of milliseconds for each signature, and a spend may have hundreds of inputs. */
const SIGNED_AT_ONCE = 20;
/** Every input says that it may be replaced (BIP-125), for nodes that still ask for that. */
const SEQUENCE = 0xfffffffd;

/** An output of ours, unspent. */
export type Utxo = {
  /** `<tx hash>:<n>` */
  outpoint: string;
  branch: Branch;
  index: number;
  amount: Units;
  /** Where it was paid to, as who spends it has it: the key of branch and index must be that of it. */
  address?: string | undefined;
};
/** `to`: any spelling that checkAddress accepts. */
export type Recipient = { to: string; amount: Units };

export type SelectionOrder = {
  /** What may be spent. */
  available: readonly Utxo[];
  /** What must be spent: the inputs of a transaction that is to be replaced. */
  required?: readonly Utxo[];
  recipients: readonly Recipient[];
  /** The address on the change branch, whether it comes to change or not. */
  changeIndex: number;
  /** Satoshi for each virtual byte. */
  feeRate: bigint;
  /** The fee is never more than this. */
  feeMax: Units;
  /** Of a replacement: at least so much, see BitcoinSender.replacementFee. */
  feeMin?: Units;
};

/** A transaction that can be signed: outputs stand in this order, the change behind them. */
export type Spend = {
  utxos: Utxo[];
  recipients: Recipient[];
  /** Null when there would be too little to be worth an output: then it is part of the fee. */
  change: { index: number; amount: Units } | null;
  fee: Units;
};

export type SignedSpend = SignedTransaction & {
  fee: Units;
  virtualBytes: number;
  changeOutput: number | null;
};

/**
 * The coins that pay the recipients and the fee, with as few inputs as can be. `not_enough`: the coins do not cover
 * both. `too_dear`: they do, for a fee above `feeMax`. `too_large`: not in one transaction.
 */
export function selectUtxos(
  network: BitcoinNetwork,
  hotAddress: string,
  order: SelectionOrder,
): Spend | 'not_enough' | 'too_dear' | 'too_large' {
  const { available, required = [], recipients, changeIndex, feeMax } = order;
  const feeRate = within(FEE_RATE_MIN, order.feeRate, FEE_RATE_MAX);
  const must = new Set(required.map((utxo) => utxo.outpoint));
  const may = available.filter((utxo) => !must.has(utxo.outpoint));
  const byOutpoint = new Map([...required, ...may].map((utxo) => [utxo.outpoint, utxo]));
  // Whose key it is makes no difference to its size.
  const script = scriptOf(network, hotAddress);
  const inputOf = (utxo: Utxo) => unsignedInput(utxo, script);
  const outputs = recipients.map((one) => outputOf(network, one));

  const choose = (rate: bigint) =>
    selectUTXO(may.map(inputOf), outputs, 'default', {
      feePerByte: rate,
      changeAddress: hotAddress,
      network: factsOf(network).form,
      requiredInputs: required.map(inputOf),
      // Outputs in our order: the n-th payout is the n-th output.
      bip69: false,
      createTx: false,
      // Change that costs more to spend than it is worth is none.
      dust: 1n,
      dustRelayFeeRate: changeMin(rate),
    });

  let rate = feeRate;
  let chosen = choose(rate);
  // The fee of a replacement has to exceed a sum as well as a rate; a higher rate gives a higher sum.
  while (chosen?.fee !== undefined && chosen.fee < (order.feeMin ?? 0n) && rate < FEE_RATE_MAX) {
    const size = BigInt(Math.ceil(chosen.weight / 4));
    const asked = ((order.feeMin ?? 0n) + size - 1n) / size;
    rate = within(rate + 1n, asked, FEE_RATE_MAX);
    chosen = choose(rate);
  }
  if (chosen === undefined) return 'not_enough';
  const utxos = chosen.inputs.map(({ txid, index }) => {
    const utxo = byOutpoint.get(`${Buffer.from(txid as Uint8Array).toString('hex')}:${index}`);
    invariant(utxo !== undefined, 'only coins that were offered are chosen');
    return utxo;
  });
  const changeOutput = chosen.outputs[recipients.length];
  const change =
    changeOutput === undefined ? null : { index: changeIndex, amount: changeOutput.amount as Units };
  const paid = total(recipients) + (change?.amount ?? 0n);
  const fee = (total(utxos) - paid) as Units;
  if (fee > feeMax || fee < (order.feeMin ?? 0n)) return 'too_dear';
  const virtualBytes = Math.ceil(chosen.weight / 4);
  if (virtualBytes > VIRTUAL_BYTES_MAX) return 'too_large';
  const spend = { utxos, recipients: [...recipients], change, fee };
  assertSound(spend, { rate, virtualBytes, required });
  return spend;
}

/** What we rely on, whatever the library says. */
function assertSound(
  { utxos, recipients, change, fee }: Spend,
  { rate, virtualBytes, required }: { rate: bigint; virtualBytes: number; required: readonly Utxo[] },
): void {
  const chosen = new Set(utxos.map((utxo) => utxo.outpoint));
  invariant(chosen.size === utxos.length, 'a coin is spent once');
  invariant(
    required.every((utxo) => chosen.has(utxo.outpoint)),
    'a replacement keeps every input',
  );
  const out = total(recipients) + (change?.amount ?? 0n);
  invariant(total(utxos) === out + fee, 'what goes in comes out, but for the fee');
  invariant(change === null || change.amount >= changeMin(rate), 'change is worth an output');
  const size = BigInt(virtualBytes);
  invariant(fee >= size * FEE_RATE_MIN, 'nodes relay it');
  // Without change, what would have been too little for an output of 31 bytes is given away with the fee.
  invariant(fee <= (size + 31n) * rate + changeMin(rate), 'the fee is what the rate says');
}

const changeMin = (rate: bigint): bigint => {
  const toSpendIt = INPUT_VIRTUAL_BYTES * rate;
  return toSpendIt > DUST ? toSpendIt : DUST;
};

/**
 * Signs every input; the same spend gives the same bytes as long as the keys give the same signatures. Throws KeysUnavailable when
 * that takes longer than the keys allow.
 */
export async function signSpend(
  network: BitcoinNetwork,
  keys: BitcoinKeys,
  spend: Spend,
): Promise<SignedSpend> {
  const { utxos, recipients, change, fee } = spend;
  const transaction = new Transaction();
  for (const utxo of utxos) {
    const script = scriptOf(network, keys.address(utxo.branch, utxo.index));
    transaction.addInput(unsignedInput(utxo, script));
  }
  for (const recipient of recipients) transaction.addOutput(outputOf(network, recipient));
  if (change !== null) {
    transaction.addOutput({
      script: scriptOf(network, keys.address('change', change.index)),
      amount: change.amount,
    });
  }
  const began = performance.now();
  for (let at = 0; at < utxos.length; at += SIGNED_AT_ONCE) {
    if (performance.now() - began > keys.withinMs)
      throw new KeysUnavailable(`${at} of ${utxos.length} inputs were signed in ${keys.withinMs} ms`);
    const some = utxos.slice(at, at + SIGNED_AT_ONCE);
    await Promise.all(some.map((utxo, i) => signInput(transaction, at + i, utxo, keys)));
  }
  transaction.finalize();
  invariant(transaction.fee === fee, 'the transaction pays the fee that was decided');
  return {
    raw: transaction.hex,
    txHash: transaction.id,
    maxCost: fee,
    fee,
    virtualBytes: transaction.vsize,
    changeOutput: change === null ? null : recipients.length,
  };
}

/** As BIP-143 says for P2WPKH: what is hashed has the script that would pay the same key without a witness. */
async function signInput(
  transaction: Transaction,
  place: number,
  { branch, index, amount }: Utxo,
  keys: BitcoinKeys,
): Promise<void> {
  const key = keys.key(branch, index);
  const script = OutScript.encode({ type: 'pkh', hash: hash160(key.publicKey) });
  const { r, s } = await key.sign(transaction.preimageWitnessV0(place, script, SigHash.ALL, amount));
  const signature = new secp256k1.Signature(r, s).toBytes('der');
  transaction.updateInput(place, {
    partialSig: [[key.publicKey, Uint8Array.of(...signature, SigHash.ALL)]],
  });
}

/** The parts of an outpoint. */
export function placeOf(outpoint: string): [txHash: string, output: number] {
  const [txHash = '', output = ''] = outpoint.split(':');
  // eslint-disable-next-line no-restricted-syntax -- the place of an output
  return [txHash, Number(output)];
}

function unsignedInput({ outpoint, amount }: Utxo, script: Uint8Array) {
  const [txid, index] = placeOf(outpoint);
  return { txid, index, sequence: SEQUENCE, witnessUtxo: { script, amount: amount as bigint } };
}

function outputOf(network: BitcoinNetwork, { to, amount }: Recipient) {
  const address = checkAddress(network, to);
  if (address === undefined) throw new Error(`${to} is no address of Bitcoin's ${network}`);
  invariant(amount >= DUST, 'no payment is dust');
  return { script: scriptOf(network, address), amount: amount as bigint };
}

const total = (parts: readonly { amount: Units }[]): bigint => sum(parts.map(({ amount }) => amount));
