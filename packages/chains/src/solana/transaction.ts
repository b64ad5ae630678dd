import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageComputeUnitPrice,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import type { SignedTransaction } from '../chain.ts';
import type { TokenAccount } from './accounts.ts';
import { mintOf, type SolanaNetwork } from './network.ts';
import { TOKEN_PROGRAM } from './rpc.ts';
import { checkAddress, type SolanaKeyPair } from './wallet.ts';

/** Lamports for each signature of a transaction. */
const SIGNATURE_FEE = 5_000n;
const MICRO = 1_000_000n;
/** 450 are used, of which 300 by the two instructions that name limit and price. */
const TRANSFER_UNITS = 1_000;
/** Opening the account takes up to 60,000, depending on how long its address has to be searched for. */
const TOKEN_UNITS = 100_000;
const UNITS_PER_TOKEN_ACCOUNT = 10_000;
/** A transaction has 1,232 bytes, and each account takes some 50 of them. */
export const SWEPT_ACCOUNTS_MAX = 10;

/** How long a transaction can be mined: up to that block height, and no more once a finalized block is above it. */
export type Lifetime = { blockhash: string; lastValidBlockHeight: number };

/** What every order has beside what it moves. The priority fee is in millionths of a lamport per compute unit. */
type FeeAndLifetime = { lifetime: Lifetime; priorityFee: bigint };

export type SolanaTransferOrder = FeeAndLifetime & {
  asset: AssetSymbol;
  to: string;
  amount: Units;
  /** Lamports that opening a token account would take; not used for the native asset. */
  tokenAccountRent: Units;
};

/** All native money of a deposit address to the hot wallet. */
export type SolanaNativeSweepOrder = FeeAndLifetime & {
  index: number;
  balance: Units;
  /** Who pays the fee: the hot wallet, or the deposit out of what it brings. */
  feeFrom: 'hot' | 'deposit';
};

/** Tokens of a deposit address, out of all its accounts, to the hot wallet, which pays. */
export type SolanaTokenSweepOrder = FeeAndLifetime & {
  asset: AssetSymbol;
  index: number;
  accounts: readonly TokenAccount[];
  tokenAccountRent: Units;
};

export type SolanaSigned = SignedTransaction & {
  /** The part of `maxCost` that opens an account, if it is not there. */
  rentMax: Units;
  validToHeight: number;
};

/** Instructions, the addresses that sign, of which the first pays the fee, and the most it can cost. */
export type SolanaPlan = FeeAndLifetime & {
  signers: readonly string[];
  units: number;
  rentMax: bigint;
  instructions: Instruction[];
};

const at = (address: string) => address as Address;
const signerAt = (address: string) => createNoopSigner(at(address));

/** The account in which `owner` is expected to hold tokens of `mint`: where wallets look and senders pay. */
export async function associatedAccount(owner: string, mint: string): Promise<string> {
  const [address] = await findAssociatedTokenPda({
    owner: at(owner),
    mint: at(mint),
    tokenProgram: at(TOKEN_PROGRAM),
  });
  return address;
}

/** A payment from the hot wallet. A node is asked to try it, and a signer signs it. */
export async function transferPlan(
  network: SolanaNetwork,
  hot: string,
  order: SolanaTransferOrder,
): Promise<SolanaPlan> {
  const { asset, to, amount } = order;
  invariant(amount > 0n, 'a transfer moves something');
  if (checkAddress(network, to) === undefined) throw new Error(`${to} is no address that can be paid`);
  const mint = mintOf(network, asset);
  return mint === undefined ? nativeTransfer(hot, to, amount, order) : await tokenTransfer(hot, mint, order);
}

function nativeTransfer(from: string, to: string, amount: bigint, terms: FeeAndLifetime): SolanaPlan {
  return {
    ...terms,
    signers: [from],
    units: TRANSFER_UNITS,
    rentMax: 0n,
    instructions: [getTransferSolInstruction({ source: signerAt(from), destination: at(to), amount })],
  };
}

export function nativeSweep(hot: string, deposit: string, order: SolanaNativeSweepOrder): SolanaPlan {
  if (order.feeFrom === 'hot') {
    const swept = nativeTransfer(deposit, hot, order.balance, order);
    return { ...swept, signers: [hot, deposit] };
  }
  // Without a priority fee: a lamport that was reserved for it and not charged would stay, and nothing may stay.
  const free = { lifetime: order.lifetime, priorityFee: 0n };
  const fee = feeOf(1, TRANSFER_UNITS, free.priorityFee);
  return nativeTransfer(deposit, hot, order.balance - fee, free);
}

async function tokenTransfer(
  from: string,
  mint: string,
  { to, amount, ...order }: SolanaTransferOrder,
): Promise<SolanaPlan> {
  const source = await associatedAccount(from, mint);
  const moved = { mint, owner: to, authority: from, accounts: [{ address: source, amount }] };
  return await tokenPlan({ ...order, ...moved, signers: [from], units: TOKEN_UNITS });
}

