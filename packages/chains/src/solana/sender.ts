import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { PRIORITY_FEE_CAP } from '@quittance/shared/fee-ceilings';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { getTokenSize } from '@solana-program/token';
import { z } from 'zod';
import { type ChainSender, type HotWallet, within } from '../chain.ts';
import { ask, type Rpc } from '../json-rpc.ts';
import { isUnpayable, type TokenAccount, tokensAt } from './accounts.ts';
import { broadcast, NEVER_SENT, simulate, status, statusOf } from './broadcast.ts';
import { checkNetwork, mintOf, type SolanaNetwork } from './network.ts';
import { nonInclusionSearch } from './non-inclusion.ts';
import { BLOCK_TIMEOUT_MS, base58, type Commitment, count, known, lamports, slotAt } from './rpc.ts';
import {
  associatedAccount,
  feeOfPlan,
  feesAt,
  type Lifetime,
  type SolanaPlan,
  type SolanaTransferOrder,
  SWEPT_ACCOUNTS_MAX,
  transferPlan,
} from './transaction.ts';

/** Below the floor a transaction waits behind others. */
const PRIORITY_FEE_FLOOR = 10_000n;
/** Of the prices of the last slots: most are paid by those in no hurry. */
const PRIORITY_FEE_PERCENTILE = 75;

/** Lamports that an account must hold to stay: one without data (a wallet), and one for tokens. */
export type Rents = { wallet: Units; tokenAccount: Units };

/** `included`: the node has a status of the transaction. `unproven`: the node cannot tell yet. */
export type NonInclusion = 'proven' | 'included' | 'unproven';

export type SolanaSender = ChainSender & {
  lifetime(): Promise<Lifetime>;
  /** The priority fee for one of the next blocks, in millionths of a lamport per compute unit. */
  priorityFee(): Promise<bigint>;
  rents(): Promise<Rents>;
  /**
   * Whether the hot wallet could pay this now: `refused` when it is the recipient that cannot be paid, now and
   * later. Throws when the hot wallet cannot pay it, or the node cannot tell.
   */
  tryTransfer(order: SolanaTransferOrder): Promise<'works' | 'refused'>;
  /** The accounts out of which a deposit address's tokens can be swept at once, richest first. */
  tokenAccounts(asset: AssetSymbol, owner: string): Promise<TokenAccount[]>;
  /**
   * The proof that a signed transaction can never be mined: it is in none of the finalized blocks from the slot that
   * was finalized when it was signed to the first above the last height it is valid at. Throws when the node does not have
   * all of these blocks, and StatusMissing when the transaction is in one all the same.
   */
  nonInclusion(
    txHash: string,
    lastValidBlockHeight: number,
    finalizedWhenSigned: number,
  ): Promise<NonInclusion>;
  /**
   * The finalized transactions that name the hot wallet, oldest first: the newest `limit` of those after `after`, or
   * after the beginning when that is null.
   */
  signatures(after: string | null, limit: number): Promise<string[]>;
  /** Whether the hot wallet's key has signed it. It is finalized. */
  isSignedByHot(txHash: string): Promise<boolean>;
};

const latestBlockhash = z.object({ value: z.object({ blockhash: base58, lastValidBlockHeight: count }) });
const prices = z.array(z.object({ prioritizationFee: z.number().int().nonnegative() }));
const balance = z.object({ value: lamports });
const epochInfo = z.object({ absoluteSlot: count, blockHeight: count });
const signatures = z.array(z.object({ signature: base58, confirmationStatus: z.string().nullish() }));
const signers = z.object({
  transaction: z.object({
    message: z.object({
      accountKeys: z.array(base58),
      header: z.object({ numRequiredSignatures: count }),
    }),
  }),
});

type SolanaSenderParts = { rpc: Rpc; network: SolanaNetwork; wallet: HotWallet };

