import { type Service, services } from '@quittance/shared/events';

/** The sandbox's default; everything it starts listens within fourteen ports of it. */
export const DEFAULT_PORT = 8400;

/** How many ports a stack takes, from its first on. */
export const PORTS = 14;

/** The signer listens nowhere. */
export type ListeningService = Exclude<Service, 'signer'>;
export const listeningServices = services.filter((one): one is ListeningService => one !== 'signer');

export type Ports = Record<
  | ListeningService
  | 'sandbox'
  | 'postgres'
  | 'nats'
  | 'redis'
  | 'ethereum'
  | 'bitcoin'
  | 'solana'
  | 'solanaEvents',
  number
>;

/** One number moves the whole stack, so that two can run side by side. */
export const portsFrom = (base: number): Ports => ({
  gateway: base,
  invoices: base + 1,
  payouts: base + 2,
  ledger: base + 3,
  webhooks: base + 4,
  postgres: base + 5,
  nats: base + 6,
  redis: base + 7,
  ethereum: base + 8,
  bitcoin: base + 9,
  solana: base + 10,
  solanaEvents: base + 11,
  auditor: base + 12,
  /** Where a sandbox pays with test money. */
  sandbox: base + 13,
});
