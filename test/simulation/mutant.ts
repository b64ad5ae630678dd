import type { ChainReader, ChainSender } from '@quittance/chains/chain';
import type { ChainKind } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import type { Route } from './http-route.ts';

/** The steps of each service that the world takes, by name. What is put in one's place gets the real one. */
export type Steps = {
  /** `processMessages` of packages/shared/src/process-messages.ts: a batch of messages. */
  consume: typeof import('@quittance/shared/process-messages').processMessages;
  relay: typeof import('@quittance/shared/outbox').relayStep;
  reconcile: typeof import('@quittance/shared/reconcile').reconcileStep;
  'payouts.engine': typeof import('@quittance/payouts/operations/run-chain-worker').runChainWorker;
  'payouts.void': typeof import('@quittance/payouts/operations/request-payout').voidStaleRequests;
  'ledger.hold': typeof import('@quittance/ledger/operations/place-asked-hold').placeAskedHold;
};

/** The files that a merchant gets. */
export type ExportedFile = 'invoices' | 'payouts' | 'balance-transactions' | 'statement';

/** Where a mutant is applied: each replica of a service is wired through this when it starts. */
export type Wiring = {
  /** The text of production statements by `<service>.<statement's name>`, e.g. `ledger.inbox_insert`; `*.inbox_insert` is all of them. */
  readonly sql: Map<string, (text: string) => string>;
  /** What a service's processes get for their database. */
  readonly db: { [S in Service]?: (db: Db) => Db };
  readonly bus: { [S in Service]?: (bus: Bus) => Bus };
  readonly clock: { [S in Service]?: (clock: Clock) => Clock };
  reader?: (reader: ChainReader) => ChainReader;
  /** The kind's own sender comes in and goes out. */
  sender?: <T extends ChainSender>(sender: T) => T;
  /** The kind's own signer, likewise; with the sender of the same replica. */
  signer?: <T extends object>(signer: T, sender: ChainSender) => T;
  /** The signer signs whatever it is asked for: it would prevent what the mutant does. */
  isSignerUnguarded?: boolean;
  /** The text of the statement that reads what is exported. */
  readonly files: Map<ExportedFile, (text: string) => string>;
  /** In place of what is answered over HTTP, by method and path. */
  readonly routes: Map<string, (real: Route) => Route>;
  /** In place of a step, for one service or all. */
  readonly steps: { [N in keyof Steps]?: (real: Steps[N], service: Service) => Steps[N] };
};

/** A mutant, applied as a small change of production code: the simulation must find it. */
export type Mutant = {
  name: string;
  /** The mutant in one line. */
  what: string;
  /** The violation that must show it. Any other may come from an error in the mutant itself, which proves nothing. */
  shows: RegExp;
  /** Where it can be seen; all kinds when not given. */
  kinds?: readonly ChainKind[];
  /** How many seeds may pass before it shows, where a thousand are too few. */
  seedsMax?: number;
  apply(wiring: Wiring): void;
};

/** How replicas are wired with a mutant. Of what payouts does wrong the signer would prevent some, and nothing would be seen. */
export function wiringWith(mutant: Mutant | undefined): Wiring {
  if (mutant === undefined) return emptyWiring();
  const wiring: Wiring = { ...emptyWiring(), isSignerUnguarded: true };
  mutant.apply(wiring);
  return wiring;
}

export const emptyWiring = (): Wiring => ({
  sql: new Map(),
  files: new Map(),
  db: {},
  bus: {},
  clock: {},
  routes: new Map(),
  steps: {},
});
