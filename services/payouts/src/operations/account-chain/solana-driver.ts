import type { SigningOrder } from '@quittance/chains/signing';
import {
  feesAt,
  type Lifetime,
  type SolanaNativeSweepOrder,
  type SolanaTokenSweepOrder,
  type SolanaTransferOrder,
} from '@quittance/chains/solana/transaction';
import { assets } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { highestPriorityFee, priorityFeeOf } from '../../domain/solana/next-step.ts';
import { nativeToSweep, takeFrom, whoPays } from '../../domain/solana/sweeping.ts';
import type { SolanaPorts } from '../../ports.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';
import { historyOf, noteHistory, unknownHashes } from '../../store/wallets.ts';
import type { AccountChainDriver, ChainTerms } from './driver.ts';
import { reportMissing } from './sweep.ts';

/** How many transactions are signed with one lifetime, which is valid for about a minute. */
const LIFETIME_USES = 8;
const LIFETIME_SHARED_MS = 10_000;

/** What a transaction is signed from, beside its lifetime. */
type SolanaOrder = {
  /** It pays the fee. */
  wallet: string;
  /** What arrives. */
  amount: Units;
} & (
  | { transfer: Omit<SolanaTransferOrder, 'lifetime'> }
  | { nativeSweep: Omit<SolanaNativeSweepOrder, 'lifetime'> & { address: string } }
  | { tokenSweep: Omit<SolanaTokenSweepOrder, 'lifetime'> & { address: string } }
);

/** Solana: signed bytes are valid for about a minute, so the lifetime is asked for just before a signature. */
export const solanaDriver = (ports: SolanaPorts): AccountChainDriver<SolanaOrder> => ({
  canSign: async () => true,
  // Solana has no mempool: a transaction that no block includes within about a minute expires.
  mayCancel: async () => true,
  terms: () => termsNow(ports),
});

async function termsNow(ports: SolanaPorts): Promise<ChainTerms<SolanaOrder>> {
  const { sender, clock } = ports;
  const { hotAddress } = sender;
  const [priorityFee, rents] = [await sender.priorityFee(), await sender.rents()];
  const { transfer: transferFees } = feesAt(highestPriorityFee(priorityFee));
  const { sweep: sweepFees } = feesAt(priorityFee);
  const trialLifetime = briefly(clock, () => sender.lifetime());
  const signingTime = briefly(clock, async () => ({
    lifetime: await sender.lifetime(),
    finalHeightWhenSigned: await sender.finalizedHeight(),
  }));

  const transferFee: ChainTerms<SolanaOrder>['transferFee'] = (asset) => {
    const { type } = assets[asset];
    const fee = transferFees[type];
    // The fee may include opening the recipient's account.
    return units(type === 'token' ? fee + rents.tokenAccount : fee);
  };

  async function orderNativeSweep(
    unswept: UnsweptDeposits,
    hotFree: bigint,
  ): Promise<SolanaOrder | undefined> {
    const { asset, address, amount, derivationIndex: index } = unswept;
    const there = await sender.balance(asset, address);
    if (there < amount) return void reportMissing(ports, unswept, there);
    const feeFrom = whoPays(hotFree, there, rents.wallet, sweepFees.native);
    if (feeFrom === undefined) return undefined;
    const balance = nativeToSweep(there, amount, rents.wallet);
    const arrives = units(feeFrom === 'hot' ? balance : balance - sweepFees.native.deposit);
    if (arrives <= sweepFees.native[feeFrom]) return undefined;
    const wallet = feeFrom === 'hot' ? hotAddress : address;
    return { wallet, amount: arrives, nativeSweep: { index, address, balance, feeFrom, priorityFee } };
  }

  async function orderTokenSweep(unswept: UnsweptDeposits): Promise<SolanaOrder | undefined> {
    const { asset, amount, address, derivationIndex: index } = unswept;
    const there = await sender.tokenAccounts(asset, address);
    const accounts = takeFrom(there, amount);
    if (accounts === undefined) {
      return void reportMissing(ports, unswept, units(there.reduce((sum, one) => sum + one.amount, 0n)));
    }
    const tokenSweep = { asset, index, address, accounts, priorityFee, tokenAccountRent: rents.tokenAccount };
    return { wallet: hotAddress, amount, tokenSweep };
  }

  return {
    transferFee,

    async tryTransfer({ asset, address: to, amount, seq }) {
      const feeOfPayout = priorityFeeOf(priorityFee, seq, 0);
      const transfer = { asset, to, amount, tokenAccountRent: rents.tokenAccount, priorityFee: feeOfPayout };
      const trial = await sender.tryTransfer({ ...transfer, lifetime: await trialLifetime() });
      if (trial === 'refused') return 'refused';
      return { fee: transferFee(asset), order: { wallet: hotAddress, amount, transfer } };
    },

    sweepFee(asset) {
      const { hot } = sweepFees.native;
      if (assets[asset].type === 'native') return { fee: hot, hotPays: hot };
      // The fee may include opening the hot wallet's account.
      return { fee: sweepFees.token, hotPays: units(sweepFees.token + rents.tokenAccount) };
    },

    orderSweep: (unswept, hotFree) =>
      assets[unswept.asset].type === 'token' ? orderTokenSweep(unswept) : orderNativeSweep(unswept, hotFree),

    signingTime,

    async complete(order, { finalHeightWhenSigned, lifetime }) {
      invariant(lifetime !== undefined, 'a Solana transaction has a lifetime');
      const { wallet, amount } = order;
      const validToHeight = lifetime.lastValidBlockHeight;
      const whole = orderOf(hotAddress, order, lifetime);
      return { order: whole, wallet, amount, nonce: null, validToHeight, finalHeightWhenSigned, terms: null };
    },
  };
}

