import { haltPayouts as halt } from '@quittance/auditor/operations/halt-payouts';
import { listHalts } from '@quittance/auditor/operations/list-halts';
import { resumePayouts as resume } from '@quittance/auditor/operations/resume-payouts';
import { type AssetSymbol, assetSymbols, assets, isAssetSymbol } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { openDb, type Trx } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { discrepancyLines } from './discrepancy-lines.ts';
import { actor, noteDeed, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { inLine, say } from './output.ts';
import { operatorDatabase, watchedChains } from './settings.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

/** A look at every row of every table, however many there are. */
const ANSWER_WITHIN_MS = 31 * 60_000;

export type ResumeOrder = { asset: string; force: boolean; patienceSeconds: number; days: number };

/** Halts the payouts of an asset at once, whatever the books say. */
export const assetHalt = (around: Surroundings, named: string, reason: string): Promise<SaidOutcome> => {
  const asset = assetNamed(named);
  const by = actor(around);
  return withOperator(around, 'auditor', async (db) => {
    const note = (trx: Trx, number: string) =>
      noteDeed(trx, { actor: by, deed: 'halt', subject: `${asset}, halt ${number}` });
    const done = await halt({ db, clock: systemClock, note }, { asset, reason: `${reason} (${by})` });
    if (!done.ok) throw new CommandError(`Payouts of ${asset} are halted already.`);
    return {
      json: { asset, halt: done.value.halt, reason },
      text: say`Payouts of ${asset} halt as soon as the auditor has told payouts, within a second when it runs: new ones are \
answered 503, nothing new is signed, what was signed before is followed.\n\nTo let them go on:\n  npx quittance asset resume ${asset}\n`,
    };
  });
};

/** Which assets' payouts are halted, and why. */
export const assetList = (around: Surroundings): Promise<SaidOutcome> =>
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
        why: open?.breaches ?? [],
      })),
      text: table(
        ['ASSET', 'CHAIN', 'PAYOUTS', 'SINCE', 'WHY'],
        rows.map(({ symbol, open, halts: isHalted }) => [
          symbol,
          assets[symbol].chain,
          isHalted ? 'HALTED' : open === undefined ? 'go on' : 'to be halted, payouts has not heard of it',
          open === undefined ? '' : minute(open.haltedAt),
          open?.breaches.map(({ invariant, what }) => `${invariant}: ${what}`).join('; ') ?? '',
        ]),
      ),
    };
  });

/** Lets payouts go on that the auditor has halted, when the books are right again, or by force. */
export async function resumePayouts(
  around: Surroundings,
  { asset: named, force, patienceSeconds, days }: ResumeOrder,
): Promise<SaidOutcome> {
  const asset = assetNamed(named);
  const by = actor(around);
  const deed = force ? 'resume by force' : 'resume';
  const note = (trx: Trx, halt: string) =>
    noteDeed(trx, { actor: by, deed, subject: `${asset}, halt ${halt}` });
  const db = openDb({
    url: operatorDatabase(around),
    schema: 'auditor',
    pool: 1,
    logger: createLogger('cli', 'silent'),
    answerWithinMs: ANSWER_WITHIN_MS,
  });
  try {
    const chains = watchedChains(around);
    const order = { asset, force, chains, patienceSeconds, chainDays: days };
    const done = await resume({ db, clock: systemClock, note }, order);
    if (done.ok) {
      const { halt, accepted } = done.value;
      const still =
        accepted.length === 0
          ? ''
          : say`Still wrong, and accepted:\n${accepted.map(({ invariant, what }) => say`${invariant} ${what}\n`)}`;
      return {
        json: { asset, halt, accepted },
        text: say`Payouts of ${asset} go on as soon as the auditor has told payouts, within a second when it runs.\n${still}`,
      };
    }
    const { refusal } = done;
    switch (refusal.why) {
      case 'not_halted':
        throw new CommandError(`Payouts of ${asset} are not halted.`);
      case 'chain_unseen':
        throw new CommandError(
          `The books could not be compared with the chain: ${inLine(refusal.reason)}. With --force payouts of ${asset} go on without.`,
        );
      case 'still_wrong':
        return {
          json: { asset, discrepancies: refusal.breaches, breaches: refusal.breaches },
          text: say`${discrepancyLines(refusal.breaches)}
The books of ${asset} are still WRONG, its payouts stay halted. --force lets them go on all the same, and accepts what is named here.\n`,
          bad: true,
        };
    }
  } finally {
    await db.close();
  }
}

function assetNamed(text: string): AssetSymbol {
  const symbol = text.toUpperCase();
  if (isAssetSymbol(symbol)) return symbol;
  throw new CommandError(`There is no asset ${JSON.stringify(text)}; there are ${assetSymbols.join(', ')}.`);
}
