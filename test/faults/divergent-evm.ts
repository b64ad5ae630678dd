import { type Hex, keccak256 } from 'viem';
import type { DivergentProtocol, Left, Told } from './divergent-node.ts';

type Found = Record<string, unknown> | null;

/** How far behind the head a block is final: two epochs of a stack's node. */
const FINAL_AFTER = 8;
const STRAYED = 'deadbeef';
const hex = (height: number) => `0x${height.toString(16)}`;
// eslint-disable-next-line no-restricted-syntax -- a block's height
const heightOf = (text: unknown): number => Number(text);

/** The JSON-RPC of an EVM chain. */
export const evmProtocol: DivergentProtocol = {
  async heights(ask) {
    const at = heightOf((await ask('eth_blockNumber', [])).result);
    return { at, final: Math.max(0, at - FINAL_AFTER) };
  },

  async tell(left, method, params, ask, differs) {
    const now = heightOf((await ask('eth_blockNumber', [])).result);
    const top = left.how === 'lag' ? left.at : now;
    const [first, ...others] = params;
    const unlessBeyond = async (otherwise: unknown): Promise<Told> => {
      const told = await ask(method, params);
      if (!isBeyond(left, told.result as Found)) return told;
      differs();
      return { result: otherwise };
    };
    switch (method) {
      case 'eth_blockNumber':
        if (top < now) differs();
        return { result: hex(top) };
      case 'eth_getBlockByNumber': {
        const height = named(first, top);
        if (height > top || height < named(first, now)) differs();
        if (height > top) return { result: null };
        const told = await ask(method, [hex(height), ...others]);
        if (!isBeyond(left, told.result as Found)) return told;
        differs();
        return { result: asStrayed(left, told.result as Record<string, unknown>) };
      }
      case 'eth_getBlockByHash':
      case 'eth_getTransactionReceipt':
        return await unlessBeyond(null);
      case 'eth_getTransactionByHash': {
        const told = await ask(method, params);
        if (!isBeyond(left, told.result as Found)) return told;
        differs();
        const unseen = { blockHash: null, blockNumber: null, transactionIndex: null };
        return { result: { ...(told.result as object), ...unseen } };
      }
      case 'eth_getLogs': {
        const told = await ask(method, params);
        if (!Array.isArray(told.result)) return told;
        return { result: told.result.filter((one) => !isBeyond(left, one)) };
      }
      case 'eth_getBlockReceipts': {
        const told = await ask(method, params);
        if (!Array.isArray(told.result) || !isBeyond(left, told.result[0] ?? null)) return told;
        differs();
        return { result: [] };
      }
      case 'eth_getBalance':
      case 'eth_getTransactionCount':
      case 'eth_call': {
        const at = params.at(-1);
        // What waits in its pool it has heard of like everybody.
        if (typeof at !== 'string' || at === 'pending') return await ask(method, params);
        const asOf = Math.min(named(at, top), left.at);
        if (asOf < named(at, now)) differs();
        return await ask(method, [...params.slice(0, -1), hex(asOf)]);
      }
      default:
        return await ask(method, params);
    }
  },

  sends: 'eth_sendRawTransaction',
  nameOf: async (raw) => keccak256(raw as Hex),
  refusal: { code: -32_000, message: 'transaction underpriced' },

  unknown(method, [hash], { result }) {
    if (method !== 'eth_getTransactionByHash' || (result as Found)?.['blockNumber'] != null) return undefined;
    return { name: String(hash), says: { result: null } };
  },
};

const named = (tag: unknown, top: number): number =>
  tag === 'latest' || tag === 'pending'
    ? top
    : tag === 'finalized' || tag === 'safe'
      ? Math.max(0, top - FINAL_AFTER)
      : tag === 'earliest'
        ? 0
        : heightOf(tag);

function isBeyond({ at }: Left, found: Found): boolean {
  const height = found?.['blockNumber'] ?? found?.['number'];
  return height !== undefined && height !== null && heightOf(height) > at;
}

/** A block as the strayed node has it. */
function asStrayed({ at }: Left, block: Record<string, unknown>): Found {
  const other = (hash: unknown) => `${String(hash).slice(0, -STRAYED.length)}${STRAYED}`;
  const parent = block['parentHash'];
  return {
    ...block,
    hash: other(block['hash']),
    parentHash: heightOf(block['number']) - 1 > at ? other(parent) : parent,
    transactions: [],
  };
}
