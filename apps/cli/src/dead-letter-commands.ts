import type { Db } from '@quittance/shared/db';
import { receivers, type Service } from '@quittance/shared/events';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { type Said, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

type DeadLetter = {
  service: Service;
  event: string;
  kind: string;
  failure: string;
  failedAt: Date;
  /** The services whose outbox has it: they can send it again. */
  senders: Service[];
};

const SHOWN_MAX = 200;
const FAILURE_SHOWN = 80;

const OLDEST_FIRST = '"failedAt"';
/** Dead letters that cannot be sent again stay in the list, and must not hide those that can. */
const SENDABLE_FIRST = `senders = '{}', "failedAt"`;

/** One more than are shown, so that it is known whether there are more. */
async function deadLettersIn(db: Db, order: string, event: string | null = null): Promise<DeadLetter[]> {
  const each = receivers.map(
    (service) =>
      `select '${service}' as service, event_id as event, kind, failure, failed_at as "failedAt",
         operator.senders_of('${service}', event_id) as senders
       from ${service}.dead_letters where $1::text is null or event_id = $1`,
  );
  return await db.rows<DeadLetter>(
    `select * from (${each.join(' union all ')}) as dead_letters order by ${order}, event limit ${SHOWN_MAX + 1}`,
    [event],
  );
}

/** Events that a service failed to process after many tries: they have had no effect there. */
export const listDeadLetters = (around: Surroundings): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const found = await deadLettersIn(db, OLDEST_FIRST);
    const deadLetters = found.slice(0, SHOWN_MAX);
    const rows = deadLetters.map(({ service, event, kind, failure, failedAt }) => [
      service,
      event,
      kind,
      minute(failedAt),
      shortened(failure),
    ]);
    const more = found.length > SHOWN_MAX ? say`\nThe oldest ${SHOWN_MAX}; there are more.\n` : '';
    return {
      json: deadLetters.map(({ service, event, kind, failure, failedAt, senders }) => ({
        service,
        event,
        kind,
        failure,
        failed_at: failedAt,
        // The former name, for one release.
        parked_at: failedAt,
        can_be_requeued: senders.length > 0,
      })),
      text:
        deadLetters.length === 0
          ? say`There are no dead letters: every event was processed.\n`
          : say`${table(['SERVICE', 'EVENT', 'KIND', 'SINCE', 'WHY'], rows)}${more}
Fix the named cause, then retry:\n  npx quittance dead-letters retry EVENT   (or --all)\n`,
    };
  });

export type RetryOptions = { event: string | undefined; all: boolean; notProcessed: boolean };

/** Has the senders send dead letters again. */
export async function retryDeadLetters(
  around: Surroundings,
  { event: named, all, notProcessed }: RetryOptions,
): Promise<SaidOutcome> {
  if ((named === undefined) !== all)
    throw new CommandError(
      'Which one? Name an EVENT as `quittance dead-letters list` shows it, or say --all.',
    );
  if (notProcessed && all)
    throw new CommandError(
      '--not-processed goes with one EVENT: check that its effect does not exist before you confirm it.',
    );
  return await withOperator(around, 'operator', async (db) => {
    const found = await deadLettersIn(db, SENDABLE_FIRST, named);
    const wanted = found.slice(0, SHOWN_MAX);
    if (named !== undefined && wanted.length === 0)
      throw new CommandError(
        `${JSON.stringify(named)} is no dead letter. \`quittance dead-letters list\` shows all.`,
      );
    const by = actor(around);
    const done: DeadLetter[] = [];
    const left: DeadLetter[] = [];
    for (const one of wanted) {
      const { senders } = await db.one<{ senders: Service[] | null }>(
        'select operator.retry_dead_letter($1, $2, $3, $4) as senders',
        [one.service, one.event, by, notProcessed],
      );
      // Null: another operator was faster.
      if (senders !== null) (senders.length > 0 ? done : left).push({ ...one, senders });
    }
    if (named !== undefined && done.length === 0 && left.length > 0)
      throw new CommandError(notSendable(left).text);
    return {
      json: {
        requeued: done.map(({ service, event, kind }) => ({ service, event, kind })),
        left: left.map(({ service, event, kind }) => ({ service, event, kind })),
      },
      text: say`${
        done.length === 0
          ? say`There is no dead letter that can be sent again.\n`
          : say`Sent again by ${[...new Set(done.flatMap(({ senders }) => senders))].join(', ')}:
${done.map(({ service, event, kind }) => say`  ${event} ${kind} for ${service}\n`)}\
A service that has processed it already drops it. In a minute \`quittance dead-letters list\` shows whether it failed again.\n`
      }${left.length === 0 ? '' : say`Left as they are. ${notSendable(left)}\n`}${
        found.length > SHOWN_MAX ? say`These were ${SHOWN_MAX}; there are more.\n` : ''
      }`,
    };
  });
}

/** The sender's own event is sent again, never the dead letter's copy: a receiver could have forged that. */
const notSendable = (left: readonly DeadLetter[]): Said =>
  say`These cannot be sent again: no sender of this release has such an event for that service.
${left.map(({ service, event, failure }) => say`  ${service} ${event}: ${shortened(failure)}\n`)}\
If they come from a newer release, run that release first. If it does not know them either, no service has sent them: find out who wrote them.`;

const shortened = (failure: string): string => failure.replaceAll(/\s+/g, ' ').slice(0, FAILURE_SHOWN);
