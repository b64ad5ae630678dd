import type { Ports as InvoicesPorts } from '@quittance/invoices/ports';
import type { Ports as PayoutsPorts } from '@quittance/payouts/ports';
import type { Service } from '@quittance/shared/events';
import type { Route } from './http-route.ts';
import type { Owner } from './scheduler.ts';

/** Two replicas of whom two could be in each other's way. */
export const REPLICAS = {
  invoices: 2,
  payouts: 2,
  ledger: 2,
  webhooks: 1,
  signer: 1,
} as const satisfies Partial<Record<Service, number>>;
export type SimService = keyof typeof REPLICAS;

/** What a process does when it is asked to: production's own steps over this world. */
export type Replica = {
  /** By the worker's name. Answers how much was done. */
  workers: ReadonlyMap<string, () => Promise<number>>;
  invoices?: InvoicesPorts;
  payouts?: PayoutsPorts;
  /** What invoices and payouts answer over HTTP besides what their ports are called for, by method and path. */
  routes?: ReadonlyMap<string, Route>;
};

/** A process of a service: what it has in memory is gone when it is killed. */
export type Process = Owner & {
  readonly service: SimService;
  /** Which of the service's replicas. */
  readonly place: number;
  readonly answers: Map<string, (body: unknown) => Promise<unknown>>;
  clockIsOffMs: number;
  /** The workers that are in the middle of a step. */
  readonly busy: Set<string>;
  replica: Replica;
};
