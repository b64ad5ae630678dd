import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { merchantWith, type OnStack, receive, whileMining } from './on-stack.ts';

/** What a collector of OpenTelemetry is sent of a payment and of a payout, and what becomes of them without one. */

const STEP_MS = 60_000;
/** Spans are sent every second. */
const TRACED_WITHIN_MS = 15_000;

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };
/** A span as OTLP has it, with the service that has sent it. */
type Sent = {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code?: number };
};

const attributesOf = ({ attributes }: Pick<Sent, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** All spans that a collector was sent. */
const sentTo = ({ received }: Receiver): Sent[] =>
  received
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }: { spans: Omit<Sent, 'service'>[] }) =>
        spans.map((span) => ({ ...span, service: attributesOf(resource)['service.name'] as string })),
      ),
    );

const msOf = (span: Sent) =>
  // eslint-disable-next-line no-restricted-syntax -- a time in milliseconds
  Number((BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000n);

export const traceCases = (stack: OnStack, collector: () => Receiver): void =>
  describe('traces', () => {
    let quittance: Quittance;
    let shop: Merchant;
    let hooks: Receiver;

    beforeAll(async () => {
      quittance = stack();
      shop = await merchantWith(quittance, 'ETH', 1_000);
      hooks = await startReceiver();
      expect((await shop.post('/api/webhooks', { url: `${hooks.url}/hook` })).status).toBe(201);
    }, STEP_MS);
    afterAll(() => hooks?.close());

    const traceOf = (key: string, id: string | number): Sent[] => {
      const spans = sentTo(collector());
      const first = spans.find((span) => attributesOf(span)[key] === String(id));
      return spans.filter(({ traceId }) => traceId === first?.traceId);
    };
    const steps = (spans: readonly Sent[]) => spans.map(({ service, name }) => `${service}: ${name}`).sort();

    /** All but the root have a parent in the trace, and none begins before the root does. */
    function expectOneTree(spans: readonly Sent[], root: string): void {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      expect(ids.size).toBe(spans.length);
      expect(spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId)).map(({ name }) => name)).toEqual(
        [root],
      );
    }

    async function payOut(): Promise<{ id: number; address: string }> {
      const address = await quittance.ethereum.newAddress();
      const { status, body } = await shop.post('/api/payouts', { asset: 'ETH', amount: 0.01, address });
      expect(status).toBe(201);
      await whileMining(quittance, async () =>
        expect((await shop.get(`/api/payouts/${body.data.id}`)).body.status).toBe('mined'),
      );
      return { id: body.data.id, address };
    }

    test(
      'a payment is one trace from its block to the webhook, through four services',
      async () => {
        const invoice = await receive(quittance, shop, 'ETH', 50);
        const spans = await eventually(() => {
          const found = traceOf('quittance.invoice.id', invoice.id);
          expect(steps(found)).toEqual(
            [
              'invoices: deposit seen',
              'invoices: deposit settled',
              'invoices: invoice created',
              'invoices: process credit.recorded',
              'invoices: send deposit.settled',
              'invoices: send invoice.confirmed',
              'invoices: send invoice.created',
              'invoices: send invoice.paid',
              'ledger: process deposit.settled',
              'ledger: send credit.recorded',
              'payouts: process deposit.settled',
              'webhooks: POST webhook',
              'webhooks: POST webhook',
              'webhooks: POST webhook',
              'webhooks: process invoice.confirmed',
              'webhooks: process invoice.created',
              'webhooks: process invoice.paid',
            ].sort(),
          );
          return found;
        }, TRACED_WITHIN_MS);
        expectOneTree(spans, 'invoice created');
        const settled = spans.find(({ name }) => name === 'deposit settled');
        expect(settled && attributesOf(settled)).toMatchObject({
          'quittance.asset': 'ETH',
          'quittance.chain': 'ethereum',
          'quittance.deposit.disposition': 'credit',
        });
        // The spans of a webhook follow from the event that it tells of.
        const paid = spans.find(({ name }) => name === 'send invoice.paid');
        const told = spans.filter(
          ({ name, parentSpanId }) => name === 'POST webhook' && parentSpanId === paid?.spanId,
        );
        expect(told.map(attributesOf)).toMatchObject([
          {
            'http.request.method': 'POST',
            'http.response.status_code': 200,
            'quittance.event.kind': 'invoice.paid',
          },
        ]);
        expect(spans.every((span) => msOf(span) >= 0)).toBe(true);

        const text = JSON.stringify(spans);
        for (const secret of [invoice.address.address, invoice.amount, shop.token, hooks.url, '50.00'])
          expect(text).not.toContain(secret);
      },
      STEP_MS,
    );

    test(
      'a payout is one trace from its request to the webhook, through three services',
      async () => {
        const { id, address } = await payOut();
        const spans = await eventually(() => {
          const found = traceOf('quittance.payout.id', id);
          expect(steps(found)).toEqual(
            [
              'ledger: hold.place',
              'ledger: process hold.settle',
              'payouts: payout broadcast',
              'payouts: payout mined',
              'payouts: payout planned',
              'payouts: payout requested',
              'payouts: payout signed',
              'payouts: send hold.settle',
              'payouts: send payout.completed',
              'payouts: send payout.created',
              // No endpoint is told of payout.created unless it asks for it.
              'webhooks: POST webhook',
              'webhooks: process payout.completed',
              'webhooks: process payout.created',
            ].sort(),
          );
          return found;
        }, TRACED_WITHIN_MS);
        expectOneTree(spans, 'payout requested');
        const byName = new Map(spans.map((span) => [span.name, span]));
        const order = [
          'payout requested',
          'payout planned',
          'payout signed',
          'payout broadcast',
          'payout mined',
        ];
        const ends = order.map((name) => BigInt(byName.get(name)?.endTimeUnixNano ?? 0));
        expect(ends).toEqual([...ends].sort((a, b) => (a < b ? -1 : 1)));
        expect(byName.get('hold.place') && attributesOf(byName.get('hold.place') as Sent)).toMatchObject({
          'quittance.hold.outcome': 'placed',
        });

        const text = JSON.stringify(spans);
        for (const secret of [address.toLowerCase(), address, '0.01', shop.token, hooks.url])
          expect(text).not.toContain(secret);
      },
      STEP_MS,
    );

    test.each([
      [
        'answers 500',
        (response: { writeHead(status: number): { end(): void } }) => void response.writeHead(500).end(),
      ],
      ['hangs', () => undefined],
    ])(
      'with a collector that %s, payments and payouts go on, and what is dropped is counted',
      async (_, respond) => {
        const ports = quittance.stack.ports;
        const droppedBy = async (service: 'invoices' | 'payouts' | 'ledger' | 'webhooks') => {
          const text = await (await fetch(`http://127.0.0.1:${ports[service]}/metrics`)).text();
          const [, count = ''] = /^quittance_trace_spans_total\{outcome="dropped"\} (\d+)$/m.exec(text) ?? [];
          return BigInt(count);
        };
        const before = await droppedBy('payouts');
        collector().answer(respond as never);
        try {
          await receive(quittance, shop, 'ETH', 20);
          await payOut();
          await eventually(async () => expect((await droppedBy('payouts')) > before).toBe(true), STEP_MS);
        } finally {
          collector().answer((response) => response.writeHead(200).end());
        }
      },
      STEP_MS,
    );
  });
