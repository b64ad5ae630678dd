import { RpcRefused } from '@quittance/chains/json-rpc';
import type { EvmSettings } from '@quittance/chains/settings';
import { Secret } from '@quittance/shared/secret';
import { startScriptedNode } from './scripted-node.ts';

const hex = (value: bigint | number): string => `0x${value.toString(16)}`;
/** Transfer(address,address,uint256) */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;

type MinedTransaction = {
  to: string;
  value: bigint;
  succeeded: boolean;
  height: number;
  /** Of tokens; `data` when it is not the amount. */
  logs?: { contract: string; to: string; amount: bigint; data?: string }[];
};

/** What reconciliation asks an Ethereum node, answered as a test says. */
export class ScriptedEvmNode {
  /** By height; the highest is the newest. */
  readonly blocks = new Map<number, string>();
  readonly balances = new Map<string, bigint>();
  /** By address: how many nonces it has used. */
  readonly nonces = new Map<string, number>();
  /** By hash; each cost 20. */
  readonly mined = new Map<string, MinedTransaction>();
  /** Hashes of transactions that it still knows, without what became of them. */
  readonly pruned = new Set<string>();
  /** The address or hash of each question about a balance or a receipt, in their order. */
  asked: string[] = [];
  /** The hash of the block that each question about a balance named. */
  askedAt: unknown[] = [];
  /** Called before each answer. */
  before: (method: string) => unknown = () => undefined;
  /** One node of many has not seen the block that another one names. */
  knowsBlocks = true;
  stop: () => Promise<void> = async () => undefined;

  /** @returns the settings of an Ethereum that has no other node. */
  async start(): Promise<EvmSettings> {
    const { url, stop } = await startScriptedNode((method, params) => this.#answer(method, params));
    this.stop = stop;
    return { kind: 'evm', chain: 'ethereum', rpcUrls: [new Secret(url)], chainId: 1 };
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    this.before(method);
    const [first, second] = params;
    const subject = String(first);
    const mined = this.mined.get(subject);
    switch (method) {
      case 'eth_getBlockByNumber': {
        const newest = Math.max(-1, ...this.blocks.keys());
        // eslint-disable-next-line no-restricted-syntax -- a height
        const height = subject === 'latest' ? newest : Number(subject);
        const hash = this.blocks.get(height);
        return hash === undefined ? null : { hash, number: hex(height), transactions: [] };
      }
      case 'eth_getBalance': {
        this.asked.push(subject);
        const isOfABlock = typeof second === 'object';
        this.askedAt.push((second as { blockHash?: string }).blockHash);
        if (isOfABlock && !this.knowsBlocks) return new RpcRefused(method, -32_000, 'header not found');
        return hex(this.balances.get(subject) ?? 0n);
      }
      case 'eth_getTransactionCount':
        return hex(this.nonces.get(subject) ?? 0);
      case 'eth_getTransactionReceipt':
        this.asked.push(subject);
        if (mined === undefined || this.pruned.has(subject)) return null;
        return {
          status: mined.succeeded ? '0x1' : '0x0',
          blockNumber: hex(mined.height),
          gasUsed: hex(10),
          effectiveGasPrice: hex(2),
          logs: (mined.logs ?? []).map(({ contract, to, amount, data = word(amount) }) => ({
            address: contract,
            topics: [TRANSFER, word(0n), `0x${to.slice(2).padStart(64, '0')}`],
            data,
          })),
        };
      case 'eth_getTransactionByHash':
        if (mined === undefined) return null;
        return { to: mined.to, value: hex(mined.value), blockNumber: hex(mined.height) };
      default:
        return new RpcRefused(method, -32_601, `no ${method}`);
    }
  }
}
