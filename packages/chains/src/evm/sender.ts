import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { PrivateKeyAccount } from 'viem/accounts';
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import { z } from 'zod';
import type {
  Broadcast,
  EvmFees,
  EvmSender,
  Placed,
  SignedTransaction,
  TransactionStatus,
} from '../chain.ts';
import { answered, type Rpc, RpcRefused, RpcUnavailable, read } from '../json-rpc.ts';
import { checkAddress } from './address.ts';
import { readTokenDomain, receiveCall, type TokenDomain } from './authorization.ts';
import { checkNetwork, contractOf, type EvmChain, type EvmNetwork, usdcOf } from './network.ts';
import { address, bytes, count, feeFields, feeOf, hash, toHex, units256 } from './rpc.ts';
import type { Wallet } from './wallet.ts';

type Hex = `0x${string}`;

/** What sending native money to an address without code costs, always. */
const PLAIN_TRANSFER_GAS = 21_000n;
/**
 * A native transfer is given no more than this, twice the plain one, which is what the merchant's network fee covers:
 * a recipient that burns gas would do so at our cost. A Safe's takes about 28,000.
 */
const NATIVE_TRANSFER_GAS_MAX = 2n * PLAIN_TRANSFER_GAS;
/** A token's code is of the operator's choice, its recipients run none: what takes more than this is not usual. */
const TOKEN_TRANSFER_GAS_MAX = 250_000n;
/** A receiver may need a little more gas in another block than in the one it was estimated in. */
const GAS_HEADROOM_PERCENT = 25n;
/** For the order of a token sweep: 61k with the test token, under 100k with USD Coin behind its proxy. */
export const TOKEN_SWEEP_GAS = 150_000n;

/** A transfer of USD Coin to somebody who had none: what costs more is rare. */
const USUAL_TOKEN_GAS = 65_000n;

/** Full blocks are large: as many as one answer may comfortably hold. */
const BLOCKS_TOGETHER = 8;
const BLOCKS_TIMEOUT_MS = 20_000;

const GWEI = 10n ** 9n;

type FeeLimits = {
  /** Below it, nodes keep a transaction out of their pools, or blocks leave it out. */
  tipFloor: bigint;
  /** Above the caps, a node's answer is not believed. */
  tipCap: bigint;
  feeCap: bigint;
  /**
   * In wei, beyond the gas: what a network on top of Ethereum may take for a transaction's place there. Its nodes want to
   * see it at the sender's address; usually it is a hundredth of this.
   */
  placeMax: bigint;
};

const feeLimits = {
  ethereum: { tipFloor: GWEI / 10n, tipCap: 5n * GWEI, feeCap: 500n * GWEI, placeMax: 0n },
  base: { tipFloor: GWEI / 1_000n, tipCap: 5n * GWEI, feeCap: 500n * GWEI, placeMax: 10_000n * GWEI },
  // Its validators take nothing below 25 gwei of POL.
  polygon: { tipFloor: 25n * GWEI, tipCap: 500n * GWEI, feeCap: 5_000n * GWEI, placeMax: 0n },
} as const satisfies Record<EvmChain, FeeLimits>;

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

const header = z.object({ number: count, hash });
const fullBlock = header.extend({ transactions: z.array(z.object({ hash, from: address, nonce: count })) });
const feeHeader = z.object({ baseFeePerGas: units256 });
const known = z.object({ hash }).nullable();
const receipt = z.object({
  blockNumber: count,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
});

export type EvmSenderParts = EvmNetwork & { rpc: Rpc; wallet: Wallet };

/**
 * Signs with the wallet's keys, and sends through a node of Ethereum or of any chain like it. Closes the connection
 * it was given.
 */
