import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Hex } from 'viem';
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import { z } from 'zod';
import {
  type Broadcast,
  type EvmSender,
  type HotWallet,
  type Inclusion,
  type TokenDomain,
  type TransactionStatus,
  within,
} from '../chain.ts';
import { ask, askEach, broadcastOnce, type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { readTokenDomain } from './authorization.ts';
import { estimate, feesFor, gasPrice, PLAIN_TRANSFER_GAS } from './cost.ts';
import { checkNetwork, contractOf, type EvmNetwork, tokensOf } from './network.ts';
import { address, bytes, count, feeFields, feeOf, hash, header, toHex, units256 } from './rpc.ts';
import { transferCall } from './transfer.ts';

/** For the order of a token sweep: 61k with the test token, under 100k with USD Coin behind its proxy. */
export const TOKEN_SWEEP_GAS = 150_000n;

/** A transfer of USD Coin to an address that had none. More is rare. */
const TYPICAL_TOKEN_GAS = 65_000n;

const abi = parseAbi(['function balanceOf(address owner) view returns (uint256)']);

/** Full blocks are large: as many as one answer may comfortably hold. */
const BLOCKS_TOGETHER = 8;
const BLOCKS_TIMEOUT_MS = 20_000;

const known = z.object({ hash }).nullable();
const receipt = z.object({
  blockNumber: count,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
});
const fullBlock = header.extend({ transactions: z.array(z.object({ hash, from: address, nonce: count })) });

/** Codes with which nodes refuse a transaction, not codes of their own failures. */
const REFUSES_TRANSACTION = new Set([-32_000, -32_003, -32_010, -32_602]);
const KNOWN_ALREADY = /already ?(known|imported)|known transaction|existing tx with same hash/i;

export type EvmSenderParts = EvmNetwork & { rpc: Rpc; wallet: HotWallet };

/** Sends through a node of Ethereum or of any chain like it. Closes the connection it was given. */
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
      return (await ask(rpc, units256, 'eth_getBalance', [owner, 'latest'])) as Units;
    }
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner as Hex] });
    return (await ask(rpc, units256, 'eth_call', [{ to: contract, data }, 'latest'])) as Units;
  }

  return {
    chain: network.chain,
    hotAddress,
    balance,

    async check() {
      await checkNetwork(rpc, network);
      for (const contract of tokensOf(network).keys()) await domainOf(contract);
    },

    async fees() {
      const { baseFeePerGas, tip } = await gasPrice(rpc);
      return feesFor(network.chain, baseFeePerGas, tip);
    },

    async estimatedFee(asset) {
      const gas = contractOf(network, asset) === undefined ? PLAIN_TRANSFER_GAS : TYPICAL_TOKEN_GAS;
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

    async tokenDomain(asset) {
      const contract = contractOf(network, asset);
      invariant(contract !== undefined, `${asset} is a token`);
      return await domainOf(contract);
    },

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    nonce: (owner, at) => ask(rpc, count, 'eth_getTransactionCount', [owner, at]),

    async finalizedHeight() {
      return (await ask(rpc, header, 'eth_getBlockByNumber', ['finalized', false])).number;
    },

    async newestBlock() {
      return (await ask(rpc, header, 'eth_getBlockByNumber', ['latest', false])).hash;
    },

    findByNonce: (owner, nonce, from, to) => findByNonce(rpc, owner, nonce, from, to),

    close: () => rpc.close(),
  };
}

async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  // Bytes that are not even hexadecimal were never signed here, so no node has to be asked.
  if (!bytes.safeParse(raw).success || raw.length < 4) return 'rejected';
  const txHash = keccak256(raw as Hex);
  return await broadcastOnce({
    txHash,
    send: () => ask(rpc, hash, 'eth_sendRawTransaction', [raw]),
    isKnown: async () => (await ask(rpc, known, 'eth_getTransactionByHash', [txHash])) !== null,
    refusals: REFUSES_TRANSACTION,
    saysKnown: ({ message }) => KNOWN_ALREADY.test(message),
  });
}

async function status(rpc: Rpc, txHash: string): Promise<TransactionStatus> {
  const [receiptAnswer, knownAnswer, headAnswer] = await rpc.batch([
    { method: 'eth_getTransactionReceipt', params: [txHash] },
    { method: 'eth_getTransactionByHash', params: [txHash] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const mined = read(receipt.nullable(), receiptAnswer, 'eth_getTransactionReceipt');
  if (mined === null) {
    const transaction = read(known, knownAnswer, 'eth_getTransactionByHash');
    return { state: transaction === null ? 'absent' : 'pending' };
  }
  const head = read(header, headAnswer, 'eth_getBlockByNumber');
  const place = [toHex(mined.blockNumber), false];
  const canonical = await ask(rpc, header.nullable(), 'eth_getBlockByNumber', place);
  // The receipt is of a block that is no longer in the chain: the next request shows whether it is mined again.
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
): Promise<Inclusion | undefined> {
  const method = 'eth_getBlockByNumber';
  const heights = Array.from({ length: toHeight - fromHeight + 1 }, (_, i) => fromHeight + i);
  const callFor = (height: number) => ({ method, params: [toHex(height), true] });
  const limits = { atOnce: BLOCKS_TOGETHER, timeoutMs: BLOCKS_TIMEOUT_MS };
  for await (const [height, answer] of askEach(rpc, heights, callFor, limits)) {
    const block = read(fullBlock.nullable(), answer, method);
    // A block that was not read may be the one: what comes after it proves nothing.
    if (block === null || block.number !== height) throw new RpcUnavailable(method, `no block ${height}`);
    const found = block.transactions.find((one) => one.from === owner && one.nonce === nonce);
    if (found !== undefined) return { txHash: found.hash, height, blockHash: block.hash };
  }
  return undefined;
}
