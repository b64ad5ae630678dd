import { configuredAssets } from '@quittance/chains/settings';
import { ChainNotCompared } from '@quittance/reconciliation/chain-not-compared';
import type { CheckScope, ReconciledChain } from '@quittance/reconciliation/chain-records';
import { checkInvariants } from '@quittance/reconciliation/check-invariants';
import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { invariants } from '@quittance/reconciliation/invariants';
import { type Snapshot, snapshotOf } from '@quittance/reconciliation/snapshot';
import { type CheckedChain, checkChain } from '@quittance/reconciliation/verify-books';
import type { Db, Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease, LeaseLost, takeLease, withLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { appendToOutbox } from '@quittance/shared/outbox';
import { type CheckPlan, nextCheck } from '../domain/check-plan.ts';
import { type Assessment, assess, type CheckResult, withOutgrown } from '../domain/discrepancies.ts';
import type { ChainMemory, Ports } from '../ports.ts';
import { advanceBalanceSnapshots, rebuildBalanceSnapshots } from '../store/balance-snapshots.ts';
import {
  addChainToCheck,
  chainScope,
  currentWatermarks,
  deleteOldChecks,
  insertCheckRow,
  lastChecks,
  lastWatermarks,
} from '../store/checks.ts';
import { deleteDiscrepancies, knownDiscrepancies, storeDiscrepancies } from '../store/discrepancies.ts';
import { openHalt } from '../store/halts.ts';
import { notePassed } from '../store/passed-checks.ts';
import { haltedEvent } from './halts.ts';
import { noteMeasured, planLook, rememberMeasured, unlookedOf } from './measure-reserves.ts';

/** New and open rows are few; reading every row may take minutes. */
const CHECK_MAX_MS = { recent: 60_000, again: 30 * 60_000, whole: 30 * 60_000 } as const;
/** How many discrepancies a log line and an event name. */
const NAMED_MAX = 20;

const LEASE_NAME = 'check';
/** Another replica takes over the check of a dead process after this time. */
const LEASE_MS = 5_000;

/**
 * Executes the check that is due. One replica does it for all: the lease and the next check are in the database.
 * @returns 1 when a check was executed.
 */
export async function stepAudit(ports: Ports): Promise<number> {
  const { db, clock, logger, settings } = ports;
  const last = await lastChecks(db);
  // A chain that is no longer configured is not asked.
  const configured = new Set<string>(ports.chains.map((chain) => chain.settings.chain));
  const seenChains = last.seenChains.intersection(configured);
  const plan = nextCheck({ ...last, seenChains }, settings);
  if (plan === undefined) return 0;
  const lease = await takeLease(db, LEASE_NAME, settings.replica, LEASE_MS);
  if (lease === undefined) return 0;
  const failed = (error: unknown) =>
    logger.warn({ reason: reason(error) }, 'the lease of the check could not be renewed');
  try {
    await withLease({ db, clock, failed }, lease, async () => {
      try {
        await checkBooks(ports, lease, plan);
      } catch (error) {
        if (!(error instanceof RecentFailed)) throw error;
        logger.warn({ reason: error.message }, 'new rows could not be checked, checking every row');
        await checkBooks(ports, lease, { scope: 'whole' });
      }
    });
    return 1;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    logger.warn('another process has taken over the check');
    return 0;
  }
}

/**
 * Executes one check: of every row, of new and open rows, or again of the suspected discrepancies. A discrepancy that was
 * found before halts the payouts of its asset. The records are assessed before any node is asked, and each chain
 * separately, so that none waits for another.
 */
async function checkBooks(ports: Ports, lease: Lease, plan: CheckPlan): Promise<void> {
  const { db, clock, settings } = ports;
  const began = { at: clock.now(), ms: performance.now() };
  const watermarks = await currentWatermarks(db);
  const since = plan.scope === 'recent' ? await lastWatermarks(db) : undefined;
  const scope = plan.scope === 'recent' && since === undefined ? 'whole' : plan.scope;
  const invariantsAsked = plan.scope === 'again' ? plan.invariants : undefined;
  const asked = invariants.filter(({ number }) => invariantsAsked?.has(number) !== false);
  const snapshot = snapshotOf(ports.slowDb, CHECK_MAX_MS[scope]);
  const checkScope = { gracePeriodSeconds: settings.gracePeriodSeconds, watermarks: since };
  const known = (await knownDiscrepancies(db)).filter(({ isAccepted, times }) => isAccepted || times === 1);
  const found = await checkInvariants(snapshot, asked, { ...checkScope, known }).catch((cause: unknown) => {
    throw scope === 'recent' ? new RecentFailed(reason(cause), { cause }) : cause;
  });
  failpoint('auditor.looked');
  const result: CheckResult = {
    seen: found,
    isWhole: scope !== 'recent',
    ...(invariantsAsked && { invariants: invariantsAsked }),
  };
  const seq = await record(ports, lease, result, async (trx) => {
    await deleteOldChecks(trx);
    const tookMs = Math.round(performance.now() - began.ms);
    return await insertCheckRow(trx, { scope, wasRight: isRight(found), watermarks, tookMs });
  });
  // From now on a check of new rows can compute what each balance should be.
  if (result.isWhole && invariantsAsked?.has('I2') !== false) {
    await underLease(ports.slowDb, lease, (trx) =>
      rebuildBalanceSnapshots(trx, watermarks, CHECK_MAX_MS.whole),
    );
  } else if (scope === 'recent' && isRight(found)) {
    await underLease(ports.slowDb, lease, (trx) => advanceBalanceSnapshots(trx, watermarks));
  }

  for (const chain of ports.chains) {
    const { chain: name } = chain.settings;
    if (plan.scope === 'again' && !plan.chains.has(name)) continue;
    // The rows that were not compared while the node was down are compared when it is back.
    const isSuspected = known.some((one) => one.chain === name && one.pausesPayouts && !one.isAccepted);
    const comparedTo = scope !== 'recent' || isSuspected ? undefined : await lastWatermarks(db, name);
    const chainsScope = {
      ...checkScope,
      ...(await chainScope(db, name, settings.chainDays)),
      watermarks: comparedTo,
    };
    const isComplete = plan.scope !== 'again';
    await compareChain(ports, {
      snapshot,
      chain,
      scope: chainsScope,
      began: began.at,
      lease,
      seq,
      isComplete,
    });
  }
}

type ChainCheck = {
  snapshot: Snapshot;
  chain: ReconciledChain;
  scope: CheckScope;
  began: Date;
  lease: Lease;
  /** The check that it belongs to. */
  seq: string;
  /** The check has asked for every invariant within the records. */
  isComplete: boolean;
};

/** Compares the records with a chain when it is time for that, and stores the result. */
async function compareChain(
  ports: Ports,
  { snapshot, chain, scope, began, lease, seq, isComplete }: ChainCheck,
): Promise<void> {
  const { db, clock, memory } = ports;
  const { chain: name } = chain.settings;
  const remembered = memory.get(name);
  if (remembered === undefined) return;
  const compared = await compare(ports, { snapshot, chain, scope, began }, remembered);
  if (compared === undefined) return;
  const { discrepancies, unseen, addresses } = compared;
  const wasRight = isRight(discrepancies);
  const note = (trx: Trx) => addChainToCheck(trx, seq, { chain: name, unseen, wasRight });
  if (unseen !== null) return await underLease(db, lease, note);
  const measuring = { chain, memory: remembered, compared };
  const seen = {
    seen: discrepancies,
    isWhole: scope.watermarks === undefined,
    chain: name,
    unlooked: unlookedOf(scope.suspects ?? [], addresses?.lookedAt),
  };
  const found = await record(ports, lease, seen, async (trx) => {
    await note(trx);
    // A token without a contract in the settings was not compared.
    if (isComplete) await notePassed(trx, seq, configuredAssets(chain.settings));
    return await noteMeasured(trx, measuring, clock.now());
  });
  rememberMeasured(ports, measuring, found, scope.suspects ?? []);
}

/** New rows could not be read, or not in time: every row has to be checked. */
class RecentFailed extends Error {
  override name = 'RecentFailed';
}

const isRight = (seen: readonly Discrepancy[]): boolean => !seen.some(({ pausesPayouts }) => pausesPayouts);

const underLease = <T>(
  db: Pick<Db, 'transaction'>,
  lease: Lease,
  work: (trx: Trx) => Promise<T>,
): Promise<T> =>
  db.transaction(async (trx) => {
    await assertLease(trx, lease);
    return await work(trx);
  });

/** Stores the result of a check and its events. `note` stores the check itself in the same transaction. */
async function record<T>(
  ports: Ports,
  lease: Lease,
  result: CheckResult,
  note: (trx: Trx) => Promise<T>,
): Promise<T> {
  const { assessment, halted, noted } = await underLease(ports.db, lease, async (trx) => {
    const known = await knownDiscrepancies(trx);
    const seen = withOutgrown(known, result.seen);
    const assessment = assess(known, { ...result, seen });
    const at = ports.clock.now();
    await storeDiscrepancies(trx, seen, at);
    await deleteDiscrepancies(trx, assessment.resolved);
    const noted = await note(trx);
    const halted = await halt(trx, assessment, at);
    if (halted.length > 0) failpoint('auditor.halting');
    return { assessment, halted, noted };
  });
  if (halted.length > 0) {
    failpoint('auditor.halted');
    ports.wakeRelay();
  }
  log(ports, assessment, halted);
  return noted;
}

type Compared = Pick<CheckedChain, 'discrepancies' | 'addresses'> & { unseen: string | null };

/** Undefined when it is not yet time to ask the node again. A node that cannot be asked is no discrepancy. */
async function compare(
  ports: Ports,
  { snapshot, chain, scope, began: now }: Pick<ChainCheck, 'snapshot' | 'chain' | 'scope' | 'began'>,
  remembered: ChainMemory,
): Promise<Compared | undefined> {
  const { logger, settings } = ports;
  const { chain: name } = chain.settings;
  const isDue =
    scope.watermarks === undefined ||
    remembered.lookedAt === undefined ||
    now < remembered.lookedAt ||
    now.getTime() - remembered.lookedAt.getTime() >= settings.chainsEveryMs;
  if (!isDue) return undefined;
  remembered.lookedAt = now;
  try {
    const { balances } = remembered;
    const addresses = await planLook(ports, chain, remembered);
    const checked = await checkChain(snapshot, chain, scope, { addresses, balances });
    if (remembered.unseen !== undefined)
      logger.info({ chain: name }, 'the records are compared with the chain again');
    remembered.unseen = undefined;
    return { ...checked, unseen: null };
  } catch (error) {
    if (!(error instanceof ChainNotCompared)) throw error;
    // A lasting failure is logged once.
    if (remembered.unseen === undefined) {
      logger.warn({ chain: name, reason: error.message }, 'the records cannot be compared with the chain');
    }
    remembered.unseen = error.message;
    return { discrepancies: [], addresses: undefined, unseen: error.message };
  }
}

type Halted = Assessment['halts'][number] & { number: string };

/** Halts the assets that are not halted already, and appends the events for payouts. */
async function halt(trx: Trx, { halts }: Assessment, at: Date): Promise<Halted[]> {
  const halted: Halted[] = [];
  for (const { asset, discrepancies } of halts) {
    const told = discrepancies.slice(0, NAMED_MAX).map(({ invariant, what }) => ({ invariant, what }));
    const number = await openHalt(trx, asset, told, at);
    if (number === undefined) continue;
    await appendToOutbox(trx, [haltedEvent(asset, number, told)]);
    halted.push({ asset, discrepancies, number });
  }
  return halted;
}

function log(
  { logger }: Ports,
  { suspected, confirmed, resolved }: Assessment,
  halted: readonly Halted[],
): void {
  const named = (all: readonly { invariant: string; what: string }[]) =>
    all.slice(0, NAMED_MAX).map(({ invariant, what }) => `${invariant} ${what}`);
  if (suspected.length > 0) {
    logger.warn(
      { discrepancies: named(suspected) },
      'discrepancies were found, checking again before payouts are halted',
    );
  }
  const late = confirmed.filter(({ pausesPayouts }) => !pausesPayouts);
  if (late.length > 0)
    logger.error({ discrepancies: named(late) }, 'discrepancies are confirmed, no money is lost by them');
  for (const { asset, discrepancies, number } of halted) {
    logger.error(
      { asset, halt: number, discrepancies: named(discrepancies) },
      'discrepancies are confirmed: payouts of this asset are halted until an operator resumes them',
    );
  }
  if (resolved.length > 0) logger.info({ discrepancies: named(resolved) }, 'discrepancies are resolved');
}
