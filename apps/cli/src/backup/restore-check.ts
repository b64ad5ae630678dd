import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { type BooksReport, verifyBooks } from '@quittance/reconciliation/verify-books';
import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { watchedChains } from '../chain-settings.ts';
import { adminDatabase } from '../database-settings.ts';
import { actor, source, writeAuditLog } from '../operator-database.ts';
import type { SaidOutcome } from '../outcome.ts';
import { type Said, say } from '../output.ts';
import type { Surroundings } from '../surroundings.ts';
import {
  type LostEvents,
  type LostHold,
  lostEvents,
  lostHolds,
  placeAgain,
  retryEndsOfHolds,
  sendLostEventsAgain,
} from './lost-records.ts';

export type RestoreCheckOrder = { repair: boolean; gracePeriodSeconds: number; days: number };

const DAY_MS = 24 * 3_600_000;
/** Every row of every table is read. */
const ANSWER_WITHIN_MS = 31 * 60_000;

/**
 * Names every difference between the databases and the chains after a restore. With `repair`, what one service has on record and the
 * chain shows is booked in the other again; the rest is listed with what to do.
 */
export async function checkRestored(
  around: Surroundings,
  { repair, gracePeriodSeconds, days }: RestoreCheckOrder,
): Promise<SaidOutcome> {
  const by = actor(around);
  const databaseUrl = adminDatabase(around);
  const chains = watchedChains(around);
  const compare = () =>
    verifyBooks({ databaseUrl, gracePeriodSeconds, chains, since: new Date(Date.now() - days * DAY_MS) });
  const db = openDb({
    url: databaseUrl,
    schema: 'ledger',
    pool: 1,
    logger: createLogger('cli', 'silent'),
    answerWithinMs: ANSWER_WITHIN_MS,
    settings: { statement_timeout: `${ANSWER_WITHIN_MS}ms`, 'quittance.source': source() },
  });
  try {
    const found = await compare();
    const running = await notPaused(db);
    const holds = sorted(await lostHolds(db), found);
    const repaired = repair && running.length === 0 ? await repairLost(db, holds.provable, by) : undefined;
    const left = repaired === undefined ? found : await compare();
    const findings = { left, running, repaired, holds, events: await lostEvents(db) };
    return told(findings);
  } finally {
    await db.close();
  }
}

/** Assets whose payouts are not paused: what is not compared yet could be paid. */
async function notPaused(db: Db): Promise<AssetSymbol[]> {
  const paused = await db.rows<{ asset: AssetSymbol }>(
    'select asset from payouts.halted_assets where resumed_at is null',
  );
  return assetSymbols.filter((symbol) => !paused.some(({ asset }) => asset === symbol));
}

type Holds = { provable: LostHold[]; others: LostHold[] };

/** Of a mined payout the chain is the proof: its node was asked, and shows exactly what payouts has on record. */
function sorted(lost: readonly LostHold[], { checked, discrepancies }: BooksReport): Holds {
  const isProvable = ({ id, asset }: LostHold) =>
    checked.chains.includes(assets[asset].chain) &&
    !discrepancies.some(
      ({ chain, what, subject }) => chain !== undefined && ` ${subject} ${what} `.includes(` ${id} `),
    );
  return { provable: lost.filter(isProvable), others: lost.filter((hold) => !isProvable(hold)) };
}

type Repaired = { holds: LostHold[]; waiting: LostHold[]; events: LostEvents[] };

async function repairLost(db: Db, provable: readonly LostHold[], by: string): Promise<Repaired> {
  return await db.transaction(async (trx) => {
    const repaired: Repaired = { holds: [], waiting: [], events: [] };
    for (const hold of provable) {
      const outcome = await placeAgain(trx, hold);
      (outcome === 'placed' ? repaired.holds : repaired.waiting).push(hold);
      if (outcome === 'placed')
        await writeAuditLog(trx, { actor: by, action: 'place lost hold', subject: `payout ${hold.id}` });
    }
    const ends = await retryEndsOfHolds(trx, by);
    repaired.events = await sendLostEventsAgain(trx);
    if (ends > 0)
      repaired.events.push({
        sender: 'payouts',
        receiver: 'ledger',
        kind: 'dead letters of holds',
        count: ends,
      });
    for (const { sender, receiver, kind, count } of repaired.events)
      await writeAuditLog(trx, {
        actor: by,
        action: 'send lost events again',
        subject: `${count} ${kind} of ${sender} to ${receiver}`,
      });
    return repaired;
  });
}

