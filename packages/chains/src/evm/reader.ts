import { nativeAsset } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import {
  type BalanceReader,
  type Block,
  blocksAfter,
  type ChainReader,
  type Head,
  type NativeDebit,
  type Payment,
  paymentOf,
} from '../chain.ts';
import { ask, type Rpc, read } from '../json-rpc.ts';
import { createBalanceReader } from './balances.ts';
import { checkNetwork, type EvmNetwork, tokensOf } from './network.ts';
import { address, bytes, count, feeFields, feeOf, hash, toHex, units256 } from './rpc.ts';

const BLOCK_TIMEOUT_MS = 20_000;
/** keccak256 of "Transfer(address,address,uint256)". */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const header = z.object({ number: count, hash, parentHash: hash, timestamp: count });
const transaction = z.object({ hash, from: address, to: address.nullish(), value: units256 });
const block = header.extend({ transactions: z.array(transaction) });
const log = z.object({
  address,
  topics: z.array(hash),
  data: bytes,
  removed: z.boolean().optional(),
});
const receipt = z.object({
  transactionHash: hash,
  blockHash: hash,
  status: z.enum(['0x0', '0x1']),
  ...feeFields,
  logs: z.array(log),
});
type RawBlock = z.infer<typeof block>;
type RawReceipt = z.infer<typeof receipt>;

export type EvmReaderParts = EvmNetwork & { rpc: Rpc };

/** Reads Ethereum, or any chain like it, from a node's JSON-RPC. It knows no key, and closes the connection it was given. */
export function createEvmReader({
  rpc,
  ...network
}: EvmReaderParts): ChainReader & { balances: BalanceReader } {
  const block = (height: number) => readBlock(rpc, network, height);

  return {
    chain: network.chain,

    check: (of) => checkNetwork(rpc, network, of),

    async head(): Promise<Head> {
      const latest = ['latest', false];
      const { number, hash, timestamp } = await ask(rpc, header, 'eth_getBlockByNumber', latest);
      return { height: number, hash, time: timeOf(timestamp) };
    },

    block,

    blocksAfter: (height, limit) => blocksAfter(block, height, limit),

    async hashAt(height) {
      const place = [toHex(height), false];
      return (await ask(rpc, header.nullable(), 'eth_getBlockByNumber', place))?.hash;
    },

    balances: createBalanceReader(rpc),

    close: () => rpc.close(),
  };
}

async function readBlock(rpc: Rpc, network: EvmNetwork, height: number): Promise<Block | undefined> {
  const [blockAnswer, receiptsAnswer] = await rpc.batch(
    [
      { method: 'eth_getBlockByNumber', params: [toHex(height), true] },
      { method: 'eth_getBlockReceipts', params: [toHex(height)] },
    ],
    BLOCK_TIMEOUT_MS,
  );
  const found = read(block.nullable(), blockAnswer, 'eth_getBlockByNumber');
  if (found === null) return undefined;
  const receipts = read(z.array(receipt).nullable(), receiptsAnswer, 'eth_getBlockReceipts');
  if (receipts === null || !areOf(found, receipts) || found.number !== height) return undefined;
  return {
    height,
    hash: found.hash,
    parentHash: found.parentHash,
    time: timeOf(found.timestamp),
    ...balanceChanges(found, receipts, network),
  };
}

const timeOf = (seconds: number): Date => new Date(seconds * 1000);

/** A node behind a balancer, or one that is just reorganising, may answer the two questions from two blocks. */
function areOf({ hash, transactions }: RawBlock, receipts: RawReceipt[]): boolean {
  return (
    receipts.length === transactions.length &&
    receipts.every(
      ({ blockHash, transactionHash }, i) => blockHash === hash && transactionHash === transactions[i]?.hash,
    )
  );
}

/** What the block changed, not what its transactions asked for: a failed one moves nothing but its fee. */
function balanceChanges(
  { transactions }: RawBlock,
  receipts: RawReceipt[],
  network: EvmNetwork,
): { payments: Payment[]; spends: NativeDebit[] } {
  const native = nativeAsset[network.chain];
  const tokens = tokensOf(network);
  const payments: Payment[] = [];
  const spends: NativeDebit[] = [];
  for (const [i, { hash: txHash, from, to, value }] of transactions.entries()) {
    const { status, logs, ...used } = receipts[i] as RawReceipt;
    const succeeded = status === '0x1';
    const fee = feeOf(used);
    spends.push({ txHash, address: from, amount: (succeeded ? value + fee : fee) as Units });
    if (!succeeded) continue;
    if (to != null && value > 0n) payments.push(paymentOf(txHash, 0, native, to, value));
    for (const [k, entry] of logs.entries()) {
      const asset = tokens.get(entry.address);
      const transfer = asset === undefined ? undefined : transferOf(entry);
      if (asset === undefined || transfer === undefined) continue;
      payments.push(paymentOf(txHash, 1 + k, asset, transfer.to, transfer.amount));
    }
  }
  return { payments, spends };
}

/** The Transfer event of ERC-20, exactly; anything else a contract may log is no payment. */
function transferOf({ topics, data, removed }: z.infer<typeof log>) {
  const [event, , to] = topics;
  if (removed === true || topics.length !== 3 || event !== TRANSFER || to === undefined) return undefined;
  if (!/^0x0{24}/.test(to) || data.length !== 2 + 64) return undefined;
  const amount = BigInt(data);
  return amount > 0n ? { to: `0x${to.slice(-40)}`, amount } : undefined;
}
