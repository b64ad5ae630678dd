import { Unavailable } from '@quittance/shared/http';
import { newRequestId, type PayoutId } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { type Units, units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import pMap from 'p-map';
import { automaticPayoutEventView } from '../automatic-order.ts';
import { automaticAmount, nextRun, RETRY_AFTER_MS, type RunError, toldAfter } from '../domain/automatic.ts';
import { policyAt, roomOf } from '../domain/policy.ts';
import { readPayoutOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { type AutomaticPayout, claimDue, lockClaimed, noteRun } from '../store/automatic-payouts.ts';
import { dayTotals, findPolicy } from '../store/policies.ts';
import { promisedByLinks } from '../store/refunds.ts';
import { findRequest } from '../store/request-proofs.ts';
import { requestPayout } from './request-payout.ts';

const RULES_PER_STEP = 20;
const RUNS_AT_ONCE = 4;

type RunPorts = Pick<
  Ports,
  'db' | 'bus' | 'random' | 'clock' | 'logger' | 'throttledLog' | 'wakeRelay' | 'quotes' | 'chains'
>;

/** A run that paid, or that paid nothing; `error` says why when it should have paid. */
type Run = { payoutId: PayoutId | null; error: RunError | null };

/**
 * Runs the automatic payouts that are due. A rule is claimed with its next run, so that two replicas never run it at once. A
 * run that cannot be carried out is repeated later.
 * @returns how many rules were due.
 */
export async function runAutomaticPayouts(ports: RunPorts): Promise<number> {
  const { db, clock } = ports;
  const now = clock.now();
  const due = await claimDue(db, now, new Date(now.getTime() + RETRY_AFTER_MS), RULES_PER_STEP);
  await pMap(due, (rule) => runAndNote(ports, rule, now), { concurrency: RUNS_AT_ONCE });
  return due.length;
}

async function runAndNote(ports: RunPorts, rule: AutomaticPayout, now: Date): Promise<void> {
  const { logger, throttledLog } = ports;
  const details = { account: rule.account, asset: rule.asset };
  try {
    const { payoutId, error } = await run(ports, rule);
    if (error !== null) {
      const message = 'an automatic payout could not be created, trying again';
      throttledLog.log(
        'warn',
        `automatic.${rule.account}.${rule.asset}`,
        { ...details, reason: error },
        message,
      );
    }
    if (payoutId !== null) logger.info({ ...details, payout: payoutId }, 'created an automatic payout');
    const nextRunAt = error === null ? nextRun(rule.schedule, now, rule.failures) : rule.nextRunAt;
    await note(ports, rule, { nextRunAt, payoutId, error });
  } catch (error) {
    // The claim ends by itself, and the rule runs again.
    const message = 'an automatic payout failed, trying again';
    throttledLog.log(
      'warn',
      `automatic.${rule.account}.${rule.asset}`,
      { ...details, reason: reason(error) },
      message,
    );
  }
}

/** Stores the result, and tells the merchant of a failure that it was not told of yet. */
async function note(
  { db, wakeRelay }: Pick<RunPorts, 'db' | 'wakeRelay'>,
  rule: AutomaticPayout,
  result: Run & Pick<AutomaticPayout, 'nextRunAt'>,
): Promise<void> {
  const toldError = toldAfter(result.error, rule.toldError);
  const isNews = toldError !== null && toldError !== rule.toldError;
  await db.transaction(async (trx) => {
    const noted = await noteRun(trx, rule, { ...result, toldError });
    if (noted === undefined || !isNews) return;
    await appendToOutbox(trx, [
      { kind: 'automatic_payout.failed', payload: automaticPayoutEventView(noted) },
    ]);
  });
  if (isNews) wakeRelay();
}

/** Reads the balance first, so that a rule whose balance is too low leaves no refused payouts. */
async function run(ports: RunPorts, rule: AutomaticPayout): Promise<Run> {
  const { account, asset, address, threshold } = rule;
  const order = orderOf(ports, { asset, address });
  if (typeof order === 'string') return { payoutId: null, error: order };
  const least = threshold !== null && threshold > order.amount ? threshold : order.amount;
  const asked = await ports.bus.ask('balance.read', { account_id: account, asset });
  if (!asked.known) return { payoutId: null, error: 'unavailable' };
  const spendable = { available: units(asked.reply.available), least, networkFee: order.networkFee };
  const room = await roomOfPolicy(ports, rule);
  const pays = automaticAmount(spendable, await promisedByLinks(ports.db, account, asset), room);
  if (pays === undefined) return { payoutId: null, error: null };
  const requestId = newRequestId(ports.clock.now());
  const made = await requestPayout(ports, {
    ...{ ...order, ...pays, account, request: null, requestId, key: undefined },
    madeBy: await findRequest(ports.db, rule.assertionId),
    isAutomatic: true,
    isStillWanted: (trx) => lockClaimed(trx, rule),
  });
  if (made.ok) return { payoutId: made.value, error: null };
  // Its merchant has replaced, disabled or deleted the rule in between: what there is now runs when it is due.
  if (made.refusal === 'not_taken') return { payoutId: null, error: null };
  // The ledger refuses a payout when its money was held in between.
  const isRefused = typeof made.refusal !== 'string';
  return { payoutId: null, error: isRefused ? 'insufficient_balance' : 'unavailable' };
}

/** The most that the policy of the account lets one more payout be; null without a limit. The policy decides again later. */
async function roomOfPolicy(
  { db, clock }: Pick<RunPorts, 'db' | 'clock'>,
  { account, asset }: Pick<AutomaticPayout, 'account' | 'asset'>,
): Promise<Units | null> {
  const stored = await findPolicy(db, account);
  if (stored === undefined) return null;
  return roomOf(policyAt(stored, clock.now()), asset, await dayTotals(db, account, [asset]));
}

/** A payout of all to this address now, or why there can be none. */
function orderOf(ports: RunPorts, { asset, address }: Pick<AutomaticPayout, 'asset' | 'address'>) {
  try {
    const order = readPayoutOrder({ asset, address, amount: 'max' }, ports);
    return order.ok ? order.value : ('invalid_request' as const);
  } catch (error) {
    if (error instanceof Unavailable) return 'unavailable' as const;
    throw error;
  }
}
