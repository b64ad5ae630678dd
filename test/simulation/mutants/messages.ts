import type { Db, Trx } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import type { processMessages } from '@quittance/shared/process-messages';
import type { Mutant, Wiring } from '../mutant.ts';
import { afterCommit, hooked, rewrite } from './statements.ts';

/** Without this most mutants that lose a message are healed: that is what it is for. */
function trustTheBroker(wiring: Wiring): void {
  wiring.steps.reconcile = () => async () => 0;
}

function forAll<K extends 'db' | 'bus'>(
  wiring: Wiring,
  port: K,
  wrap: NonNullable<Wiring[K][Service]>,
): void {
  for (const service of services) wiring[port][service] = wrap;
}

/** How services tell each other things. */
export const messageMutants: readonly Mutant[] = [
  {
    name: 'trust-the-broker',
    what: 'what the broker has acknowledged has arrived: nobody asks the receivers',
    shows: /does not have it/,
    apply: trustTheBroker,
  },
  {
    name: 'fire-and-forget',
    what: 'events are marked as sent whatever the broker says, and nobody asks the receivers',
    shows: /does not have it/,
    apply(wiring) {
      trustTheBroker(wiring);
      forAll(wiring, 'bus', (bus) => ({
        ...bus,
        async publish(messages) {
          await bus.publish(messages);
          return messages.map(() => true);
        },
      }));
    },
  },
  {
    name: 'announced-after-commit',
    what: 'no outbox row in the transaction: an event is written when its change is committed',
    shows: /^I4|does not have it/,
    apply(wiring) {
      forAll(wiring, 'db', afterCommit('outbox_insert'));
    },
  },
  {
    name: 'relay-after-the-last',
    what: 'the relay goes on behind the last row that was sent (seq > last)',
    shows: /events wait in the outbox/,
    apply(wiring) {
      rewrite(wiring, '*.outbox_claim', [
        'where sent_at is null and (',
        `where seq > coalesce((select max(seq) from outbox where sent_at is not null), 0)
           and sent_at is null and (`,
      ]);
    },
  },
  {
    name: 'acknowledged-before-commit',
    what: 'a message is acknowledged when it is read, and nobody asks whether it was taken in',
    shows: /does not have it/,
    apply(wiring) {
      trustTheBroker(wiring);
      wiring.steps.consume = (real) => async (messages, options) => {
        for (const message of messages) message.ack();
        const silent = { ack: () => {}, nak: () => {}, term: () => {} };
        await real(
          messages.map((message) => ({ ...message, ...silent })),
          options,
        );
      };
    },
  },
  {
    name: 'inbox-before-effect',
    what: 'the inbox row is committed first, the effect in a transaction of its own',
    shows: /^I4|does not have it/,
    apply(wiring) {
      wiring.steps.consume = (real) => async (messages, options) => {
        const fresh = new Set<unknown>();
        const first: typeof processMessages = real;
        await first(messages, { ...options, db: processingFirst(options.db, fresh) });
      };
    },
  },
  {
    name: 'no-inbox',
    what: 'the ledger books every message that it is handed: no inbox, and no name for what happened once',
    shows: /the ledger has a dead letter: hold\.settle/,
    apply(wiring) {
      rewrite(wiring, 'ledger.inbox_insert', [
        'on conflict do nothing',
        'on conflict (event_id) do update set received_at = now()',
      ]);
      rewrite(wiring, 'ledger.postings_insert', [
        'select * from unnest(',
        `select t.op || case when exists (select from transfers k where k.op = t.op)
           then ' again ' || (select count(*) from transfers) else '' end as op,
           t.kind, t.account_id, t.asset, t.amount, t.network_fee, t.detail, t.n
         from unnest(`,
      ]);
    },
  },
];

/** Before a transaction begins nobody knows which events it is for: it is begun once to learn that. */
function processingFirst(db: Db, fresh: Set<unknown>): Db {
  return {
    ...db,
    async transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
      const taken = new Set<unknown>();
      await db.transaction(async (trx) => {
        class Enough extends Error {}
        const onlyInbox = hooked(trx, async ({ sql }, go) => {
          if (sql.name !== 'inbox_insert') throw new Enough();
          const rows = await go();
          for (const { event_id: id } of rows) taken.add(id);
          throw new Enough();
        });
        await work(onlyInbox as Trx).catch((error: unknown) => {
          if (!(error instanceof Enough)) throw error;
        });
      });
      for (const id of taken) fresh.add(id);
      return await db.transaction((trx) =>
        work(
          hooked(trx, async ({ sql, values }, go) => {
            if (sql.name !== 'inbox_insert') return await go();
            return (values[0] as readonly unknown[])
              .filter((id) => fresh.has(id))
              .map((id) => ({ event_id: id }));
          }) as Trx,
        ),
      );
    },
  };
}
