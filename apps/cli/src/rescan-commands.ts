import { type Chain, chainKinds } from '@quittance/shared/assets';
import { chainNamed } from './chain-named.ts';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

const SHOWN_MAX = 50;
/** Heights are integers of Postgres. */
const HEIGHT = /^\d{1,9}$/;

/** Has the blocks of a chain from a height on read once more: payments that were missed come in. */
export async function rescanAsk(
  around: Surroundings,
  { chain: named, from }: { chain: string; from: string | undefined },
): Promise<SaidOutcome> {
  const chain = chainNamed(named);
  if (from === undefined) throw new CommandError('From which block? Say --from <height>.');
  if (!HEIGHT.test(from))
    throw new CommandError(`--from is the height of a block, not ${JSON.stringify(from)}.`);
  const height = Number(from); // eslint-disable-line no-restricted-syntax -- a height
  return await withOperator(around, 'operator', async (db) => {
    const { id } = await db.one<{ id: string | null }>('select operator.rescan($1, $2, $3) as id', [
      chain,
      height,
      actor(around),
    ]);
    const cursor = await db.maybe<{ height: number }>(
      'select height from invoices.cursors where chain = $1',
      [chain],
    );
    if (cursor === undefined) throw new CommandError(`invoices has not followed ${chain} yet.`);
    if (id === null)
      throw new CommandError(
        `invoices has followed ${chain} to block ${cursor.height}: what is above it will be read anyway.`,
      );
    return {
      json: { id, chain, from: height, until: cursor.height },
      text: say`Asked for: invoices reads blocks ${height} to ${cursor.height} of ${chain} again, beside its work${
        chainKinds[chain] === 'evm' ? say`, and then\nlooks once at the balance of each address` : ''
      }.
\`quittance rescan\` shows how far it is.\n`,
    };
  });
}

/** Ends what was asked to be read again on a chain; what was found stays. */
export async function rescanStop(around: Surroundings, named: string): Promise<SaidOutcome> {
  const chain = chainNamed(named);
  return await withOperator(around, 'operator', async (db) => {
    const { stopped } = await db.one<{ stopped: number }>('select operator.stop_rescans($1, $2) as stopped', [
      chain,
      actor(around),
    ]);
    if (stopped === 0) throw new CommandError(`Nothing of ${chain} is being read again.`);
    return {
      json: { chain, stopped },
      text: say`Stopped: nothing of ${chain} is read again any more. What was found stays.\n`,
    };
  });
}

type Rescan = {
  id: string;
  chain: Chain;
  from: number;
  first: number | null;
  next: number;
  until: number | null;
  found: number;
  asked_at: Date;
  ended_at: Date | null;
  failure: string | null;
};

/** Shows what was asked to be read again, the latest first. */
export async function rescanList(around: Surroundings): Promise<SaidOutcome> {
  return await withOperator(around, 'operator', async (db) => {
    const rescans = await db.rows<Rescan>(
      `select id::text, chain, from_height as from, first_height as first, next_height as next, until_height as until, found, asked_at,
         ended_at, failure
       from invoices.rescans order by id desc limit $1`,
      [SHOWN_MAX],
    );
    const rows = rescans.map((one) => [
      one.id,
      one.chain,
      String(one.from),
      String(one.found),
      minute(one.asked_at),
      standingOf(one),
    ]);
    return {
      json: rescans,
      text:
        rescans.length === 0
          ? say`Nothing was asked to be read again.\n`
          : say`${table(['RESCAN', 'CHAIN', 'FROM', 'FOUND', 'ASKED FOR', 'STANDS'], rows)}\n`,
    };
  });
}

function standingOf({ first, next, until, ended_at, failure }: Rescan): string {
  if (failure !== null) return `ended at block ${next}: ${failure}`;
  // A node of Solana begins with the first that it has.
  if (ended_at !== null) return `done, blocks ${first} to ${until}, ${minute(ended_at)}`;
  if (until !== null && next > until) return `blocks ${first} to ${until} are read, balances are looked at`;
  return first === null ? 'waiting' : `from block ${first}, at ${next} of ${until}`;
}
