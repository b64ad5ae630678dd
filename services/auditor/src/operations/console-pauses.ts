import type { AssetSymbol } from '@quittance/shared/assets';
import { appendToOutbox } from '@quittance/shared/outbox';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { BY_CONSOLE, isByConsole } from '../domain/console-pause.ts';
import type { Ports } from '../ports.ts';
import { closeHalt, isFoundRight, lockHalt } from '../store/halts.ts';
import { haltPayouts } from './halts.ts';

/** The check that has found an asset right began within this time when its payouts are resumed. */
const FOUND_RIGHT_WITHIN_SECONDS = 5 * 60;

type PausePorts = Pick<Ports, 'db' | 'clock' | 'wakeRelay'>;

/** Pauses the payouts of an asset. The gateway has written the audit log. */
export async function pauseByConsole(
  { db, clock, wakeRelay }: PausePorts,
  order: { asset: AssetSymbol; reason: string },
): Promise<Result<{ halt: string }, 'halted_already'>> {
  const paused = await haltPayouts(
    { db, clock, note: async () => undefined },
    { ...order, invariant: BY_CONSOLE },
  );
  if (paused.ok) wakeRelay();
  return paused;
}

export type ConsoleResumeRefusal =
  | 'not_halted'
  /** The auditor has paused them, or an operator with the command line. */
  | 'not_by_console'
  /** There is a discrepancy, or no check of the last minutes. */
  | 'not_found_right';

/**
 * Resumes the payouts of an asset which the console has paused: of no other, because who takes over the gateway can ask for
 * it too. The last check must have found the asset right.
 */
export async function resumeByConsole(
  { db, clock, wakeRelay }: PausePorts,
  asset: AssetSymbol,
): Promise<Result<{ halt: string }, ConsoleResumeRefusal>> {
  const resumed = await db.transaction(
    async (trx): Promise<Result<{ halt: string }, ConsoleResumeRefusal>> => {
      const halt = await lockHalt(trx, asset);
      if (halt === undefined) return refuse('not_halted');
      if (!isByConsole(halt)) return refuse('not_by_console');
      if (!(await isFoundRight(trx, asset, FOUND_RIGHT_WITHIN_SECONDS))) return refuse('not_found_right');
      await closeHalt(trx, asset, { at: clock.now(), forced: false });
      await appendToOutbox(trx, [{ kind: 'asset.resumed', payload: { asset, halt: halt.seq } }]);
      return ok({ halt: halt.seq });
    },
  );
  if (resumed.ok) wakeRelay();
  return resumed;
}
