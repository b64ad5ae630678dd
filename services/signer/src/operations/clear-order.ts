import { ok, type Result, refuse } from '@quittance/shared/result';
import { type Cleared, clear, mismatch, type OrderedPayment, unanswered } from '../domain/clearance.ts';
import { type Exclusive, excludes } from '../domain/exclusion.ts';
import { type ReasonName, refusalFor, refusalOf, type SigningRefusal } from '../domain/refusal.ts';
import type { SignerChain } from '../ports.ts';
import { type AskedOrder, exclusiveOf } from '../read-order.ts';
import type { Collected } from './collect-evidence.ts';
import type { SigningHistory } from './signing-history.ts';

/**
 * Whether the payouts of a new order may be paid by it: those that were signed for before when it excludes every earlier
 * transaction of theirs, the others when they are cleared. Answers those that are cleared now.
 */
export function clearOrder(
  on: SignerChain,
  asked: AskedOrder,
  collected: Collected,
  history: SigningHistory,
): Result<Cleared[], SigningRefusal> {
  const { payments } = asked;
  if (payments === undefined) return refuse(refusalOf('recipients'));
  if (payments.length === 0) return ok([]);
  // Without it, it could never be told that this transaction is over.
  if (on.kind === 'solana' && collected.solana === undefined) return refuse(refusalOf('nodes'));
  const refused = new Map<string, ReasonName>([
    ...changedPayments(payments, history),
    ...stillMineable(asked.payouts, exclusiveOf(on, asked), history),
  ]);
  const fresh = payments.filter(({ payout }) => !history.cleared.has(payout));
  const silent = fresh.length === 0 ? undefined : unanswered(collected);
  if (silent !== undefined) return refuse(refusalOf(silent));
  const cleared = clear(fresh, collected, history.sumsOf, history.added.cleared);
  const refusal = refusalFor(new Map([...refused, ...cleared.refused]));
  return refusal === undefined ? ok(cleared.cleared) : refuse(refusal);
}

const changedPayments = (payments: readonly OrderedPayment[], { cleared }: Pick<SigningHistory, 'cleared'>) =>
  payments.flatMap((payment): [string, ReasonName][] => {
    const known = cleared.get(payment.payout);
    const problem = known && mismatch(payment, known);
    return problem === undefined ? [] : [[payment.payout, problem]];
  });

/** The payouts with an earlier transaction that this one does not exclude. */
const stillMineable = (
  payouts: readonly string[],
  next: Exclusive,
  { exclusive }: Pick<SigningHistory, 'exclusive'>,
) =>
  payouts.flatMap((payout): [string, ReasonName][] =>
    exclusive.get(payout)?.every((earlier) => excludes(earlier, next)) === false
      ? [[payout, 'signedBefore']]
      : [],
  );
