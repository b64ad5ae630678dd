import { request } from 'undici';
import { startRpcServer } from './rpc-server.ts';

type Call = { id: unknown; method: string; params: readonly [string, ...unknown[]] };
type Block = { number: string; hash: string; transactions: object[] };

/**
 * Stands before an Ethereum node and, when told to, says of what is in one block that it is in the next one as well. A node after a bad
 * reorganisation, or two nodes behind one balancer, say such things.
 */
export type RepeatingNode = {
  url: string;
  /** From now on the block after `height` has what `height` has. */
  repeat(height: number): void;
  tellTheTruth(): void;
  close(): Promise<void>;
};

const hex = (height: number) => `0x${height.toString(16)}`;

export async function startRepeatingNode(node: string): Promise<RepeatingNode> {
  let repeated: number | undefined;

  const forward = async (body: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    return await (await request(node, { method: 'POST', headers, body })).body.text();
  };
  const ask = async <T>(method: string, params: readonly unknown[]): Promise<T> =>
    (JSON.parse(await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as { result: T })
      .result;

  async function answer({ id, method, params }: Call): Promise<object> {
    const told = { jsonrpc: '2.0', id, result: await ask<unknown>(method, params) };
    if (repeated === undefined || params[0] !== hex(repeated + 1) || told.result === null) return told;
    const before = [hex(repeated), ...params.slice(1)];
    if (method === 'eth_getBlockByNumber') {
      const block = told.result as Block;
      const { transactions } = await ask<Block>(method, before);
      return { ...told, result: { ...block, transactions: [...transactions, ...block.transactions] } };
    }
    if (method !== 'eth_getBlockReceipts') return told;
    const { hash, number } = await ask<Block>('eth_getBlockByNumber', [params[0], false]);
    const receipts = (await ask<object[]>(method, before)).map((one) => ({
      ...one,
      blockHash: hash,
      blockNumber: number,
    }));
    return { ...told, result: [...receipts, ...(told.result as object[])] };
  }

  const says = async (body: string): Promise<string> => {
    if (repeated === undefined) return await forward(body);
    const calls = JSON.parse(body) as Call | Call[];
    return JSON.stringify(await (Array.isArray(calls) ? Promise.all(calls.map(answer)) : answer(calls)));
  };

  const { host, close } = await startRpcServer(says);
  return {
    url: `http://${host}`,
    repeat(height) {
      repeated = height;
    },
    tellTheTruth() {
      repeated = undefined;
    },
    close,
  };
}
