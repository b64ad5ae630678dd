import { setTimeout as pause } from 'node:timers/promises';
import { connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import type { EventKind, EventOf } from '@quittance/shared/events';
import { newAccountId, newInvoiceId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { appendToOutbox } from '@quittance/shared/outbox';
import { type MerchantEvent, recordEvents } from '@quittance/webhooks/operations/events';
import type { Benchmark, Sample } from '../benchmark.ts';
import { driveAtRate, percentiles } from '../drive.ts';
import { openServiceDb } from '../yardsticks/ledger-accounts.ts';
import { openEcho } from '../yardsticks/nats.ts';

const PER_SECOND = 500;
const SECONDS = 4;
const ARRIVES_WITHIN_MS = 10_000;

export const commitToEffect: Benchmark = {
  name: 'commit-to-effect',
  what: 'From the commit of an invoice event in the outbox to the commit of its effect in webhooks (the event log), p50 at 500 events/s, each in a transaction of its own.',
  yardstick: 'p50 of one NATS request-reply',
  target: { atMost: 20 },
  unit: 'ms',
  async setUp(lab) {
    const quittance = await lab.quittance();
    const { services } = quittance.stack;
    // This process takes their places, so that both commits are seen by one clock.
    await Promise.all([services.invoices.stop(), services.webhooks.stop()]);
    const logger = createLogger('bench', 'error');
    const parts = async (service: 'invoices' | 'webhooks') => ({
      service,
      logger,
      db: openServiceDb(quittance, service, 10),
      bus: await connectBus({ url: quittance.stack.busUrl(service), service, logger }),
    });
    const [sends, receives] = [await parts('invoices'), await parts('webhooks')];
    const committedAt = new Map<string, number>();
    const times: number[] = [];
    let written: string[] = [];
    const sender = startMessenger(sends);
    const receiver = startMessenger({
      ...receives,
      handlers: {
        async '*'(trx, events) {
          written = events.map(resourceOf);
          await recordEvents(trx, events as MerchantEvent[], { clock: systemClock });
        },
      },
      committed() {
        const now = performance.now();
        for (const id of written) {
          const since = committedAt.get(id);
          if (since !== undefined) times.push(now - since);
          committedAt.delete(id);
        }
      },
    });
    const account = newAccountId(new Date());
    async function send(): Promise<void> {
      const id = newInvoiceId(new Date());
      const payload = { account_id: account, resource_id: id, version: 1, data: { id, status: 'pending' } };
      await sends.db.transaction((trx) => appendToOutbox(trx, [{ kind: 'invoice.created', payload }]));
      committedAt.set(id, performance.now());
      sender.wake();
    }
    async function ours(): Promise<Sample> {
      times.length = 0;
      const { operations = 0 } = await driveAtRate(send, PER_SECOND, SECONDS);
      const deadline = performance.now() + ARRIVES_WITHIN_MS;
      while (committedAt.size > 0) {
        if (performance.now() > deadline) throw new Error(`${committedAt.size} events have not arrived`);
        await pause(5);
      }
      const sample = percentiles(times);
      return { figure: sample.p50Ms, operations, ...sample };
    }
    const echo = await openEcho(quittance.stack);
    return {
      ours,
      theirs: echo.measure,
      async close() {
        await echo.close();
        await sender.stop();
        await receiver.stop();
        for (const { bus, db } of [sends, receives]) {
          await bus.close();
          await db.close();
        }
        await Promise.all([services.invoices.restart(), services.webhooks.restart()]);
      },
    };
  },
};

const resourceOf = (event: EventOf<EventKind>): string => (event as MerchantEvent).payload.resource_id;
