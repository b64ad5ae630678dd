import type { CheckScope, ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { invariants } from '@quittance/reconciliation/invariants';
import { snapshotOf } from '@quittance/reconciliation/snapshot';
import { ChainNotCompared, checkChain, checkInvariants } from '@quittance/reconciliation/verify-books';
import type { Watermarks } from '@quittance/reconciliation/watermarks';
import type { Db, Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { appendToOutbox } from '@quittance/shared/outbox';
import { type Assessment, assess, type CheckResult, withOutgrown } from '../domain/breaches.ts';
import type { Plan } from '../domain/check-plan.ts';
import type { Ports } from '../ports.ts';
import { forgetBreaches, knownBreaches, seeBreaches } from '../store/breaches.ts';
import { howFarBack } from '../store/chain-scope.ts';
import { addChainToCheck, forgetOldChecks, insertCheckRow, lastMarks, marksOfNow } from '../store/checks.ts';
import { openHalt } from '../store/halts.ts';
import { advanceSums, rebuildSums } from '../store/sums.ts';

/** What is new is read in a moment; every row there is may take a while. */
const CHECK_MAX_MS = { recent: 60_000, again: 30 * 60_000, whole: 30 * 60_000 } as const;
/** As many as a log line and a message can bear. */
const TOLD_MAX = 20;

/**
 * One check: of every row there is, of what is newer than the last check and of all that is open, or once more of what is
 * under suspicion. A breach that was seen before halts the payouts of its asset. What the books alone show is judged
 * before any node is asked, and each chain by itself: neither waits for the other.
 * @returns what is wrong, seen for the first time or again.
 */
export async function checkBooks(ports: Ports, lease: Lease, plan: Plan): Promise<readonly Discrepancy[]> {
  const { db, clock, settings } = ports;
  const began = { at: clock.now(), ms: performance.now() };
  const marks = await marksOfNow(db);
  const since = plan.extent === 'recent' ? await lastMarks(db) : undefined;
  const extent = plan.extent === 'recent' && since === undefined ? 'whole' : plan.extent;
  const invariantsAsked = plan.extent === 'again' ? plan.invariants : undefined;
  const asked = invariants.filter(({ number }) => invariantsAsked?.has(number) !== false);
  const snapshot = snapshotOf(ports.slowDb, CHECK_MAX_MS[extent]);
  const scope: CheckScope = {
    gracePeriodSeconds: settings.patienceSeconds,
    watermarks: since,
  };
  const known = (await knownBreaches(db)).filter(({ isAccepted, times }) => isAccepted || times === 1);
  const found = await checkInvariants(snapshot, asked, { ...scope, known }).catch((cause: unknown) => {
    throw extent === 'recent' ? new RecentFailed(reason(cause), { cause }) : cause;
  });
  failpoint('auditor.looked');
  const result: CheckResult = {
    seen: found,
    isWhole: extent !== 'recent',
    ...(invariantsAsked && { invariants: invariantsAsked }),
  };
  const seq = await record(ports, lease, result, async (trx) => {
    await forgetOldChecks(trx);
    const tookMs = Math.round(performance.now() - began.ms);
    return await insertCheckRow(trx, { extent, wasRight: isRight(found), marks, tookMs });
  });
  // From here on a check of what is new can tell what each balance should show.
  if (result.isWhole && invariantsAsked?.has('I2') !== false) await sumUp(ports, lease, marks);
  else if (extent === 'recent' && isRight(found)) {
    await underLease({ db: ports.slowDb }, lease, (trx) => advanceSums(trx, marks));
  }

  for (const chain of ports.chains) {
    const { chain: name } = chain.settings;
    if (plan.extent === 'again' && !plan.chains.has(name)) continue;
    // What a node that was away did not show is looked at when it is back.
    const isSuspected = known.some((one) => one.chain === name && one.pausesPayouts && !one.isAccepted);
    const comparedTo = extent !== 'recent' || isSuspected ? undefined : await lastMarks(db, name);
    const howFar = await howFarBack(db, name, settings.chainDays);
    const compared = await compare(
      ports,
      snapshot,
      chain,
      { ...scope, ...howFar, watermarks: comparedTo },
      began.at,
    );
    if (compared === undefined) continue;
    const { breaches, unseen } = compared;
    const note = (trx: Trx) =>
      addChainToCheck(trx, seq, { chain: name, unseen, wasRight: isRight(breaches) });
    if (unseen === null) {
      await record(ports, lease, { seen: breaches, isWhole: comparedTo === undefined, chain: name }, note);
    } else {
      await underLease(ports, lease, note);
    }
    found.push(...breaches);
  }
  return found;
}

/** What is new could not be read, or not in time: every row has to be. */
export class RecentFailed extends Error {
  override name = 'RecentFailed';
}

const isRight = (seen: readonly Discrepancy[]): boolean => !seen.some(({ pausesPayouts }) => pausesPayouts);

const underLease = <T>(
  { db }: { db: Pick<Db, 'transaction'> },
  lease: Lease,
  work: (trx: Trx) => Promise<T>,
): Promise<T> =>
  db.transaction(async (trx) => {
    await assertLease(trx, lease);
    return await work(trx);
  });

/** Stores what a check means and announces it: `note` writes the check itself in the same transaction. */
async function record<T>(
  ports: Ports,
  lease: Lease,
  result: CheckResult,
  note: (trx: Trx) => Promise<T>,
): Promise<T> {
  const { assessment, halted, noted } = await underLease(ports, lease, async (trx) => {
    const known = await knownBreaches(trx);
    const seen = withOutgrown(known, result.seen);
    const assessment = assess(known, { ...result, seen });
    const at = ports.clock.now();
    await seeBreaches(trx, seen, at);
    await forgetBreaches(trx, assessment.gone);
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

const sumUp = (ports: Ports, lease: Lease, marks: Watermarks): Promise<void> =>
  underLease({ db: ports.slowDb }, lease, (trx) => rebuildSums(trx, marks, CHECK_MAX_MS.whole));

type Compared = { breaches: Discrepancy[]; unseen: string | null };

/** Undefined when it is not yet time to ask its node again. A node that cannot be asked is no breach. */
async function compare(
  { logger, memory, settings }: Ports,
  snapshot: ReturnType<typeof snapshotOf>,
  chain: ReconciledChain,
  scope: CheckScope,
  now: Date,
): Promise<Compared | undefined> {
  const { chain: name } = chain.settings;
  const remembered = memory.get(name);
  if (remembered === undefined) return undefined;
  const isDue =
    scope.watermarks === undefined ||
    remembered.lookedAt === undefined ||
    now < remembered.lookedAt ||
    now.getTime() - remembered.lookedAt.getTime() >= settings.chainsEveryMs;
  if (!isDue) return undefined;
  remembered.lookedAt = now;
  try {
    const breaches = await checkChain(snapshot, chain, scope, remembered.balances);
    if (remembered.unseen !== undefined)
      logger.info({ chain: name }, 'the books are compared with the chain again');
    remembered.unseen = undefined;
    return { breaches, unseen: null };
  } catch (error) {
    if (!(error instanceof ChainNotCompared)) throw error;
    // The same trouble once a minute is one line.
    if (remembered.unseen === undefined) {
      logger.warn({ chain: name, reason: error.message }, 'the books cannot be compared with the chain');
    }
    remembered.unseen = error.message;
    return { breaches: [], unseen: error.message };
  }
}

type Halted = Assessment['halts'][number] & { number: string };

/** Those that are not halted already: the rows, and the word to payouts. */
async function halt(trx: Trx, { halts }: Assessment, at: Date): Promise<Halted[]> {
  const halted: Halted[] = [];
  for (const { asset, breaches } of halts) {
    const told = breaches.slice(0, TOLD_MAX).map(({ invariant, what }) => ({ invariant, what }));
    const number = await openHalt(trx, asset, told, at);
    if (number === undefined) continue;
    await appendToOutbox(trx, [{ kind: 'asset.halted', payload: { asset, halt: number, breaches: told } }]);
    halted.push({ asset, breaches, number });
  }
  return halted;
}

function log({ logger }: Ports, { suspected, confirmed, gone }: Assessment, halted: readonly Halted[]): void {
  const named = (all: readonly { invariant: string; what: string }[]) =>
    all.slice(0, TOLD_MAX).map(({ invariant, what }) => `${invariant} ${what}`);
  if (suspected.length > 0) {
    logger.warn(
      { breaches: named(suspected) },
      'the books look wrong, looking again before anything is done',
    );
  }
  const late = confirmed.filter(({ pausesPayouts }) => !pausesPayouts);
  if (late.length > 0) logger.error({ breaches: named(late) }, 'the books are wrong, no money is lost by it');
  for (const { asset, breaches, number } of halted) {
    logger.error(
      { asset, halt: number, breaches: named(breaches) },
      'the books are wrong: payouts is told to halt this asset until an operator resumes it',
    );
  }
  if (gone.length > 0) logger.info({ breaches: named(gone) }, 'the books are right again here');
}
