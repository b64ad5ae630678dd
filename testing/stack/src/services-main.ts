import { loadConfig } from '@quittance/shared/config';
import { type Service, services } from '@quittance/shared/events';
import { type Running, runService } from '@quittance/shared/lifecycle';
import { z } from 'zod';
import { configSchema as auditor } from '../../../services/auditor/src/config.ts';
import { startAuditor } from '../../../services/auditor/src/service.ts';
import { configSchema as gateway } from '../../../services/gateway/src/config.ts';
import { startGateway } from '../../../services/gateway/src/service.ts';
import { configSchema as invoices } from '../../../services/invoices/src/config.ts';
import { startInvoices } from '../../../services/invoices/src/service.ts';
import { configSchema as ledger } from '../../../services/ledger/src/config.ts';
import { startLedger } from '../../../services/ledger/src/service.ts';
import { configSchema as payouts } from '../../../services/payouts/src/config.ts';
import { startPayouts } from '../../../services/payouts/src/service.ts';
import { configSchema as signer } from '../../../services/signer/src/config.ts';
import { startSigner } from '../../../services/signer/src/service.ts';
import { configSchema as webhooks } from '../../../services/webhooks/src/config.ts';
import { startWebhooks } from '../../../services/webhooks/src/service.ts';

/*
 * Several services as one process, for tests that kill none of them: what they all import is loaded once. Each has its own
 * settings, as in production. SERVICES has them as JSON, by the name of the service.
 */

type Env = Readonly<Record<string, string>>;

const starts: Record<Service, (env: Env) => Promise<Running>> = {
  auditor: (env) => startAuditor(loadConfig('auditor', auditor, env)),
  gateway: (env) => startGateway(loadConfig('gateway', gateway, env)),
  invoices: (env) => startInvoices(loadConfig('invoices', invoices, env)),
  ledger: (env) => startLedger(loadConfig('ledger', ledger, env)),
  payouts: (env) => startPayouts(loadConfig('payouts', payouts, env)),
  signer: (env) => startSigner(loadConfig('signer', signer, env)),
  webhooks: (env) => startWebhooks(loadConfig('webhooks', webhooks, env)),
};

const schema = z.object({
  SERVICES: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.partialRecord(z.enum(services), z.record(z.string(), z.string()))),
  /** A failpoint ends a process: it needs a process of one service. */
  CRASH_AT: z.undefined().optional(),
});

async function start({ SERVICES: settings }: z.infer<typeof schema>): Promise<Running> {
  const wanted = services.flatMap((service) => {
    const env = settings[service];
    return env === undefined ? [] : [starts[service](env)];
  });
  const running = await Promise.all(wanted);
  return {
    stop: async () => void (await Promise.all(running.map((service) => service.stop()))),
    ready: Promise.all(running.map(async ({ ready }) => ready)).then(() => undefined),
  };
}

await runService('services', schema, start, process.env);
