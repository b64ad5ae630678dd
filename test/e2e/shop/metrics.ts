import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { formerMetrics } from '@quittance/shared/metrics';
import { type ListeningService, listeningServices } from '@quittance/stack/ports';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { documentedMetrics } from '../../../tools/metrics-named.ts';
import { type OnStack, whileMining } from './on-stack.ts';

/** What an operator sees of a running stack after a sale and a payout: its metrics, and its logs. */

const STEP_MS = 60_000;
/** Requests without a token that the gateway answers with 401 in a minute. */
export const FAILED_AUTH_MAX = 20;
/** Its limits are of nobody else: each request without a token counts. */
const STRANGER = { 'X-Forwarded-For': '203.0.113.7' };

/** On a stack that has had no payout so far. */
export const metricsCases = (stack: OnStack, metricsPort: () => number): void =>
  describe('metrics and logs', () => {
    let quittance: Quittance;
    let receiver: Receiver;

    beforeAll(async () => {
      quittance = stack();
      receiver = await startReceiver(checkWebhook);
    });
    afterAll(() => receiver?.close());

    async function metricsOf(service: ListeningService): Promise<string> {
      const port = service === 'gateway' ? metricsPort() : quittance.stack.ports[service];
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect(answer.status).toBe(200);
      return answer.text();
    }

    /** By name, of our own: which labels its samples have; undefined while there is no sample. */
    function shown(text: string): Map<string, string[] | undefined> {
      const found = new Map<string, string[] | undefined>();
      for (const [, name = ''] of text.matchAll(/^# TYPE (quittance_\w+) /gm)) {
        const sample = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text);
        const labels = [...(sample?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label = '']) => label);
        found.set(name, sample === null ? undefined : labels);
      }
      return found;
    }

    const sampleIn = (text: string, sample: string): number | undefined => {
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
      // eslint-disable-next-line no-restricted-syntax -- a sample is a number
      return line === undefined ? undefined : Number(line.slice(sample.length));
    };

    test('tells what the operators’ table says, and nothing that is not in it', async () => {
      const shop = await quittance.merchant();
      const hooks = () => receiver.received.map(({ body }) => JSON.parse(body).event as string);
      const mined = (kind: string) => whileMining(quittance, () => expect(hooks()).toContain(kind));
      expect((await shop.post('/api/webhooks', { url: `${receiver.url}/hook` })).status).toBe(201);
      const { data: invoice } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 1_000 })).body;
      await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
      await mined('invoice.paid');
      const address = await quittance.ethereum.newAddress();
      const { data: asked } = (await shop.post('/api/payouts', { asset: 'ETH', amount: 0.01, address })).body;
      await mined('payout.completed');
      await shop.get(`/api/payouts/${asked.id}`);
      const oneTooMany = Array<string>(FAILED_AUTH_MAX + 1).fill('/api/balances');
      for (const path of [...oneTooMany, '/pay/nobody', '/no-such-route']) {
        await (await fetch(quittance.url + path, { headers: STRANGER })).text();
      }

      const told = new Map<ListeningService, string>();
      for (const service of listeningServices) told.set(service, await metricsOf(service));
      const documented = documentedMetrics();
      for (const [service, text] of told) {
        const names = documented.filter((one) => one.services.includes(service)).map(({ name }) => name);
        const own = shown(text);
        // A metric that was renamed is there under both names for one release.
        for (const { name } of Object.values(formerMetrics)) own.delete(name);
        expect([service, [...own.keys()].sort()]).toEqual([service, names.sort()]);
        for (const [name, labels] of own) {
          const { labels: wanted } = documented.find((one) => one.name === name) ?? {};
          if (labels !== undefined) expect([service, name, labels]).toEqual([service, name, wanted]);
        }
        expect(text).toContain('process_cpu_seconds_total');
        expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
        // No id of anybody's is a label.
        for (const id of [invoice.id, String(asked.id), 'nobody', 'no-such-route', shop.id]) {
          expect(text).not.toContain(id);
        }
      }

      const requests = (route: string, method: string, status: string) =>
        `quittance_http_request_duration_seconds_count{route="${route}",method="${method}",status="${status}"}`;
      const gateway = told.get('gateway') ?? '';
      expect(sampleIn(gateway, requests('/api/payouts', 'POST', '2xx'))).toBe(1);
      expect(sampleIn(gateway, requests('/api/payouts/:id', 'GET', '2xx'))).toBe(1);
      expect(sampleIn(gateway, requests('none', 'GET', '4xx'))).toBe(1);
      expect(sampleIn(gateway, 'quittance_rate_limited_total{limit="failure"}')).toBe(1);
      expect(sampleIn(gateway, 'quittance_rate_limit_redis_up')).toBe(1);
      const payouts = told.get('payouts') ?? '';
      expect(sampleIn(payouts, requests('/api/payouts', 'POST', '2xx'))).toBe(1);
      expect(sampleIn(payouts, 'quittance_payouts_open{status="broadcast"}')).toBe(0);
      expect(sampleIn(payouts, 'quittance_payouts_leader{chain="ethereum"}')).toBe(1);
      expect(sampleIn(payouts, 'quittance_signing_paused{chain="ethereum"}')).toBe(0);
      expect(sampleIn(payouts, 'quittance_outbox_unsent')).toBe(0);
      const invoices = told.get('invoices') ?? '';
      const heights = ['quittance_chain_height', 'quittance_chain_node_height'].map((name) =>
        sampleIn(invoices, `${name}{chain="ethereum"}`),
      );
      expect(heights).toEqual([expect.any(Number), expect.any(Number)]);
      expect(sampleIn(invoices, 'quittance_chain_lag_seconds{chain="ethereum"}')).toBeLessThan(30);
      const ledger = told.get('ledger') ?? '';
      expect(sampleIn(ledger, 'quittance_quote_age_seconds{asset="ETH"}')).toBeLessThan(30);
      const moved = (flow: string) => `quittance_moved_amount_total{flow="${flow}",asset="ETH"}`;
      // eslint-disable-next-line no-restricted-syntax -- a sample is a number
      expect(sampleIn(ledger, moved('credited'))).toBeCloseTo(Number(invoice.amount));
      expect(sampleIn(ledger, moved('unresolved'))).toBe(0);
      await eventually(
        async () => expect(sampleIn(await metricsOf('ledger'), moved('paid_out'))).toBe(0.01),
        STEP_MS,
      );
      const webhooks = told.get('webhooks') ?? '';
      expect(
        sampleIn(webhooks, 'quittance_delivery_attempts_total{outcome="delivered"}'),
      ).toBeGreaterThanOrEqual(3);
      expect(sampleIn(webhooks, 'quittance_deliveries_waiting{queue="new"}')).toBe(0);
      await eventually(
        async () => {
          const auditor = await metricsOf('auditor');
          const reserves = sampleIn(auditor, 'quittance_reserves{asset="ETH"}') ?? 0;
          const owed = sampleIn(auditor, 'quittance_liabilities{asset="ETH"}') ?? 0;
          expect(owed).toBeGreaterThan(0);
          expect(reserves).toBeGreaterThanOrEqual(owed);
        },
        STEP_MS,
        500,
      );
    });

    test('clients see none of it', async () => {
      for (const path of ['/metrics', '/metrics/', '/api/metrics', '/internal/books']) {
        expect((await fetch(quittance.url + path)).status).toBe(404);
      }
    });

    type Line = Record<string, unknown> & { msg: string };

    /** What a service has written that is about one thing. */
    const linesOf = (service: Service, about: Record<string, unknown>): Line[] =>
      readFileSync(join(dirname(quittance.stack.pricesFile), 'logs', `${service}.log`), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => Object.entries(about).every(([key, value]) => line[key] === value));

    test('a request is followed by its id from the gateway through payouts and the ledger to the merchant’s webhook', async () => {
      const shop = await quittance.merchant();
      const endpoint = { url: `${receiver.url}/traced`, events: ['invoice.paid', 'payout.created'] };
      expect((await shop.post('/api/webhooks', endpoint)).status).toBe(201);
      const { data: invoice } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 1_000 })).body;
      await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
      const toShop = () => receiver.received.filter(({ path }) => path === '/traced').map(({ body }) => body);
      await whileMining(quittance, () => expect(toShop().join()).toContain('invoice.paid'));
      const address = await quittance.ethereum.newAddress();
      const asked = await shop.post('/api/payouts', { asset: 'ETH', amount: 0.01, address });
      expect(asked.status).toBe(201);
      const of = { request_id: asked.headers['x-request-id'] };
      expect(of.request_id).toMatch(/^req_\w+$/);

      const told = await eventually(() => {
        const [event] = linesOf('webhooks', { ...of, msg: 'processed an event' });
        expect(event).toMatchObject({ kind: 'payout.created', event: expect.stringMatching(/^evt_/) });
        expect(linesOf('webhooks', { event: event?.['event'], msg: 'sent a webhook' })).toMatchObject([
          { kind: 'payout.created', status: 200 },
        ]);
        return event?.['event'];
      });
      for (const service of ['gateway', 'payouts'] as const) {
        expect(linesOf(service, of)).toMatchObject([
          { msg: 'answered a request', method: 'POST', route: '/api/payouts', status: 201 },
        ]);
      }
      expect(linesOf('ledger', of)).toMatchObject([
        { msg: 'decided a hold', payout: String(asked.body.data.id), outcome: 'placed' },
      ]);
      // It is in no block yet, and its money is held.
      await eventually(
        async () => {
          expect(await metricsOf('payouts')).toContain('quittance_payouts_open{status="broadcast"} 1\n');
          expect(await metricsOf('ledger')).toContain('quittance_holds_open{asset="ETH"} 1\n');
        },
        STEP_MS,
        500,
      );
      // The same id is the merchant's: what a shop asks about is found at once.
      expect(toShop().map((body) => JSON.parse(body).id as string)).toContain(told);
    });
  });
