import type { Db } from '@quittance/shared/db';
import { type EventKind, events, receivers, type Service } from '@quittance/shared/events';
import { actor, withOperator } from './operator-database.ts';
import type { Outcome } from './outcome.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

type Parked = {
  service: Service;
  event: string;
  kind: string;
  failure: string;
  parkedAt: Date;
  hasId: boolean;
};

const SHOWN_MAX = 200;
const FAILURE_SHOWN = 80;

async function parkedIn(db: Db): Promise<Parked[]> {
  const each = receivers.map(
    (service) =>
      `select '${service}' as service, event_id as event, kind, failure, parked_at as "parkedAt",
         coalesce(envelope ->> 'id' = event_id, false) as "hasId" from ${service}.parked`,
  );
  return await db.rows<Parked>(
    `${each.join(' union all ')} order by "parkedAt", event limit ${SHOWN_MAX + 1}`,
  );
}

/** Events that a service could not take in after many tries: nothing of them has happened there. */
export const parkedList = (around: Surroundings): Promise<Outcome> =>
  withOperator(around, 'operator', async (db) => {
    const found = await parkedIn(db);
    const parked = found.slice(0, SHOWN_MAX);
    const rows = parked.map(({ service, event, kind, failure, parkedAt }) => [
      service,
      event,
      kind,
      minute(parkedAt),
      failure.replaceAll(/\s+/g, ' ').slice(0, FAILURE_SHOWN),
    ]);
    const more = found.length > SHOWN_MAX ? `\nThe oldest ${SHOWN_MAX}; there are more.\n` : '';
    return {
      json: parked.map(({ service, event, kind, failure, parkedAt, hasId }) => ({
        service,
        event,
        kind,
        failure,
        parked_at: parkedAt,
        can_be_requeued: hasId && isKind(kind),
      })),
      text:
        parked.length === 0
          ? 'Nothing is parked: every event was taken in.\n'
          : `${table(['SERVICE', 'EVENT', 'KIND', 'PARKED', 'WHY'], rows)}${more}\n` +
            'Mend what is named, then send them again:\n  npx quittance parked requeue EVENT   (or --all)\n',
    };
  });

export type RequeueOrder = { event: string | undefined; all: boolean };

/** Has their senders send parked events again. */
export async function parkedRequeue(
  around: Surroundings,
  { event: named, all }: RequeueOrder,
): Promise<Outcome> {
  if ((named === undefined) !== all)
    throw new CommandError('Which one? Name an EVENT as `quittance parked list` shows it, or say --all.');
  return await withOperator(around, 'operator', async (db) => {
    const wanted = (await parkedIn(db)).filter(({ event }) => all || event === named);
    if (named !== undefined && wanted.length === 0)
      throw new CommandError(
        `${JSON.stringify(named)} is not parked. \`quittance parked list\` shows what is.`,
      );
    const able = wanted.filter(({ kind, hasId }) => hasId && isKind(kind));
    const unable = wanted.filter((one) => !able.includes(one));
    if (named !== undefined && able.length === 0)
      throw new CommandError(
        `${named} cannot be sent again: it is nothing that a service of this release says (${unable[0]?.failure}). ` +
          'If it came from a newer release, run that one first.',
      );
    const done: Parked[] = [];
    for (const one of able) {
      const { requeued } = await db.one<{ requeued: boolean }>(
        'select operator.requeue($1, $2, $3, $4) as requeued',
        [one.service, one.event, events[one.kind as EventKind].from, actor(around)],
      );
      if (requeued) done.push(one);
    }
    const left =
      unable.length === 0
        ? ''
        : `Left as they are, nothing that a service of this release says:\n${unable.map(({ service, event }) => `  ${service} ${event}\n`).join('')}`;
    return {
      json: {
        requeued: done.map(({ service, event, kind }) => ({ service, event, kind })),
        left: unable.map(({ service, event, kind }) => ({ service, event, kind })),
      },
      text:
        (done.length === 0
          ? 'Nothing was parked that could be sent again.\n'
          : `Sent again by ${[...new Set(done.map(({ kind }) => events[kind as EventKind].from))].join(', ')}:\n${done.map(({ service, event, kind }) => `  ${event} ${kind} for ${service}\n`).join('')}` +
            'Who has it already drops it. `quittance parked list` in a minute shows whether it was taken in.\n') +
        left,
    };
  });
}

const isKind = (kind: string): kind is EventKind => Object.hasOwn(events, kind);