export async function tokenSweep(
  hot: string,
  deposit: string,
  mint: string,
  { accounts, ...order }: SolanaTokenSweepOrder,
): Promise<SolanaPlan> {
  invariant(accounts.length > 0 && accounts.length <= SWEPT_ACCOUNTS_MAX, 'a sweep empties some accounts');
  const units = TOKEN_UNITS + accounts.length * UNITS_PER_TOKEN_ACCOUNT;
  const moved = { mint, owner: hot, authority: deposit, accounts };
  return await tokenPlan({ ...order, ...moved, signers: [hot, deposit], units });
}

type TokenMove = FeeAndLifetime & {
  asset: AssetSymbol;
  mint: string;
  /** Who is paid, out of which accounts of the authority. */
  owner: string;
  authority: string;
  accounts: readonly TokenAccount[];
  tokenAccountRent: Units;
  signers: readonly [payer: string, ...string[]];
  units: number;
};

/** Opens the recipient's account when it is not there; which it is, is only known when it is mined. */
async function tokenPlan(move: TokenMove): Promise<SolanaPlan> {
  const { lifetime, priorityFee, signers, units, tokenAccountRent } = move;
  const [owner, mint, authority] = [at(move.owner), at(move.mint), signerAt(move.authority)];
  const destination = at(await associatedAccount(owner, mint));
  const { decimals } = assets[move.asset];
  const payer = signerAt(signers[0]);
  return {
    lifetime,
    priorityFee,
    signers,
    units,
    rentMax: tokenAccountRent,
    instructions: [
      getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner, mint }),
      ...move.accounts.map(({ address, amount }) => {
        const source = at(address);
        return getTransferCheckedInstruction({ source, mint, destination, authority, amount, decimals });
      }),
    ],
  };
}

/** What the network takes for a transaction, in lamports: exactly that, whether it succeeds or not. */
export function feeOf(signatures: number, units: number, priorityFee: bigint): bigint {
  const priority = (BigInt(units) * priorityFee + MICRO - 1n) / MICRO;
  return BigInt(signatures) * SIGNATURE_FEE + priority;
}

export const feeOfPlan = ({ signers, units, priorityFee }: SolanaPlan): bigint =>
  feeOf(signers.length, units, priorityFee);

/** The lamports that each order takes, without rent. */
export function feesAt(priorityFee: bigint) {
  const fee = (signatures: number, units: number, price = priorityFee) =>
    feeOf(signatures, units, price) as Units;
  return {
    transfer: { native: fee(1, TRANSFER_UNITS), token: fee(1, TOKEN_UNITS) },
    sweep: {
      native: { hot: fee(2, TRANSFER_UNITS), deposit: fee(1, TRANSFER_UNITS, 0n) },
      token: fee(2, TOKEN_UNITS + SWEPT_ACCOUNTS_MAX * UNITS_PER_TOKEN_ACCOUNT),
    },
  };
}

function compile({ signers, units, priorityFee, instructions, lifetime }: SolanaPlan) {
  const payer = signers[0] as string;
  return compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(at(payer), message),
      (message) =>
        setTransactionMessageLifetimeUsingBlockhash(
          {
            blockhash: lifetime.blockhash as Blockhash,
            lastValidBlockHeight: BigInt(lifetime.lastValidBlockHeight),
          },
          message,
        ),
      (message) => setTransactionMessageComputeUnitLimit(units, message),
      (message) => setTransactionMessageComputeUnitPrice(priorityFee, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  );
}

/** The same plan gives the same bytes, as long as the keys give the same signatures. Asks only the keys of the plan's signers. */
export async function sign(plan: SolanaPlan, keyPairs: readonly SolanaKeyPair[]): Promise<SolanaSigned> {
  const compiled = compile(plan);
  const signatures = { ...compiled.signatures };
  for (const address of plan.signers) {
    const keyPair = keyPairs.find((one) => one.address === address);
    invariant(keyPair !== undefined, 'every signer is there');
    signatures[at(address)] = (await keyPair.sign(Uint8Array.from(compiled.messageBytes))) as SignatureBytes;
  }
  const signed = { ...compiled, signatures };
  return {
    raw: getBase64EncodedWireTransaction(signed),
    txHash: getSignatureFromTransaction(signed),
    maxCost: (feeOfPlan(plan) + plan.rentMax) as Units,
    rentMax: plan.rentMax as Units,
    validToHeight: plan.lifetime.lastValidBlockHeight,
  };
}

/** Without signatures, for a node to try: bytes that can never be mined. */
export const unsigned = (plan: SolanaPlan): string => getBase64EncodedWireTransaction(compile(plan));

/** The signature that names a signed transaction; undefined when these are not the bytes of one. */
export function hashOf(raw: string): string | undefined {
  try {
    const { signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(raw));
    const [first] = Object.values(signatures);
    return first == null ? undefined : getBase58Decoder().decode(first);
  } catch {
    return undefined;
  }
}