export function createEvmSender({ rpc, wallet, ...network }: EvmSenderParts): EvmSender {
  const { chainId } = network;
  const { hotAddress } = wallet;
  const domains = new Map<string, TokenDomain>();

  async function domainOf(contract: string): Promise<TokenDomain> {
    const domain = domains.get(contract) ?? (await readTokenDomain(rpc, chainId, contract));
    domains.set(contract, domain);
    return domain;
  }

  async function balance(asset: AssetSymbol, owner: string): Promise<Units> {
    const contract = contractOf(network, asset);
    if (contract === undefined) {
      return read(units256, await rpc.call('eth_getBalance', [owner, 'latest']), 'eth_getBalance') as Units;
    }
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner as Hex] });
    return read(
      units256,
      await rpc.call('eth_call', [{ to: contract, data }, 'latest']),
      'eth_call',
    ) as Units;
  }

  async function sign(signer: PrivateKeyAccount, unsigned: Unsigned): Promise<SignedTransaction> {
    const { to, value, data, nonce, gas, fees } = unsigned;
    invariant(Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce counts transactions');
    // The order of the fields, and the nonce of the signature (RFC 6979), follow from the order alone.
    const raw = await signer.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      gas,
      to,
      value,
      data,
      ...fees,
    });
    return { raw, txHash: keccak256(raw), maxCost: maxCost(gas, fees) };
  }

  const maxCost = (gas: bigint, fees: EvmFees) =>
    (gas * fees.maxFeePerGas + feeLimits[network.chain].placeMax) as Units;

  return {
    chain: network.chain,
    hotAddress,
    depositAddress: wallet.depositAddress,
    balance,

    async check() {
      await checkNetwork(rpc, network);
      const contract = network.usdcAddress && contractOf(network, usdcOf[network.chain]);
      if (contract) await domainOf(contract);
    },

    async fees() {
      const { baseFeePerGas, tip } = await gasPrice(rpc);
      return feesFor(network.chain, baseFeePerGas, tip);
    },

    async usualCost(asset) {
      const gas = contractOf(network, asset) === undefined ? PLAIN_TRANSFER_GAS : USUAL_TOKEN_GAS;
      const { baseFeePerGas, tip } = await gasPrice(rpc);
      const { maxFeePerGas, maxPriorityFeePerGas } = feesFor(network.chain, baseFeePerGas, tip);
      const price = baseFeePerGas + maxPriorityFeePerGas;
      return (gas * within(0n, price, maxFeePerGas)) as Units;
    },

    async estimateTransfer(asset, to, amount) {
      const call = transferCall(network, asset, to, amount);
      const gas = await estimate(rpc, hotAddress, call);
      if (gas !== 'reverts') return gas;
      // A transfer of more than there is reverts as well, and says nothing about the recipient.
      if ((await balance(asset, hotAddress)) < amount) {
        throw new Error(`the hot wallet has less ${asset} than it is to send`);
      }
      // Once more: what was missing may have come between the two questions.
      return estimate(rpc, hotAddress, call);
    },

    async signTransfer({ asset, to, amount, nonce, gas, fees }) {
      invariant(amount > 0n, 'a transfer moves something');
      return sign(wallet.hotSigner, { ...transferCall(network, asset, to, amount), nonce, gas, fees });
    },

    async signNativeSweep({ index, balance: held, nonce, fees }) {
      const gas = PLAIN_TRANSFER_GAS;
      const cost = maxCost(gas, fees);
      const value = held - cost;
      if (value <= cost) return 'not_worth_it';
      return sign(wallet.depositSigner(index), {
        to: hotAddress as Hex,
        value,
        data: '0x',
        nonce,
        gas,
        fees,
      });
    },

    async signTokenSweep({ asset, index, amount, nonce, authorizationNonce, gas, fees }) {
      const contract = contractOf(network, asset);
      invariant(contract !== undefined && amount > 0n, 'a token sweep moves tokens');
      const data = await receiveCall(wallet.depositSigner(index), await domainOf(contract), {
        to: hotAddress,
        amount,
        nonce: hash.parse(authorizationNonce) as Hex,
      });
      return sign(wallet.hotSigner, { to: contract as Hex, value: 0n, data, nonce, gas, fees });
    },

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    async nonce(owner, at) {
      const method = 'eth_getTransactionCount';
      return read(count, await rpc.call(method, [owner, at]), method);
    },

    async finalizedHeight() {
      const method = 'eth_getBlockByNumber';
      return read(header, await rpc.call(method, ['finalized', false]), method).number;
    },

    findByNonce: (owner, nonce, from, to) => findByNonce(rpc, owner, nonce, from, to),

    close: () => rpc.close(),
  };
}