/** Sends through a node of Solana. */
export function createSolanaSender({ rpc, network, wallet }: SolanaSenderParts): SolanaSender {
  const { hotAddress } = wallet;
  const assertNotIncluded = nonInclusionSearch(rpc);

  async function rentFor(bytes: number): Promise<Units> {
    return (await ask(rpc, lamports, 'getMinimumBalanceForRentExemption', [bytes])) as Units;
  }

  async function balanceOf(
    asset: AssetSymbol,
    owner: string,
    commitment: Commitment = 'finalized',
  ): Promise<Units> {
    const mint = mintOf(network, asset);
    if (mint === undefined) {
      const params = [owner, { commitment }];
      return (await ask(rpc, balance, 'getBalance', params, undefined, 'exact')).value as Units;
    }
    const accounts = await tokensAt(rpc, mint, owner, commitment);
    // Transfers leave the hot wallet's own account only; what is in others does not count as there.
    const own = owner === hotAddress ? await associatedAccount(owner, mint) : undefined;
    return accounts
      .filter(({ address }) => own === undefined || address === own)
      .reduce((sum, { amount }) => sum + amount, 0n) as Units;
  }

  /** Throws when the hot wallet has too little for a transfer, now or as of the last finalized block. */
  async function assertHotHas({ asset, amount }: SolanaTransferOrder, plan: SolanaPlan): Promise<void> {
    const cost = feeOfPlan(plan) + plan.rentMax + (await rentFor(0));
    const isNative = assets[asset].type === 'native';
    for (const commitment of ['confirmed', 'finalized'] as const) {
      const lamportsThere = await balanceOf('SOL', hotAddress, commitment);
      const there = isNative ? lamportsThere : await balanceOf(asset, hotAddress, commitment);
      if (lamportsThere >= (isNative ? cost + amount : cost) && there >= amount) continue;
      throw new Error(`the hot wallet has less ${asset} than it is to send`);
    }
  }

  async function priorityFee(): Promise<bigint> {
    const recent = await ask(rpc, prices, 'getRecentPrioritizationFees', [[hotAddress]]);
    return priorityFeeFor(recent.map((one) => one.prioritizationFee));
  }

  return {
    chain: 'solana',
    hotAddress,
    balance: (asset, owner) => balanceOf(asset, owner),

    async check() {
      await checkNetwork(rpc, network);
      // A node without history refuses this question, and could never prove a transaction dead.
      await statusOf(rpc, NEVER_SENT);
    },

    async lifetime() {
      const confirmed = [{ commitment: 'confirmed' }];
      return (await ask(rpc, latestBlockhash, 'getLatestBlockhash', confirmed)).value;
    },

    priorityFee,

    async rents() {
      const [walletRent, tokenAccount] = await Promise.all([rentFor(0), rentFor(getTokenSize())]);
      return { wallet: walletRent, tokenAccount };
    },

    async estimatedFee(asset) {
      const fee = feesAt(await priorityFee()).transfer[assets[asset].type];
      // Who is paid for the first time has no account yet.
      return (mintOf(network, asset) === undefined ? fee : fee + (await rentFor(getTokenSize()))) as Units;
    },

    async tryTransfer(order) {
      if (await isUnpayable(rpc, order.asset, order.to)) return 'refused';
      const plan = await transferPlan(network, hotAddress, order);
      const outcome = await simulate(rpc, plan);
      if (outcome === 'works') return 'works';
      if (outcome === 'payer') throw new Error('the hot wallet cannot pay this now');
      // A transfer of more than there is fails as well, and says nothing about the recipient.
      await assertHotHas(order, plan);
      // Once more: what was missing may have come between the two questions.
      return (await simulate(rpc, plan)) === 'works' ? 'works' : 'refused';
    },

    async tokenAccounts(asset, owner) {
      const mint = mintOf(network, asset);
      invariant(mint !== undefined, 'only tokens are in accounts of their own');
      return (await tokensAt(rpc, mint, owner)).slice(0, SWEPT_ACCOUNTS_MAX);
    },

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    async nonInclusion(txHash, lastValidBlockHeight, finalizedWhenSigned) {
      // What costs little first, in this order: what is found missing is missing from a chain that had come that far before. Slot and height in
      // one answer, because two may come from two nodes; the height alone as well, because one development node takes
      // no notice of `finalized` in the first question.
      const final = [{ commitment: 'finalized' }];
      const reached = await ask(rpc, epochInfo, 'getEpochInfo', final);
      const height = await ask(rpc, count, 'getBlockHeight', final);
      if (Math.min(reached.blockHeight, height) <= lastValidBlockHeight) return 'unproven';
      const { found, slot } = await statusOf(rpc, txHash);
      if (found !== null) return 'included';
      // An answer of a node behind a balancer that is not as far as the one before says nothing.
      if (slot < reached.absoluteSlot) return 'unproven';
      await assertNotIncluded(txHash, finalizedWhenSigned, lastValidBlockHeight);
      return 'proven';
    },

    async signatures(after, limit) {
      const config = { commitment: 'finalized', limit, ...(after === null ? {} : { until: after }) };
      const found = await ask(rpc, signatures, 'getSignaturesForAddress', [hotAddress, config]);
      return (
        found
          .filter(({ confirmationStatus }) => (confirmationStatus ?? 'finalized') === 'finalized')
          .map(({ signature }) => signature)
          // A development node (seen) lists what it was only asked to simulate. No chain takes what nobody signed.
          .filter((signature) => signature !== NEVER_SENT)
          .toReversed()
      );
    },

    async isSignedByHot(txHash) {
      const params = [txHash, known('finalized')];
      const { transaction } = await ask(rpc, signers, 'getTransaction', params, BLOCK_TIMEOUT_MS);
      const { accountKeys, header } = transaction.message;
      return accountKeys.slice(0, header.numRequiredSignatures).includes(hotAddress);
    },

    finalizedHeight: () => slotAt(rpc, 'finalized'),

    close: () => rpc.close(),
  };
}

export function priorityFeeFor(recent: readonly number[]): bigint {
  const sorted = recent.toSorted((a, b) => a - b);
  const price = BigInt(sorted[Math.floor((sorted.length * PRIORITY_FEE_PERCENTILE) / 100)] ?? 0);
  return within(PRIORITY_FEE_FLOOR, price, PRIORITY_FEE_CAP);
}
