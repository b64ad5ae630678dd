import { hash } from 'node:crypto';
import type { EvmFees, EvmSender, SignedTransaction, TokenDomain } from '@quittance/chains/chain';
import type { EvmSigner } from '@quittance/chains/evm/signer';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';

export const HOT = `0x${'a0'.repeat(20)}`;
export const DEPOSITS = `0x${'d0'.repeat(16)}`;
export const depositAddress = (index: number): string => `${DEPOSITS}${index.toString(16).padStart(8, '0')}`;
const DOMAIN: TokenDomain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: '0x' };
const GAS = { native: 21_000n, token: 65_000n } as const;

type Wire = {
  from: string;
  nonce: number;
  asset: AssetSymbol;
  /** Where the money comes from: `from`, except for a token sweep. */
  source: string;
  to: string;
  amount: bigint;
  gas: bigint;
  /** The offered fee per unit of gas. */
  fee: bigint;
};
export type Transaction = Wire & { hash: string; isOurs: boolean };
export type Mined = { transaction: Transaction; succeeded: boolean; feePaid: bigint };
export type MinedBlock = { height: number; hash: string; mined: Mined[] };

/** A signed transaction is its own text: JSON, with amounts as decimal text. */
export function signed(wire: Wire): SignedTransaction {
  const raw = JSON.stringify(wire, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return { raw, txHash: hashOf(raw), maxCost: units(wire.gas * wire.fee) };
}

const hashOf = (raw: string): string => `0x${hash('sha256', raw)}`;

export function parse(raw: string): Transaction {
  const wire = JSON.parse(raw) as Record<keyof Wire, string> & { nonce: number; asset: AssetSymbol };
  return {
    ...wire,
    amount: BigInt(wire.amount),
    gas: BigInt(wire.gas),
    fee: BigInt(wire.fee),
    hash: hashOf(raw),
    isOurs: true,
  };
}

/** Whether a node adds it to its mempool: in place of one with the same nonce only for a fee that is a tenth higher. */
export function addToPool(
  pool: Map<string, Transaction>,
  transaction: Transaction,
  nextNonce: number,
): boolean {
  const { from, nonce, fee } = transaction;
  if (nonce < nextNonce) return false;
  for (const other of pool.values()) {
    if (other.from !== from || other.nonce !== nonce) continue;
    if (fee * 10n < other.fee * 11n) return false;
    pool.delete(other.hash);
  }
  pool.set(transaction.hash, transaction);
  return true;
}

/** Signs with words in place of keys: the bytes show what was ordered. */
export const evmSigner: EvmSigner = {
  addresses: { hotAddress: HOT, depositAddress },
  signTransfer: async ({ asset, to, amount, nonce, gas, fees: { maxFeePerGas: fee } }) =>
    signed({ from: HOT, nonce, asset, source: HOT, to, amount, gas, fee }),
  signNativeSweep: async ({ index, balance, nonce, fees: { maxFeePerGas: fee } }) => {
    const maxFee = GAS.native * fee;
    if (balance <= 2n * maxFee) return 'not_worth_it';
    const from = depositAddress(index);
    const amount = balance - maxFee;
    return signed({ from, nonce, asset: 'ETH', source: from, to: HOT, amount, gas: GAS.native, fee });
  },
  signTokenSweep: async ({ asset, index, amount, nonce, gas, fees: { maxFeePerGas: fee } }) =>
    signed({ from: HOT, nonce, asset, source: depositAddress(index), to: HOT, amount, gas, fee }),
};

/** The parts of a chain in memory that its node shows to a sender. */
export type EvmView = {
  pool(): ReadonlyMap<string, Transaction>;
  /** Whether an estimate says that this recipient refuses a payment. */
  refuses(to: string): boolean;
  balance(asset: AssetSymbol, address: string): bigint;
  fees(): EvmFees;
  /** The usual fee per unit of gas. */
  usualFee(): bigint;
  height(): number;
  finalizedHeight(): number;
  newestBlock(): string;
  /** The next nonce of an address after the block at this height. */
  nonceAt(address: string, height: number): number;
  find(txHash: string): { block: MinedBlock; mined: Mined } | undefined;
  blocksBetween(from: number, to: number): Iterable<MinedBlock>;
};

/** A sender whose node answers from this view, each question through `ask`. Its owner decides what becomes of a broadcast. */
export function evmSender(
  view: EvmView,
  ask: <T>(what: string, give: () => T) => Promise<T> = async (_what, give) => give(),
): Omit<EvmSender, 'broadcast'> {
  return {
    chain: 'ethereum',
    hotAddress: HOT,
    check: () => ask('check', () => undefined),
    balance: (asset, address) => ask('balance', () => units(view.balance(asset, address))),
    estimatedFee: () => ask('usualCost', () => units(GAS.native * view.usualFee())),
    fees: () => ask('fees', view.fees),
    estimateTransfer: (asset, to, amount) =>
      ask('estimateTransfer', () => {
        if (view.balance(asset, HOT) < amount)
          throw new Error(`the hot wallet has less ${asset} than it is to send`);
        return view.refuses(to) ? 'reverts' : GAS[assets[asset].type];
      }),
    // It was read before: the node is not asked.
    tokenDomain: async () => DOMAIN,
    status: (txHash) =>
      ask('status', () => {
        const found = view.find(txHash);
        if (found === undefined) return { state: view.pool().has(txHash) ? 'pending' : 'absent' };
        return {
          state: 'mined',
          height: found.block.height,
          blockHash: found.block.hash,
          confirmations: view.height() - found.block.height + 1,
          succeeded: found.mined.succeeded,
          feePaid: units(found.mined.feePaid),
        };
      }),
    nonce: (address, at) =>
      ask('nonce', () => {
        if (at === 'finalized') return view.nonceAt(address, view.finalizedHeight());
        const waiting = [...view.pool().values()]
          .filter(({ from }) => from === address)
          .map(({ nonce }) => nonce + 1);
        return Math.max(view.nonceAt(address, view.height()), ...(at === 'pending' ? waiting : []));
      }),
    finalizedHeight: () => ask('finalizedHeight', view.finalizedHeight),
    newestBlock: () => ask('newestBlock', view.newestBlock),
    findByNonce: (address, nonce, from, to) =>
      ask('findByNonce', () => {
        for (const block of view.blocksBetween(from, to)) {
          const found = block.mined.find(
            ({ transaction }) => transaction.from === address && transaction.nonce === nonce,
          );
          if (found !== undefined)
            return { txHash: found.transaction.hash, height: block.height, blockHash: block.hash };
        }
        return undefined;
      }),
    close: async () => {},
  };
}
