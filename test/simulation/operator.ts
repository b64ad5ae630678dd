import { noteHalt, noteResume } from '@quittance/payouts/store/halts';
import type { AssetSymbol } from '@quittance/shared/assets';
import { commands } from '@quittance/shared/commands';
import type { Trx } from '@quittance/shared/db';
import type { Environment } from './environment.ts';
import { queryable } from './ports.ts';

/**
 * From when until when nothing of an asset may be signed. What was signed before may be stored and sent later: a chain worker
 * that has died between the two is followed by one that does so. `asked`: the payouts and swept addresses of the plans of that
 * moment, whose signatures may be on their way.
 */
export type Pause = {
  asset: AssetSymbol;
  from: number;
  to: number;
  signedBefore: readonly string[];
  asked: readonly string[];
};

const PAUSE_MAX_MS = 20_000;

/** An operator who pauses the payouts of an asset, and resumes them. */
export async function runOperator(
  environment: Environment,
  pauses: Pause[],
  onResumed: () => void,
): Promise<void> {
  const { chance, chain, database, scheduler, outside } = environment;
  await scheduler.sleep(outside, chance.below(6_000));
  // Often while the chain worker is in the middle of a round.
  for (let turns = chance.below(60); turns > 0; turns--) await scheduler.turn(outside);
  const asset = chance.oneOf(chain.assets);
  const from = await change(environment, (trx) => noteHalt(trx, { asset, halt: '1' }));
  const signedBefore = database
    .run('signer', 'select tx_hash from signatures', [], false)
    .map((signature) => String(signature['tx_hash']));
  const asked = database
    .run(
      'payouts',
      `select coalesce(payment->>'payoutId', planned->'swept'->>'address') as what from signing_plans
       cross join jsonb_array_elements(transactions) planned
       left join lateral jsonb_array_elements(planned->'payments') payment on true`,
      [],
      false,
    )
    .map(({ what }) => String(what));
  environment.tell(outside, `payouts of ${asset} are paused`);
  await scheduler.sleep(outside, chance.below(PAUSE_MAX_MS));
  const to = await change(environment, (trx) => noteResume(trx, { asset, halt: '1' }));
  environment.tell(outside, `payouts of ${asset} are resumed`);
  pauses.push({ asset, from, to, signedBefore, asked });
  onResumed();
}

/** What is written while somebody's transaction is open would be part of it. @returns when it was written */
async function change(environment: Environment, work: (trx: Trx) => Promise<void>): Promise<number> {
  const { database, scheduler, outside } = environment;
  while (environment.open !== undefined) await scheduler.turn(outside);
  const at = scheduler.now;
  database.now = at;
  const run = async (...[sql, values = []]: Parameters<Parameters<typeof queryable>[0]>) =>
    database.run('payouts', sql, values, false);
  await work(queryable(run) as Trx);
  return at;
}

/** Nothing is signed while the payouts of its asset are paused, but what was asked for before and is answered in time. */
export function signedWhilePaused({ database }: Environment, pauses: readonly Pause[]): string[] {
  return pauses.flatMap(({ asset, from, to, signedBefore, asked }) => {
    const inTime = database
      .run(
        'signer',
        'select tx_hash from signatures where created_at < $1',
        [isoOf(from + SIGNED_WITHIN_MS)],
        false,
      )
      .map((signature) => String(signature['tx_hash']));
    return database
      .run(
        'payouts',
        `select purpose, id from transactions t
         where asset = $1 and created_at > $2 and created_at < $3 and tx_hash <> all($4)
           and not (tx_hash = any($5) and (swept_address = any($6) or exists (
             select from payments p
             where p.replacement_group = t.replacement_group and p.payout_id::text = any($6))))`,
        [asset, isoOf(from), isoOf(to), signedBefore, inTime, asked],
        false,
      )
      .map(({ purpose, id }) => `signed while payouts of ${asset} were paused: ${purpose} ${id}`);
  });
}

/** The signer signs nothing that it was asked for longer ago. */
const SIGNED_WITHIN_MS = commands['transactions.sign'].timeoutMs;

const isoOf = (ms: number): string => new Date(ms).toISOString();