/** What an operator does about it, by the name of the invariant. */
const REMEDIES: Readonly<Record<string, string>> = {
  'events-reach-receivers': 'Start the services: the event is on its way.',
  'payout-matches-hold':
    'Let the services run until the payout has ended, then `npx quittance restore --check --repair`; `npx quittance payouts show ID` tells its history.',
  'payout-matches-chain':
    'Compare the payout with the chain: `npx quittance payouts show ID`, and docs/runbook.md#signingpaused.',
  'deposit-matches-chain':
    'Read the blocks since the backup again: `npx quittance rescan CHAIN --from HEIGHT`.',
};
const REMEDY =
  'Start the services and check again: it ends with the events that are on their way. Otherwise docs/install.md#after-a-restore.';

const remedyOf = ({ name }: Discrepancy): string => REMEDIES[name] ?? REMEDY;

type Findings = {
  left: BooksReport;
  running: AssetSymbol[];
  holds: Holds;
  events: LostEvents[];
  repaired: Repaired | undefined;
};

function told({ left, running, holds, events, repaired }: Findings): SaidOutcome {
  const { discrepancies, excesses, checked } = left;
  const all = [...discrepancies, ...excesses];
  const shown = all.map((one) => say`${one.name} (${one.invariant}): ${one.what}\n     ${remedyOf(one)}\n`);
  const asked =
    checked.chains.length === 0
      ? 'No chain was asked: set <CHAIN>_RPC_URL and what belongs to it.'
      : `Compared with ${checked.chains.join(', ')}.`;
  return {
    json: {
      not_paused: running,
      discrepancies,
      excesses,
      chains: checked.chains,
      lost_holds: [...holds.provable, ...holds.others].map(({ id }) => id),
      lost_events: events,
      repaired: repaired && {
        holds: repaired.holds.map(({ id }) => id),
        waiting: repaired.waiting.map(({ id }) => id),
        events: repaired.events,
      },
    },
    text: say`${pauseLine(running)}${shown}${repaired === undefined ? repairable(holds, events) : repairedLines(repaired)}
${asked} ${all.length === 0 ? 'Databases and chains agree.' : `${all.length} differences.`}
${all.length === 0 && repaired === undefined ? say`Resume each asset:\n  npx quittance payouts resume --asset ETH\n` : ''}`,
    bad: all.length > 0 || running.length > 0,
  };
}

const pauseLine = (running: readonly AssetSymbol[]): Said =>
  running.length === 0
    ? say`Payouts of all assets are paused.\n\n`
    : say`NOT PAUSED: ${running.join(', ')}. Nothing is repaired before: \`npx quittance payouts pause --asset A --reason restore\`.\n\n`;

const count = (lost: readonly LostEvents[]): number => lost.reduce((sum, one) => sum + one.count, 0);

const repairable = ({ provable, others }: Holds, events: readonly LostEvents[]): Said =>
  say`
With --repair: ${count(events)} events are sent again, ${provable.length} holds of payouts that have ended are placed again.
${others.length === 0 ? '' : say`Not proven by a chain, so not repaired: payouts ${others.map(({ id }) => id).join(', ')}.\n`}`;

const repairedLines = ({ holds, waiting, events }: Repaired): Said => say`
Repaired: ${count(events)} events are sent again, ${holds.length} holds of payouts that have ended are placed again.
${waiting.length === 0 ? '' : say`Of payouts ${waiting.map(({ id }) => id).join(', ')} the balance has too little yet: start the services, and repair again when they have processed their events.\n`}`;
