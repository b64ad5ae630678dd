import { afterAll, beforeAll } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { serveTestMoneyOf, testMoneyUrl } from '@quittance/sandbox/test-money';
import type { Listening } from '@quittance/shared/http-server';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { choiceCases } from './shop/choices.ts';
import { clientCases } from './shop/client.ts';
import { contractCases } from './shop/contract.ts';
import { ethereumCases } from './shop/ethereum.ts';
import { eventCases } from './shop/events.ts';
import { invoiceThatNobodyPays } from './shop/expiry.ts';
import { haltCases } from './shop/halt.ts';
import { medusaCases } from './shop/medusa.ts';
import { FAILED_AUTH_MAX, metricsCases } from './shop/metrics.ts';
import { mistakeCases } from './shop/mistakes.ts';
import { CONFIRMATIONS } from './shop/on-stack.ts';
import { operatorCases } from './shop/operator.ts';
import { peopleCases } from './shop/people.ts';
import { referenceCases } from './shop/reference.ts';
import { secretCases } from './shop/secrets.ts';
import { thousandsOfPayouts } from './shop/thousands-of-payouts.ts';
import { traceCases } from './shop/traces.ts';
import { webhookCases } from './shop/webhooks.ts';

/** Cases that share one stack, with a node that makes a block only when it is told to: starting one takes as long as most of them. */

let quittance: Quittance;
let metricsPort: number;
let testMoney: Listening | undefined;
let collector: Receiver;
const stack = () => quittance;

beforeAll(async () => {
  metricsPort = await freePort();
  collector = await startReceiver();
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const debug = { LOG_LEVEL: 'debug' };
  const testMoneyPort = await freePort();
  quittance = await startQuittance({
    auditor: true,
    busAdmin: true,
    settings: {
      gateway: {
        ...debug,
        METRICS_PORT: String(metricsPort),
        TRUSTED_PROXIES: 'loopback',
        FAILED_AUTH_PER_MINUTE: String(FAILED_AUTH_MAX),
        SANDBOX_URL: testMoneyUrl(testMoneyPort),
      },
      invoices: traced,
      payouts: { ...debug, ...traced },
      ledger: { ...debug, ...traced },
      webhooks: { ...debug, ...traced },
      auditor: { CHAINS_EVERY_MS: '1000' },
    },
    // The others are stopped, killed or paused.
    together: ['invoices', 'payouts', 'auditor'],
    confirmations: CONFIRMATIONS,
    chains: [],
    fixedFees: true,
  });
  // Where there is no sandbox nothing pays with test money, and the reference would describe what cannot be asked.
  testMoney = await serveTestMoneyOf(quittance.stack, testMoneyPort);
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  await testMoney?.close(0);
  await quittance?.stop();
  await collector?.close();
});

const unpaid = invoiceThatNobodyPays(stack);
unpaid.isMade();
metricsCases(stack, () => metricsPort);
webhookCases(stack);
eventCases(stack);
clientCases(stack);
mistakeCases(stack);
traceCases(stack, () => collector);
ethereumCases(stack);
choiceCases(stack);
medusaCases(stack);
operatorCases(stack);
peopleCases(stack);
haltCases(stack);
contractCases(stack);
referenceCases(stack);
secretCases(stack, () => metricsPort);
unpaid.hasExpired();
// Last: its payouts are signed for a long time.
thousandsOfPayouts(stack);
