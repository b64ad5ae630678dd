import type { Trx } from './db.ts';
import type { EventKind, EventOf, events, Service } from './events.ts';

/**
 * Writes the effect of new events of one kind with `trx`. It runs again with the same events when the transaction fails.
 */
export type Handler<K extends EventKind, P> = (
  trx: Trx,
  events: readonly EventOf<K>[],
  ports: P,
) => Promise<void>;

/** Handles all new events of a batch, in the order of their arrival. */
export type BatchHandler<P = unknown> = Handler<EventKind, P>;

/**
 * What a service does with the events of a batch: `*` gets all of them first, in the order of their arrival, then each
 * kind's handler those of its kind, in the order in which the handlers are listed. Where `*` is the only handler it takes
 * all kinds.
 */
export type Handlers<P = unknown> = { readonly [K in EventKind]?: Handler<K, P> } & {
  readonly '*'?: BatchHandler<P>;
};

type KindFor<S extends Service> = {
  [K in EventKind]: S extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** The handlers of a service: one for each kind that it receives, or `*` alone. */
export type HandlersOf<S extends Service, P> = { readonly '*'?: BatchHandler<P> } & (
  | { readonly [K in KindFor<S>]: Handler<K, P> }
  | { readonly '*': BatchHandler<P> }
);

/** Hands a batch of new events to its handlers. Throws when a kind has none: nothing of the batch may be committed then. */
export async function handleBatch<P>(
  trx: Trx,
  batch: readonly EventOf<EventKind>[],
  handlers: Handlers<P>,
  ports: P,
): Promise<void> {
  if (batch.length === 0) return;
  const { '*': all, ...byKind } = handlers;
  const kinds = Object.keys(byKind) as EventKind[];
  const unhandled = batch.find(({ kind }) => !kinds.includes(kind));
  if (unhandled !== undefined && (all === undefined || kinds.length > 0)) {
    throw new Error(`no handler for ${unhandled.kind}`);
  }
  await all?.(trx, batch, ports);
  const groups = Map.groupBy(batch, (event) => event.kind);
  for (const kind of kinds) {
    const group = groups.get(kind);
    if (group !== undefined) await (byKind[kind] as BatchHandler<P>)(trx, group, ports);
  }
}
