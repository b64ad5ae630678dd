import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { EventSource } from 'eventsource';
import { balanceOf, CONFIRMATIONS, type OnStack, whileMining } from './on-stack.ts';

const LATE_MS = 90_000;

export const eventCases = (stack: OnStack): void =>
  describe('events', () => {
    let quittance: Quittance;
    let receiver: Receiver;

    beforeAll(async () => {
      quittance = stack();
      receiver = await startReceiver(checkWebhook);
    });
    afterAll(() => receiver?.close());

    type Told = { event: string; sequence: number; version: number; data: { id: string; status: string } };

    async function logOf(shop: Merchant): Promise<Told[]> {
      const { body } = await shop.get('/api/events?after=0&limit=500');
      return body.data;
    }

    async function paidInvoice(shop: Merchant) {
      const { data } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 1_000 })).body;
      await quittance.ethereum.pay('ETH', data.address.address, data.amount);
      return data as { id: string; amount: string };
    }

    test('when invoice.paid arrives the money is in the balance, however long the ledger was away', async () => {
      const shop = await quittance.merchant();
      /** What a merchant finds who looks the moment it is told. */
      const found: string[] = [];
      const kinds: string[] = [];
      receiver.answer((response, { body }) => {
        const { event } = JSON.parse(body) as Told;
        kinds.push(event);
        if (event !== 'invoice.paid') return void response.writeHead(200).end();
        void balanceOf(shop, 'ETH').then(({ balance }) => {
          found.push(balance);
          response.writeHead(200).end();
        });
      });
      expect((await shop.post('/api/webhooks', { url: `${receiver.url}/paid` })).status).toBe(201);

      const invoice = await paidInvoice(shop);
      await quittance.ethereum.mine();
      await eventually(() => expect(kinds).toContain('invoice.confirmed'), LATE_MS);
      const { ledger } = quittance.stack.services;
      ledger.pause();
      try {
        await quittance.ethereum.mine(CONFIRMATIONS + 2);
        // All that the others can do without the ledger is done by then.
        await eventually(
          async () =>
            expect((await shop.get(`/api/invoices/${invoice.id}`)).body.paid_amount).toBe(invoice.amount),
          LATE_MS,
        );
        // And all of it that is told to others has come to them.
        await eventually(async () => {
          const underway = await quittance.db.rows(
            `select o.kind from invoices.outbox o
             where (o.payload->>'invoice_id' = $1 and not exists (select from payouts.inbox where event_id = o.id))
               or (o.payload->>'resource_id' = $1 and not exists (select from webhooks.inbox where event_id = o.id))`,
            [invoice.id],
          );
          expect(underway).toEqual([]);
        }, LATE_MS);
        expect((await logOf(shop)).map(({ event }) => event)).toEqual([
          'invoice.created',
          'invoice.confirmed',
        ]);
        expect((await shop.get(`/api/invoices/${invoice.id}`)).body.status).toBe('confirmed');
        expect(kinds).not.toContain('invoice.paid');
      } finally {
        ledger.resume();
      }
      await eventually(() => expect(found).toEqual([invoice.amount]), LATE_MS);

      // Each word on the invoice, and on the payout, is a later version than the one before.
      const payout = { asset: 'ETH', amount: 0.1, address: `0x${'77'.repeat(20)}` };
      expect((await shop.post('/api/payouts', payout)).status).toBe(201);
      const log = await whileMining(
        quittance,
        async () => {
          const told = await logOf(shop);
          expect(told.map(({ event }) => event)).toEqual([
            ...['invoice.created', 'invoice.confirmed', 'invoice.paid'],
            ...['payout.created', 'payout.completed'],
          ]);
          return told;
        },
        LATE_MS,
      );
      for (const own of Map.groupBy(log, ({ data }) => data.id).values()) {
        const versions = own.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
      }
    });

    /** A client that stays: where its EventSource gives up, it opens another where that one was. */
    function follow(shop: Merchant) {
      const told: Told[] = [];
      let opened = 0;
      let last = 0;
      let source: EventSource;
      let left = false;
      const open = () => {
        opened += 1;
        source = new EventSource(`${quittance.url}/api/events/stream?after=${last}`, {
          fetch: (input, init) =>
            fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${shop.token}` } }),
        });
        source.addEventListener('invoice.created', ({ data, lastEventId }) => {
          const event = JSON.parse(data) as Told;
          expect(lastEventId).toBe(String(event.sequence));
          told.push(event);
          last = event.sequence;
        });
        source.addEventListener('error', () => {
          // Cut off, it comes back by itself; refused, as by a gateway without the service behind it, it does not.
          if (source.readyState === source.CLOSED && !left) setTimeout(open, 300);
        });
      };
      open();
      return {
        told,
        opened: () => opened,
        leave() {
          left = true;
          source.close();
        },
      };
    }

    test('a stream is followed through the death of the service and a new gateway: nothing missing, nothing twice', async () => {
      const shop = await quittance.merchant();
      const client = follow(shop);
      const create = () => shop.post('/api/invoices', { asset: 'ETH', amount: 10 });
      const sequences = () => client.told.map(({ sequence }) => sequence);
      try {
        expect((await create()).status).toBe(201);
        await eventually(() => expect(sequences()).toEqual([1]), LATE_MS);

        const { webhooks, gateway } = quittance.stack.services;
        webhooks.kill();
        for (let i = 0; i < 5; i++) expect((await create()).status).toBe(201);
        await webhooks.restart();
        await eventually(() => expect(sequences()).toEqual([1, 2, 3, 4, 5, 6]), LATE_MS);

        const begun = performance.now();
        await gateway.stop();
        // It does not wait for streams.
        expect(performance.now() - begun).toBeLessThan(8_000);
        await gateway.restart();
        for (let i = 0; i < 5; i++) expect((await create()).status).toBe(201);
        await eventually(
          () => expect(sequences()).toEqual(Array.from({ length: 11 }, (_, i) => i + 1)),
          LATE_MS,
        );
        expect(await logOf(shop)).toEqual(client.told);
      } finally {
        client.leave();
      }
    });
  });
