import { feesAt, type Lifetime, type SolanaSigned } from '@quittance/chains/solana/transaction';
import { assets, nativeAsset } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import type { Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import { type Units, units } from '@quittance/shared/money';
import { assertNever, invariant } from '@quittance/shared/result';
import {
  highestPriorityFee,
  needsExpiryProof,
  nextSolanaStep,
  priorityFeeOf,
} from '../../domain/solana/next-step.ts';
import { nativeToSweep, takeFrom, whoPays } from '../../domain/solana/sweeping.ts';
import type { SolanaPorts } from '../../ports.ts';
import { newestOf, type ReplacementGroup, type Transaction } from '../../store/transactions.ts';
import type { UnsweptDeposits } from '../../store/unswept-deposits.ts';
import { historyOf, insertWalletOnce, noteHistory, unknownHashes } from '../../store/wallets.ts';
import { invalidateGroup, settleTransaction } from '../end-group.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import type { AccountChainDriver, ChainTerms, Draft } from './driver.ts';
import { signAgain } from './solana-sign-again.ts';
import { reportMissing } from './sweep.ts';

/** How many transactions are signed with one lifetime, which is valid for about a minute. */
const LIFETIME_USES = 8;
const LIFETIME_SHARED_MS = 10_000;

/**
 * Solana: signed bytes are valid for about a minute. A transaction that no finalized block includes by then can never be
 * mined. Only when that is proved, the same payment is signed again.
 */
export function solanaDriver(ports: SolanaPorts, lease: Lease): AccountChainDriver {
  const { chain, sender, signingPause } = ports;
  const driver: AccountChainDriver = {
    track: async () => (group) => track(ports, lease, driver, group),
    prepare: async () => ({ moved: 0, isReady: signingPause.reason === undefined }),
    canSign: async () => true,
    async deductions() {
      // The rent that an account must hold is never available.
      const { wallet: amount } = await sender.rents();
      return async () => [{ asset: nativeAsset[chain], amount }];
    },
    terms: () => termsNow(ports),
  };
  return driver;
}

/** Asks the chain about the newest attempt: only this one can still be mined. */
async function track(
  ports: SolanaPorts,
  lease: Lease,
  driver: AccountChainDriver,
  group: ReplacementGroup,
): Promise<() => Promise<boolean>> {
  const { sender, clock, settings } = ports;
  const newest = newestOf(group);
  const { txHash, validToHeight, finalHeightWhenSigned } = newest;
  invariant(validToHeight !== null, `${txHash} is valid for ever`);
  invariant(finalHeightWhenSigned !== null, `it is not known where a search for ${txHash} begins`);
  const seen = await sender.status(txHash);
  const isDead =
    needsExpiryProof(newest, seen, clock.now(), settings.gracePeriods) &&
    (await sender.nonInclusion(txHash, validToHeight, finalHeightWhenSigned)) === 'proven';
  return async () => {
    const step = nextSolanaStep(newest, seen, isDead, clock.now(), settings.gracePeriods);
    switch (step.is) {
      case 'in_block':
      case 'sent':
        return false;
      case 'to_send':
        await sendTransaction(ports, newest);
        return false;
      case 'settled':
        invariant(seen.state === 'mined', 'only what is in a block is settled');
        return settleTransaction(ports, lease, newest, seen);
      case 'expired':
        return afterExpiry(ports, lease, driver, newest);
      default:
        return assertNever(step);
    }
  };
}

/** A payout is signed again within its group. Deposits are planned again, because there may be more of them by now. */
async function afterExpiry(
  ports: SolanaPorts,
  lease: Lease,
  driver: AccountChainDriver,
  expired: Transaction,
): Promise<boolean> {
  if (ports.signingPause.reason !== undefined) return false;
  await keepLease(ports, lease);
  if (expired.purpose === 'sweep') return invalidateGroup(ports, lease, expired);
  return ports.assets.includes(expired.asset) && signAgain(ports, lease, driver, expired);
}

async function termsNow(ports: SolanaPorts): Promise<ChainTerms> {
  const { chain, sender, clock } = ports;
  const [priorityFee, rents] = [await sender.priorityFee(), await sender.rents()];
  const { transfer: transferFees } = feesAt(highestPriorityFee(priorityFee));
  const { sweep: sweepFees } = feesAt(priorityFee);
  const trialLifetime = briefly(clock, () => sender.lifetime());
  const signingTime = briefly(clock, async () => ({
    lifetime: await sender.lifetime(),
    finalHeightWhenSigned: await sender.finalizedHeight(),
  }));

  async function draft(wallet: string, amount: Units, sign: (lifetime: Lifetime) => Promise<SolanaSigned>) {
    const { lifetime, finalHeightWhenSigned } = await signingTime();
    const signed = await sign(lifetime);
    const { validToHeight } = signed;
    return async (trx: Trx) => {
      await insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null);
      if (wallet !== sender.hotAddress) await insertWalletOnce(trx, chain, wallet, 'deposit', null);
      return { signed, wallet, amount, nonce: null, validToHeight, finalHeightWhenSigned, terms: null };
    };
  }

  const transferFee: ChainTerms['transferFee'] = (asset) => {
    const { type } = assets[asset];
    const fee = transferFees[type];
    // The fee may include opening the recipient's account.
    return units(type === 'token' ? fee + rents.tokenAccount : fee);
  };

  async function draftNativeSweep(unswept: UnsweptDeposits, hotFree: bigint): Promise<Draft | undefined> {
    const { asset, address, amount, derivationIndex: index } = unswept;
    const there = await sender.balance(asset, address);
    if (there < amount) return void reportMissing(ports, unswept, there);
    const feeFrom = whoPays(hotFree, there, rents.wallet, sweepFees.native);
    if (feeFrom === undefined) return undefined;
    const balance = nativeToSweep(there, amount, rents.wallet);
    const arrives = units(feeFrom === 'hot' ? balance : balance - sweepFees.native.deposit);
    if (arrives <= sweepFees.native[feeFrom]) return undefined;
    const order = { index, balance, feeFrom, priorityFee };
    const wallet = feeFrom === 'hot' ? sender.hotAddress : address;
    return draft(wallet, arrives, (lifetime) => sender.signNativeSweep({ ...order, lifetime }));
  }

  async function draftTokenSweep(unswept: UnsweptDeposits): Promise<Draft | undefined> {
    const { asset, amount, derivationIndex: index } = unswept;
    const there = await sender.tokenAccounts(asset, index);
    const accounts = takeFrom(there, amount);
    if (accounts === undefined) {
      return void reportMissing(ports, unswept, units(there.reduce((sum, one) => sum + one.amount, 0n)));
    }
    const order = { asset, index, accounts, priorityFee, tokenAccountRent: rents.tokenAccount };
    return draft(sender.hotAddress, amount, (lifetime) => sender.signTokenSweep({ ...order, lifetime }));
  }

  return {
    transferFee,

    async tryTransfer({ asset, address: to, amount, seq }) {
      const feeOfPayout = priorityFeeOf(priorityFee, seq, 0);
      const order = { asset, to, amount, tokenAccountRent: rents.tokenAccount, priorityFee: feeOfPayout };
      const trial = await sender.tryTransfer({ ...order, lifetime: await trialLifetime() });
      if (trial === 'refused') return 'refused';
      const sign = (lifetime: Lifetime) => sender.signTransfer({ ...order, lifetime });
      return { fee: transferFee(asset), draft: () => draft(sender.hotAddress, amount, sign) };
    },

    sweepFee(asset) {
      const { hot } = sweepFees.native;
      if (assets[asset].type === 'native') return { fee: hot, hotPays: hot };
      // The fee may include opening the hot wallet's account.
      return { fee: sweepFees.token, hotPays: units(sweepFees.token + rents.tokenAccount) };
    },

    draftSweep: (unswept, hotFree) =>
      assets[unswept.asset].type === 'token' ? draftTokenSweep(unswept) : draftNativeSweep(unswept, hotFree),
  };
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
