import type { Db } from '@quittance/shared/db';
import { receivers, type Service } from '@quittance/shared/events';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { type Said, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

type Parked = {
  service: Service;
  event: string;
  kind: string;
  failure: string;
  parkedAt: Date;
  /** Whose outbox has it: who can send it again. */
  senders: Service[];
};

const SHOWN_MAX = 200;
const FAILURE_SHOWN = 80;

const OLDEST_FIRST = '"parkedAt"';
/** What cannot be sent again stays, however much it is, and may not stand in the way of what can. */
const SENDABLE_FIRST = `senders = '{}', "parkedAt"`;

/** One more than are shown, so that it is known whether there are more. */
async function parkedIn(db: Db, order: string, event: string | null = null): Promise<Parked[]> {
  const each = receivers.map(
    (service) =>
      `select '${service}' as service, event_id as event, kind, failure, parked_at as "parkedAt",
         operator.senders_of('${service}', event_id) as senders
       from ${service}.parked where $1::text is null or event_id = $1`,
  );
  return await db.rows<Parked>(
    `select * from (${each.join(' union all ')}) as parked order by ${order}, event limit ${SHOWN_MAX + 1}`,
    [event],
  );
}

/** Events that a service could not take in after many tries: nothing of them has happened there. */
export const parkedList = (around: Surroundings): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const found = await parkedIn(db, OLDEST_FIRST);
    const parked = found.slice(0, SHOWN_MAX);
    const rows = parked.map(({ service, event, kind, failure, parkedAt }) => [
      service,
      event,
      kind,
      minute(parkedAt),
      shortened(failure),
    ]);
    const more = found.length > SHOWN_MAX ? say`\nThe oldest ${SHOWN_MAX}; there are more.\n` : '';
    return {
      json: parked.map(({ service, event, kind, failure, parkedAt, senders }) => ({
        service,
        event,
        kind,
        failure,
        parked_at: parkedAt,
        can_be_requeued: senders.length > 0,
      })),
      text:
        parked.length === 0
          ? say`Nothing is parked: every event was taken in.\n`
          : say`${table(['SERVICE', 'EVENT', 'KIND', 'PARKED', 'WHY'], rows)}${more}
Mend what is named, then send them again:\n  npx quittance parked requeue EVENT   (or --all)\n`,
    };
  });

export type RequeueOrder = { event: string | undefined; all: boolean; notTakenIn: boolean };

/** Has their senders send parked events again. */
export async function parkedRequeue(
  around: Surroundings,
  { event: named, all, notTakenIn }: RequeueOrder,
): Promise<SaidOutcome> {
  if ((named === undefined) !== all)
    throw new CommandError('Which one? Name an EVENT as `quittance parked list` shows it, or say --all.');
  if (notTakenIn && all)
    throw new CommandError(
      '--not-taken-in goes with one EVENT: look for the effect of each before you say so.',
    );
  return await withOperator(around, 'operator', async (db) => {
    const found = await parkedIn(db, SENDABLE_FIRST, named);
    const wanted = found.slice(0, SHOWN_MAX);
    if (named !== undefined && wanted.length === 0)
      throw new CommandError(
        `${JSON.stringify(named)} is not parked. \`quittance parked list\` shows what is.`,
      );
    const by = actor(around);
    const done: Parked[] = [];
    const left: Parked[] = [];
    for (const one of wanted) {
      const { senders } = await db.one<{ senders: Service[] | null }>(
        'select operator.requeue($1, $2, $3, $4) as senders',
        [one.service, one.event, by, notTakenIn],
      );
      // Null: another operator was faster.
      if (senders !== null) (senders.length > 0 ? done : left).push({ ...one, senders });
    }
    if (named !== undefined && done.length === 0 && left.length > 0)
      throw new CommandError(unsaid(left).text);
    return {
      json: {
        requeued: done.map(({ service, event, kind }) => ({ service, event, kind })),
        left: left.map(({ service, event, kind }) => ({ service, event, kind })),
      },
      text: say`${
        done.length === 0
          ? say`Nothing was parked that could be sent again.\n`
          : say`Sent again by ${[...new Set(done.flatMap(({ senders }) => senders))].join(', ')}:
${done.map(({ service, event, kind }) => say`  ${event} ${kind} for ${service}\n`)}\
Who has it already drops it. \`quittance parked list\` in a minute shows whether it was taken in.\n`
      }${left.length === 0 ? '' : say`Left as they are. ${unsaid(left)}\n`}${
        found.length > SHOWN_MAX ? say`These were ${SHOWN_MAX}; there are more.\n` : ''
      }`,
    };
  });
}

/** What is sent again is what its sender says, never what was parked: that is only its receiver's word of it. */
const unsaid = (left: readonly Parked[]): Said =>
  say`These cannot be sent again: no sender of this release has such an event for whom it is parked with.
${left.map(({ service, event, failure }) => say`  ${service} ${event}: ${shortened(failure)}\n`)}\
From a newer release? Run that one first. Unknown there too, nobody has said it: look for who wrote it.`;

const shortened = (failure: string): string => failure.replaceAll(/\s+/g, ' ').slice(0, FAILURE_SHOWN);
