import { assetSymbols, type Chain, type ChainKind, chainKinds } from '@quittance/shared/assets';
import {
  BITCOIN_FEE_MAX,
  FEE_TIMES_MAX,
  GAS_MAX,
  PRIORITY_FEE_CAP,
  PRIORITY_FEE_TIMES_MAX,
} from '@quittance/shared/fee-ceilings';
import { type Units, units } from '@quittance/shared/money';
import { assertNever, invariant } from '@quittance/shared/result';
import { z } from 'zod';
import type { BitcoinSigner } from './bitcoin/signer.ts';
import type { Spend } from './bitcoin/spend.ts';
import { branches } from './bitcoin/wallet.ts';
import type { NativeSweepOrder, SignedTransaction, TokenSweepOrder, TransferOrder } from './chain.ts';
import { feeLimits } from './evm/cost.ts';
import type { EvmChain } from './evm/network.ts';
import type { EvmSigner } from './evm/signer.ts';
import type { SolanaSigner } from './solana/signer.ts';
import type {
  SolanaNativeSweepOrder,
  SolanaTokenSweepOrder,
  SolanaTransferOrder,
} from './solana/transaction.ts';

/** `address`: that of the index, as who gives out addresses has it. Another one is not signed for. */
type FromDeposit = { address: string };

type Orders = {
  bitcoin: { is: 'spend' } & Spend;
  evm:
    | ({ is: 'transfer' } & TransferOrder)
    | ({ is: 'native_sweep' } & NativeSweepOrder & FromDeposit)
    | ({ is: 'token_sweep' } & TokenSweepOrder & FromDeposit);
  solana:
    | ({ is: 'transfer' } & SolanaTransferOrder)
    | ({ is: 'native_sweep' } & SolanaNativeSweepOrder & FromDeposit)
    | ({ is: 'token_sweep' } & SolanaTokenSweepOrder & FromDeposit);
};
/** What is signed on a kind of chain, complete. `hot`: the wallet that it is meant for. */
export type SigningOrder<K extends ChainKind = ChainKind> = { [Kind in K]: Orders[Kind] }[K] & {
  hot: string;
};

/** A signed transaction, on Bitcoin with its change. */
export type Signature = SignedTransaction & {
  bitcoin?:
    | {
        fee: Units;
        virtualBytes: number;
        /** Which output is the change, and its address; null without change. */
        change: { output: number; address: string } | null;
      }
    | undefined;
};

type Signers = { bitcoin: BitcoinSigner; evm: EvmSigner; solana: SolanaSigner };

const amount = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(units);
const integer = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);
const count = z.int().min(0);
const asset = z.enum(assetSymbols);
const hot = z.string();
const ofDeposit = { index: count, address: z.string() };
const recipient = { asset, to: z.string(), amount };

const fees = z.object({ maxFeePerGas: integer, maxPriorityFeePerGas: integer });
const gas = { nonce: count, gas: integer, fees };
const hexAddress = z.templateLiteral(['0x', z.string()]);
const domain = z.object({
  name: z.string(),
  version: z.string(),
  chainId: count,
  verifyingContract: hexAddress,
});

const lifetime = z.object({ blockhash: z.string(), lastValidBlockHeight: count });
const solanaTerms = { lifetime, priorityFee: integer };
const tokenAccounts = z.array(z.object({ address: z.string(), amount }));

const forms: { readonly [K in ChainKind]: z.ZodType<SigningOrder<K>> } = {
  bitcoin: z.object({
    is: z.literal('spend'),
    hot,
    utxos: z.array(
      z.object({
        outpoint: z.string().regex(/^[^:]+:\d{1,10}$/),
        branch: z.enum(branches),
        index: count,
        amount,
        address: z.string().optional(),
      }),
    ),
    recipients: z.array(z.object({ to: z.string(), amount })),
    change: z.object({ index: count, amount }).nullable(),
    fee: amount,
  }),
  evm: z.discriminatedUnion('is', [
    z.object({ is: z.literal('transfer'), hot, ...recipient, ...gas }),
    z.object({ is: z.literal('native_sweep'), hot, ...ofDeposit, balance: amount, nonce: count, fees }),
    z.object({
      is: z.literal('token_sweep'),
      hot,
      ...ofDeposit,
      ...gas,
      asset,
      amount,
      authorizationNonce: z.string(),
      domain,
    }),
  ]),
  solana: z.discriminatedUnion('is', [
    z.object({ is: z.literal('transfer'), hot, ...recipient, ...solanaTerms, tokenAccountRent: amount }),
    z.object({
      is: z.literal('native_sweep'),
      hot,
      ...ofDeposit,
      ...solanaTerms,
      balance: amount,
      feeFrom: z.enum(['hot', 'deposit']),
    }),
    z.object({
      is: z.literal('token_sweep'),
      hot,
      ...ofDeposit,
      ...solanaTerms,
      asset,
      accounts: tokenAccounts,
      tokenAccountRent: amount,
    }),
  ]),
};