type TransactionCall = { to: Hex; value: bigint; data: Hex };
type Unsigned = TransactionCall & { nonce: number; gas: bigint; fees: EvmFees };

function transferCall(network: EvmNetwork, asset: AssetSymbol, to: string, amount: bigint): TransactionCall {
  const recipient = checkAddress(to) as Hex | undefined;
  if (recipient === undefined) throw new Error(`${to} is no address`);
  const contract = contractOf(network, asset);
  if (contract === undefined) return { to: recipient, value: amount, data: '0x' };
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [recipient, amount] });
  return { to: contract as Hex, value: 0n, data };
}

async function gasPrice(rpc: Rpc): Promise<{ baseFeePerGas: bigint; tip: bigint }> {
  const [latest, suggested] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ]);
  const { baseFeePerGas } = read(feeHeader, answered(latest), 'eth_getBlockByNumber');
  // Not every node has an opinion.
  const tip = suggested instanceof RpcRefused ? 0n : read(units256, suggested, 'eth_maxPriorityFeePerGas');
  return { baseFeePerGas, tip };
}

/** The base fee can double in six full blocks and the transaction still gets in. */
export function feesFor(chain: EvmChain, baseFeePerGas: bigint, suggestedTip: bigint): EvmFees {
  const { tipFloor, tipCap, feeCap } = feeLimits[chain];
  const maxPriorityFeePerGas = within(tipFloor, suggestedTip, tipCap);
  const maxFeePerGas = within(maxPriorityFeePerGas, 2n * baseFeePerGas + maxPriorityFeePerGas, feeCap);
  return { maxFeePerGas, maxPriorityFeePerGas };
}

function within(floor: bigint, value: bigint, cap: bigint): bigint {
  if (value < floor) return floor;
  return value > cap ? cap : value;
}

/** The gas to give a transfer, with headroom; `reverts` also when it would need too much. */
async function estimate(
  rpc: Rpc,
  from: string,
  { to, value, data }: TransactionCall,
): Promise<bigint | 'reverts'> {
  const call = { from, to, value: toHex(value), data };
  const isNative = data === '0x';
  const [gasAnswer, resultAnswer, plainAnswer] = await rpc.batch([
    { method: 'eth_estimateGas', params: [call, 'latest'] },
    { method: 'eth_call', params: [call, 'latest'] },
    // The transfer as it would be signed: nodes say "a plain transfer" of any address without code, also of a
    // precompiled contract, which runs out of gas then and takes the fee for nothing.
    ...(isNative
      ? [{ method: 'eth_call', params: [{ ...call, gas: toHex(PLAIN_TRANSFER_GAS) }, 'latest'] }]
      : []),
  ]);
  if (isRevert(gasAnswer) || isRevert(resultAnswer)) return 'reverts';
  const gas = read(units256, answered(gasAnswer), 'eth_estimateGas');
  const result = read(bytes, answered(resultAnswer), 'eth_call');
  // A token may also say no by returning false, and would take the fee for nothing.
  if (!isNative && /^0x0{64}$/.test(result)) return 'reverts';
  if (gas > (isNative ? NATIVE_TRANSFER_GAS_MAX : TOKEN_TRANSFER_GAS_MAX)) return 'reverts';
  if (isNative && gas === PLAIN_TRANSFER_GAS) {
    if (isRevert(plainAnswer)) return 'reverts';
    read(bytes, answered(plainAnswer), 'eth_call');
    return gas;
  }
  const withHeadroom = gas + (gas * GAS_HEADROOM_PERCENT) / 100n;
  // The code may burn in the block whatever it is given, also where it took little when it was estimated.
  return isNative ? within(0n, withHeadroom, NATIVE_TRANSFER_GAS_MAX) : withHeadroom;
}

