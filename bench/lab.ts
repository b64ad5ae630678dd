import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/** What benchmarks measure on, started when the first of them asks for it. */
export type Lab = {
  /**
   * All of Quittance with durable engines. The services look about as often as in production; tests make them look more often.
   */
  quittance(): Promise<Quittance>;
  close(): Promise<void>;
};

export function openLab(): Lab {
  let started: Promise<Quittance> | undefined;
  return {
    quittance() {
      started ??= startQuittance({
        settings: { invoices: { SCAN_EVERY_MS: '1000' }, payouts: { PAYOUTS_EVERY_MS: '1000' } },
        redis: true,
        durable: true,
        confirmations: 1,
        quiet: true,
        checkBooks: false,
        checkAnswers: false,
        busAdmin: true,
      });
      return started;
    },
    async close() {
      await (await started)?.stop();
    },
  };
}

/** The processes that a request of the API may reach. */
export const processesOf = ({
  stack: { services, engines },
}: Quittance): Record<string, number | undefined> => ({
  ...Object.fromEntries(Object.entries(services).map(([name, { pid }]) => [name, pid])),
  postgres: engines.postgres.pid,
  nats: engines.nats.pid,
});
