import { haltPayouts as halt, listHalts } from '@quittance/auditor/operations/halts';
import { resumePayouts as resume } from '@quittance/auditor/operations/resume-payouts';
import { assetSymbols, assets } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { openDb, type Trx } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { assetNamed } from './asset-named.ts';
import { watchedChains } from './chain-settings.ts';
import { operatorDatabase } from './database-settings.ts';
import { discrepancyLines } from './discrepancy-lines.ts';
import { actor, withOperator, writeAuditLog } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { inLine, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

/** Every row of every table is checked. */
const ANSWER_WITHIN_MS = 31 * 60_000;

export type ResumePayoutsOptions = {
  asset: string;
  force: boolean;
  gracePeriodSeconds: number;
  days: number;
};

/** Pauses the payouts of an asset at once, whatever the reconciliation shows. */
export const pausePayouts = (around: Surroundings, named: string, reason: string): Promise<SaidOutcome> => {
  const asset = assetNamed(named);
  const by = actor(around);
  return withOperator(around, 'auditor', async (db) => {
    const note = (trx: Trx, number: string) =>
      writeAuditLog(trx, { actor: by, action: 'halt', subject: `${asset}, halt ${number}` });
    const done = await halt({ db, clock: systemClock, note }, { asset, reason: `${reason} (${by})` });
    if (!done.ok) throw new CommandError(`Payouts of ${asset} are paused already.`);
    return {
      json: { asset, halt: done.value.halt, reason },
      text: say`Payouts of ${asset} pause as soon as the auditor has told payouts, within a second when it runs: new requests are \
answered 503, nothing new is signed, transactions that are signed already are still confirmed.\n\nTo resume them:\n  npx quittance payouts resume --asset ${asset}\n`,
    };
  });
};

/** Which assets' payouts are paused, and why. */
export const listPausedPayouts = (around: Surroundings): Promise<SaidOutcome> =>
  withOperator(around, 'auditor', async (db) => {
    const { open: halts, inForce } = await listHalts(db);
    const rows = assetSymbols.map((symbol) => {
      const open = halts.find(({ asset }) => asset === symbol);
      const state = inForce.find(({ asset }) => asset === symbol);
      return { symbol, open, halts: state?.inForce === true };
    });
    return {
      json: rows.map(({ symbol, open, halts: isHalted }) => ({
        asset: symbol,
        chain: assets[symbol].chain,
        halted: isHalted,
        halt_asked: open !== undefined,
        halted_at: open?.haltedAt ?? null,
        why: open?.discrepancies ?? [],
      })),
      text: table(
        ['ASSET', 'CHAIN', 'PAYOUTS', 'SINCE', 'WHY'],
        rows.map(({ symbol, open, halts: isHalted }) => [
          symbol,
          assets[symbol].chain,
          isHalted ? 'PAUSED' : open === undefined ? 'run' : 'pausing, payouts has not confirmed it',
          open === undefined ? '' : minute(open.haltedAt),
          open?.discrepancies.map(({ invariant, what }) => `${invariant}: ${what}`).join('; ') ?? '',
        ]),
      ),
    };
  });

/** Resumes paused payouts when there is no discrepancy any more, or by force. */
export async function resumePayouts(
  around: Surroundings,
  { asset: named, force, gracePeriodSeconds, days }: ResumePayoutsOptions,
): Promise<SaidOutcome> {
  const asset = assetNamed(named);
  const by = actor(around);
  const action = force ? 'resume by force' : 'resume';
  const note = (trx: Trx, halt: string) =>
    writeAuditLog(trx, { actor: by, action, subject: `${asset}, halt ${halt}` });
  const db = openDb({
    url: operatorDatabase(around),
    schema: 'auditor',
    pool: 1,
    logger: createLogger('cli', 'silent'),
    answerWithinMs: ANSWER_WITHIN_MS,
  });
  try {
    const chains = watchedChains(around);
    const order = { asset, force, chains, gracePeriodSeconds, chainDays: days };
    const done = await resume({ db, clock: systemClock, note }, order);
    if (done.ok) {
      const { halt, accepted } = done.value;
      const still =
        accepted.length === 0
          ? ''
          : say`Still wrong, and acknowledged:\n${accepted.map(({ invariant, what }) => say`${invariant} ${what}\n`)}`;
      return {
        json: { asset, halt, accepted },
        text: say`Payouts of ${asset} resume as soon as the auditor has told payouts, within a second when it runs.\n${still}`,
      };
    }
    const { refusal } = done;
    switch (refusal.why) {
      case 'not_halted':
        throw new CommandError(`Payouts of ${asset} are not paused.`);
      case 'chain_unseen':
        throw new CommandError(
          `The books could not be compared with the chain: ${inLine(refusal.reason)}. With --force payouts of ${asset} resume without it.`,
        );
      case 'still_wrong':
        return {
          json: { asset, discrepancies: refusal.discrepancies, breaches: refusal.discrepancies },
          text: say`${discrepancyLines(refusal.discrepancies)}
The books of ${asset} are still WRONG, its payouts stay paused. --force resumes them all the same, and acknowledges the discrepancies named here.\n`,
          bad: true,
        };
    }
  } finally {
    await db.close();
  }
}
