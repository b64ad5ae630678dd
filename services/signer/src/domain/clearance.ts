import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { exceededLimit, type SigningLimits, type Sums } from './limits.ts';
import type { ReasonName } from './refusal.ts';

/** What an order pays for one payout. `to`: canonical. */
export type OrderedPayment = { payout: string; asset: AssetSymbol; amount: Units; to: string };

/** What a payout was cleared as, or is held as. `destination`: canonical, null of a hold that has none. */
export type Claim = { asset: AssetSymbol; amount: Units; destination: string | null };

/** A payout as the ledger has it. */
export type HeldPayout = Claim & {
  account: string;
  isPlaced: boolean;
  /** What the account's balance has beside its holds, and what deposits have brought to it since the last reconciliation. */
  available: Units;
  depositedSince: Units;
};

/** What the auditor has last found of an asset. */
export type Reconciliation = { passedAt: Date | null; isHalted: boolean };

/** What is known to clear payouts by. Undefined is what nobody has answered. */
export type Evidence = {
  now: Date;
  holds: ReadonlyMap<string, HeldPayout> | undefined;
  /** 0: the auditor is not asked. */
  reconciledWithinMs: number;
  reconciliations: ReadonlyMap<AssetSymbol, Reconciliation> | undefined;
  limits: SigningLimits;
};

/** Why a payment is not the one that its payout is for; undefined when it is. */
export function mismatch({ asset, amount, to }: OrderedPayment, claim: Claim): ReasonName | undefined {
  if (asset !== claim.asset) return 'asset';
  if (amount !== claim.amount) return 'amount';
  return to === claim.destination ? undefined : 'destination';
}

/**
 * Why a payout may not be signed for as far as its asset was reconciled; undefined when it may. A balance that rests on
 * deposits since then waits for the next reconciliation: it has compared them with the chain.
 */
export function unreconciled(
  { available, depositedSince }: Pick<HeldPayout, 'available' | 'depositedSince'>,
  reconciliation: Reconciliation | undefined,
  { now, reconciledWithinMs }: Pick<Evidence, 'now' | 'reconciledWithinMs'>,
): ReasonName | undefined {
  if (reconciledWithinMs === 0) return undefined;
  if (reconciliation === undefined) return 'notReconciled';
  if (reconciliation.isHalted) return 'halted';
  const { passedAt } = reconciliation;
  if (passedAt === null || now.getTime() - passedAt.getTime() > reconciledWithinMs) return 'notReconciled';
  return available < depositedSince ? 'youngDeposits' : undefined;
}

export type Cleared = { payment: OrderedPayment; account: string };

/** Who has cleared how much of an asset. */
export type SumsOf = (asset: AssetSymbol, account: string) => Sums;

/** Who has not answered, of those without whom nothing is cleared. */
export function unanswered(evidence: Evidence): 'ledger' | 'auditor' | undefined {
  if (evidence.reconciledWithinMs > 0 && evidence.reconciliations === undefined) return 'auditor';
  return evidence.holds === undefined ? 'ledger' : undefined;
}

/**
 * Clears payouts that were never signed, in their order: each counts against the limits of the next one. Answers those that
 * are cleared, and why each other one is not.
 * @param before what was cleared and is not in `sumsOf`
 */
export function clear(
  payments: readonly OrderedPayment[],
  evidence: Evidence,
  sumsOf: SumsOf,
  before: readonly Cleared[] = [],
): { cleared: Cleared[]; refused: Map<string, ReasonName> } {
  const cleared: Cleared[] = [];
  const refused = new Map<string, ReasonName>();
  for (const payment of payments) {
    const hold = evidence.holds?.get(payment.payout);
    if (hold === undefined) {
      refused.set(payment.payout, 'noHold');
      continue;
    }
    const { asset, amount } = payment;
    const { account } = hold;
    const problem =
      problemOf(payment, hold, evidence) ??
      exceededLimit(
        evidence.limits[asset] ?? {},
        amount,
        withThose(sumsOf(asset, account), [...before, ...cleared], asset, account),
      );
    if (problem === undefined) cleared.push({ payment, account });
    else refused.set(payment.payout, problem);
  }
  return { cleared, refused };
}

function problemOf(payment: OrderedPayment, hold: HeldPayout, evidence: Evidence): ReasonName | undefined {
  if (!hold.isPlaced) return 'holdEnded';
  return (
    mismatch(payment, hold) ?? unreconciled(hold, evidence.reconciliations?.get(payment.asset), evidence)
  );
}

/** The sums with what was cleared since they were read. */
function withThose(sums: Sums, cleared: readonly Cleared[], asset: AssetSymbol, account: string): Sums {
  let { ofAccount24h, ofHour, of24h }: { [S in keyof Sums]: bigint } = sums;
  for (const { payment, account: other } of cleared) {
    if (payment.asset !== asset) continue;
    ofHour += payment.amount;
    of24h += payment.amount;
    if (other === account) ofAccount24h += payment.amount;
  }
  return { ofAccount24h, ofHour, of24h } as Sums;
}