const signatureForm: z.ZodType<Signature> = z.object({
  raw: z.string(),
  txHash: z.string(),
  maxCost: amount,
  bitcoin: z
    .object({
      fee: amount,
      virtualBytes: count,
      change: z.object({ output: count, address: z.string() }).nullable(),
    })
    .optional(),
});

/** JSON in which bigints are texts. */
export const wireText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));

/** As JSON: what is a bigint here is a text there. */
export const toWire = (value: SigningOrder | Signature): unknown => JSON.parse(wireText(value));

/** An order from JSON. Throws ZodError when it is none of that kind of chain. */
export const readOrder = <K extends ChainKind>(kind: K, wire: unknown): SigningOrder<K> =>
  forms[kind].parse(wire);

/** A signature from JSON. Throws ZodError when it is none. */
export const readSignature = (wire: unknown): Signature => signatureForm.parse(wire);

/** Signs an order that is complete. Asks no node. */
export async function signOrder<K extends ChainKind>(
  kind: K,
  signer: Signers[K],
  order: SigningOrder<K>,
): Promise<Signature> {
  // That a kind, its signer and its order belong together is lost on the compiler where the kind is not known.
  const given = { kind, signer, order } as {
    [Kind in ChainKind]: { kind: Kind; signer: Signers[Kind]; order: SigningOrder<Kind> };
  }[ChainKind];
  switch (given.kind) {
    case 'bitcoin':
      return signBitcoin(given.signer, given.order);
    case 'evm':
      return signEvm(given.signer, given.order);
    case 'solana':
      return signSolana(given.signer, given.order);
  }
}

async function signBitcoin(signer: BitcoinSigner, order: SigningOrder<'bitcoin'>): Promise<Signature> {
  const { raw, txHash, maxCost, fee, virtualBytes, changeOutput } = await signer.signSpend(order);
  const change =
    order.change === null || changeOutput === null
      ? null
      : { output: changeOutput, address: signer.addresses.address('change', order.change.index) };
  return { raw, txHash, maxCost, bitcoin: { fee, virtualBytes, change } };
}

async function signEvm(signer: EvmSigner, order: SigningOrder<'evm'>): Promise<Signature> {
  switch (order.is) {
    case 'transfer':
      return signer.signTransfer(order);
    case 'native_sweep': {
      const signed = await signer.signNativeSweep(order);
      invariant(signed !== 'not_worth_it', 'a sweep brings more than it costs');
      return signed;
    }
    case 'token_sweep':
      return signer.signTokenSweep(order);
    default:
      return assertNever(order);
  }
}

async function signSolana(signer: SolanaSigner, order: SigningOrder<'solana'>): Promise<Signature> {
  const signed = await (order.is === 'transfer'
    ? signer.signTransfer(order)
    : order.is === 'native_sweep'
      ? signer.signNativeSweep(order)
      : signer.signTokenSweep(order));
  const { raw, txHash, maxCost } = signed;
  return { raw, txHash, maxCost };
}

/** Whether an order offers a higher fee than ever is asked for on its chain: who wants it signed wants to waste money. */
export function isFeeTooHigh(chain: Chain, order: SigningOrder): boolean {
  if (order.is === 'spend') return order.fee > BITCOIN_FEE_MAX;
  if ('priorityFee' in order) return order.priorityFee > PRIORITY_FEE_TIMES_MAX * PRIORITY_FEE_CAP;
  invariant(chainKinds[chain] === 'evm', 'an order with gas is of an EVM chain');
  const { feeCap } = feeLimits[chain as EvmChain];
  return order.fees.maxFeePerGas > FEE_TIMES_MAX * feeCap || ('gas' in order && order.gas > GAS_MAX);
}

/** The addresses and outputs in an order whose keys are not in this wallet: what it would sign could not be mined. */
export function foreignParts<K extends ChainKind>(
  kind: K,
  signer: Signers[K],
  order: SigningOrder<K>,
): string[] {
  const { hotAddress } = signer.addresses;
  if (order.hot !== hotAddress) return [order.hot];
  if (kind === 'bitcoin') {
    const { utxos } = order as SigningOrder<'bitcoin'>;
    const { address: derived } = (signer as BitcoinSigner).addresses;
    return utxos.flatMap(({ outpoint, branch, index, address }) =>
      address === undefined || derived(branch, index) === address ? [] : [outpoint],
    );
  }
  const ofAccount = order as SigningOrder<'evm' | 'solana'>;
  if (ofAccount.is === 'transfer') return [];
  const { depositAddress } = (signer as EvmSigner | SolanaSigner).addresses;
  return depositAddress(ofAccount.index) === ofAccount.address ? [] : [ofAccount.address];
}