function orderOf(hot: string, order: SolanaOrder, lifetime: Lifetime): SigningOrder<'solana'> {
  if ('transfer' in order) return { is: 'transfer', hot, ...order.transfer, lifetime };
  if ('nativeSweep' in order) return { is: 'native_sweep', hot, ...order.nativeSweep, lifetime };
  return { is: 'token_sweep', hot, ...order.tokenSweep, lifetime };
}

/** One answer for a few uses within a few seconds; asks again after these, and after a failure. */
function briefly<T>(clock: Clock, ask: () => Promise<T>): () => Promise<T> {
  let latest: { answer: Promise<T>; uses: number; until: number } | undefined;
  return () => {
    const now = clock.now().getTime();
    if (latest === undefined || latest.uses === LIFETIME_USES || now > latest.until) {
      const asked = { answer: ask(), uses: 0, until: now + LIFETIME_SHARED_MS };
      asked.answer.catch(() => {
        if (latest === asked) latest = undefined;
      });
      latest = asked;
    }
    latest.uses += 1;
    return latest.answer;
  };
}

/** The most that a node returns at once. When there are more, the newest are checked: lost commits are among them. */
const SIGNATURES_MAX = 1_000;

/**
 * Why the hot wallet must not sign: the chain has transactions signed by it that this database does not have. Either the
 * database has lost commits, and payouts that look unpaid are paid, or another party has the key. Transactions from
 * before this database was used with the wallet are not checked.
 */
export async function unknownHistory({
  db,
  chain,
  sender,
}: Pick<SolanaPorts, 'db' | 'chain' | 'sender'>): Promise<string | undefined> {
  const { hotAddress } = sender;
  const known = await historyOf(db, chain, hotAddress);
  if (known === undefined) {
    const [newest] = await sender.signatures(null, 1);
    await noteHistory(db, chain, hotAddress, newest ?? null);
    return undefined;
  }
  // The chain is read first. Our transactions are stored before they are sent.
  const since = await sender.signatures(known.signature, SIGNATURES_MAX);
  for (const signature of await unknownHashes(db, since)) {
    // Payments to the wallet name it too. Each one is stored, so that a failed call does not repeat all of them.
    if (!(await sender.isSignedByHot(signature))) {
      await noteHistory(db, chain, hotAddress, signature);
      continue;
    }
    return `the chain has a transaction of the hot wallet ${hotAddress} that this database does not know (${signature}): nothing is signed until an operator decides`;
  }
  const newest = since.at(-1);
  if (newest !== undefined) await noteHistory(db, chain, hotAddress, newest);
  return undefined;
}