/** Only what a node says when the called code itself failed; anything else is about the node, or about us. */
function isRevert(answer: unknown): boolean {
  if (!(answer instanceof RpcRefused)) return false;
  return (
    answer.code === 3 ||
    /revert|EVM error|opcode|out ?of ?gas|gas required exceeds|stack (under|over)flow|invalid ?jump|VM execution/i.test(
      answer.message,
    )
  );
}

/** Codes nodes use when it is the transaction they refuse, as against having trouble of their own. */
const REFUSES_TRANSACTION = new Set([-32_000, -32_003, -32_010, -32_602]);

async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Nothing that is not even hexadecimal was ever signed here; no node has to be asked.
  if (!bytes.safeParse(raw).success || raw.length < 4) return 'rejected';
  const txHash = keccak256(raw as Hex);
  try {
    const answer = read(hash, await rpc.call('eth_sendRawTransaction', [raw]), 'eth_sendRawTransaction');
    return answer === txHash ? 'accepted' : 'unknown';
  } catch (error) {
    if (!(error instanceof RpcRefused)) return 'unknown';
    if (/already ?(known|imported)|known transaction|existing tx with same hash/i.test(error.message)) {
      return 'accepted';
    }
    // "Nonce too low", say, is what a node answers when this very transaction is mined.
    const has = await isKnown(rpc, txHash);
    if (has === 'unknown') return 'unknown';
    if (has) return 'accepted';
    return REFUSES_TRANSACTION.has(error.code) ? 'rejected' : 'unknown';
  }
}

async function isKnown(rpc: Rpc, txHash: string): Promise<boolean | 'unknown'> {
  try {
    const answer = await rpc.call('eth_getTransactionByHash', [txHash]);
    return read(known, answer, 'eth_getTransactionByHash') !== null;
  } catch {
    return 'unknown';
  }
}

async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const [receiptAnswer, knownAnswer, headAnswer] = await rpc.batch([
    { method: 'eth_getTransactionReceipt', params: [txHash] },
    { method: 'eth_getTransactionByHash', params: [txHash] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const mined = read(receipt.nullable(), answered(receiptAnswer), 'eth_getTransactionReceipt');
  if (mined === null) {
    const transaction = read(known, answered(knownAnswer), 'eth_getTransactionByHash');
    return { state: transaction === null ? 'absent' : 'pending' };
  }
  const head = read(header, answered(headAnswer), 'eth_getBlockByNumber');
  const answer = await rpc.call('eth_getBlockByNumber', [toHex(mined.blockNumber), false]);
  const canonical = read(header.nullable(), answer, 'eth_getBlockByNumber');
  // The receipt of a block that is no longer in the chain: neither mined nor gone, the next question will tell.
  if (canonical?.hash !== mined.blockHash) return { state: 'pending' };
  return {
    state: 'mined',
    height: mined.blockNumber,
    blockHash: mined.blockHash,
    confirmations: Math.max(0, head.number - mined.blockNumber + 1),
    succeeded: mined.status === '0x1',
    feePaid: feeOf(mined) as Units,
  };
}

async function findByNonce(
  rpc: Rpc,
  owner: string,
  nonce: number,
  fromHeight: number,
  toHeight: number,
): Promise<Placed | undefined> {
  const method = 'eth_getBlockByNumber';
  for (let from = fromHeight; from <= toHeight; from += BLOCKS_TOGETHER) {
    const heights = Array.from(
      { length: Math.min(BLOCKS_TOGETHER, toHeight - from + 1) },
      (_, i) => from + i,
    );
    const answers = await rpc.batch(
      heights.map((height) => ({ method, params: [toHex(height), true] })),
      BLOCKS_TIMEOUT_MS,
    );
    for (const [i, answer] of answers.entries()) {
      const block = read(fullBlock.nullable(), answered(answer), method);
      // A block that was not read may be the one: what comes after it proves nothing.
      if (block === null || block.number !== heights[i])
        throw new RpcUnavailable(method, `no block ${heights[i]}`);
      const found = block.transactions.find((one) => one.from === owner && one.nonce === nonce);
      if (found !== undefined) return { txHash: found.hash, height: block.number, blockHash: block.hash };
    }
  }
  return undefined;
}
