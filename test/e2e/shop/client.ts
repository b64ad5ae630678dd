import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AuthenticationError,
  Quittance as Client,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  type QuittanceEvent,
} from '@quittance/client';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { CONFIRMATIONS, type OnStack, quittanceCommand } from './on-stack.ts';

const LATE_MS = 90_000;
const INVOICES = 60;

/** The client of packages/client against the services. */
export const clientCases = (stack: OnStack): void =>
  describe('the client', () => {
    let quittance: Quittance;
    let receiver: Receiver;
    let proxy: FaultProxy;

    beforeAll(async () => {
      quittance = stack();
      receiver = await startReceiver();
      proxy = await startFaultProxy(quittance.url, 5);
    });
    afterAll(async () => {
      await receiver?.close();
      await proxy?.close();
    });

    const shopAt = async (url = quittance.url) =>
      new Client({ url, token: (await quittance.merchant()).token });

    test('a token creates one that may do less, and rotates and revokes it', async () => {
      const shop = await shopAt();
      const made = await shop.tokens.create({ name: 'books', scopes: ['balances:read'] });
      const books = new Client({ url: quittance.url, token: made.token });
      expect(await books.balances.list()).not.toEqual([]);
      await expect(books.payouts.list()).rejects.toMatchObject({
        name: 'PermissionError',
        code: 'missing_scope',
        message: expect.stringContaining('payouts:read'),
      });
      const next = await shop.tokens.rotate(made.id);
      expect(next.scopes).toEqual(['balances:read']);
      await shop.tokens.revoke(made.id);
      await expect(books.balances.list()).rejects.toBeInstanceOf(AuthenticationError);
      const [newest, former] = (await shop.tokens.list()).data;
      expect([newest?.id, newest?.state, former?.state]).toEqual([next.id, 'active', 'revoked']);
    });

    test('an order from its invoice to its refund, with webhooks that verify and books that agree', async () => {
      const shop = await shopAt();
      const endpoint = await shop.webhooks.create({
        url: `${receiver.url}/client`,
        events: ['invoice.paid'],
      });
      const invoice = await shop.invoices.create({ asset: 'ETH', amount: '25', external_id: 'order 7' });
      await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
      await quittance.ethereum.mine(CONFIRMATIONS);

      const seen: QuittanceEvent[] = [];
      for await (const event of shop.events.follow({ after: 0, signal: AbortSignal.timeout(LATE_MS) })) {
        seen.push(event);
        if (event.event === 'invoice.paid') break;
      }
      expect(seen.map(({ sequence, event }) => [sequence, event])).toEqual([
        [1, 'invoice.created'],
        [2, 'invoice.confirmed'],
        [3, 'invoice.paid'],
      ]);
      const { body, headers } = await eventually(() => {
        const [first] = receiver.received.filter(({ path }) => path === '/client');
        if (first === undefined) throw new Error('no webhook has arrived');
        return first;
      });
      const event = await shop.webhooks.verify(body, headers, endpoint.secret);
      expect(event).toEqual(seen.at(-1));
      expect(await shop.events.retrieve(event.id)).toEqual(event);
      expect(await shop.invoices.retrieve(invoice.id)).toMatchObject({
        status: 'paid',
        external_id: 'order 7',
      });

      const order = { asset: 'ETH', amount: '0.001', address: `0x${'79'.repeat(20)}` } as const;
      const once = { idempotencyKey: 'supplier of order 7' };
      const [payout, again] = [
        await shop.payouts.create(order, once),
        await shop.payouts.create(order, once),
      ];
      expect(again).toEqual(payout);
      const refund = await shop.refunds.create(invoice.id, { amount: '5' });
      expect(refund).toMatchObject({ status: 'claimable', claim_url: expect.stringContaining('/claim/') });
      expect(await shop.refunds.cancel(refund.id)).toMatchObject({ status: 'cancelled' });

      const movements = await Array.fromAsync(shop.balanceTransactions.list({ limit: 1 }));
      expect(movements.map(({ type }) => type)).toEqual(['payout', 'payment']);
      const [first] = movements;
      const balances = await shop.balances.list();
      expect(balances.find(({ asset }) => asset.symbol === 'ETH')?.balance).toBe(first?.balance_after);
      const csv = await new Response(await shop.balanceTransactions.csv({ asset: 'ETH' })).text();
      expect(csv.trim().split(/\r?\n/)).toHaveLength(3);
      const month = first?.created_at.slice(0, 7) ?? '';
      expect(await shop.statements.retrieve({ month, asset: 'ETH' })).toMatchObject({
        closing_balance: first?.balance_after,
      });
      expect(await shop.statements.text('html', { month, asset: 'ETH' })).toContain('<html');
      expect(await shop.webhooks.delete(endpoint.id)).toBeUndefined();
    });

    test('what is refused is an error of its kind', async () => {
      const shop = await shopAt();
      const stranger = await shopAt();
      const { id } = await shop.invoices.create({ assets: 'all', amount: '25' });
      await expect(shop.invoices.create({ asset: 'ETH', amount: '1' })).rejects.toMatchObject({
        name: 'InvalidRequestError',
        code: 'invalid_request',
        errors: { amount: [expect.any(String)] },
      });
      const poor = shop.payouts.create({ asset: 'ETH', amount: '1', address: `0x${'79'.repeat(20)}` });
      await expect(poor).rejects.toMatchObject({ code: 'insufficient_balance', status: 400 });
      await expect(poor).rejects.toBeInstanceOf(InvalidRequestError);
      await expect(stranger.invoices.retrieve(id)).rejects.toBeInstanceOf(PermissionError);
      await expect(shop.invoices.retrieve('inv_none')).rejects.toBeInstanceOf(NotFoundError);
      const wrong = new Client({ url: quittance.url, token: 'qt_wrong' });
      await expect(wrong.assets.list()).rejects.toBeInstanceOf(AuthenticationError);
      await expect(wrong.events.follow({ after: 0 }).next()).rejects.toBeInstanceOf(AuthenticationError);
    });

    test('the command line makes an order with a token, pays out of it and closes its month', async () => {
      const { token } = await quittance.merchant();
      const settings = { QUITTANCE_URL: quittance.url, QUITTANCE_TOKEN: token };
      async function asked(...args: string[]) {
        const { code, out, err } = await quittanceCommand(quittance, settings, [...args, '--json']);
        expect({ code, err }).toEqual({ code: 0, err: '' });
        return JSON.parse(out);
      }
      const { id, amount, address } = await asked('invoices', 'create', '25', '--asset', 'ETH');
      await quittance.ethereum.pay('ETH', address.address, amount);
      await quittance.ethereum.mine(CONFIRMATIONS);
      await eventually(
        async () => expect(await asked('invoices', 'get', id)).toMatchObject({ status: 'paid' }),
        LATE_MS,
      );
      expect(await asked('invoices', 'list', '--status', 'paid')).toMatchObject([{ id }]);
      const quote = await asked('payouts', 'quote', 'ETH', '0.001');
      const payout = await asked('payouts', 'create', 'ETH', '0.001', `0x${'79'.repeat(20)}`);
      expect(payout.total).toBe(quote.total);
      const [balance] = (await asked('balance')).filter((one: { held: string }) => one.held !== '0');
      expect(balance).toMatchObject({ asset: { symbol: 'ETH' }, held: quote.total });
      const statement = await asked('statement', payout.created_at.slice(0, 7), '--asset', 'ETH');
      expect(statement).toMatchObject({ closing_balance: balance.balance, complete: false });
      expect(await asked('invoices', 'cancel', (await asked('trigger', 'invoice.created')).id)).toMatchObject(
        {
          status: 'expired',
        },
      );
    });

    test('connections that are cut lose no event, double none, and create no invoice twice', async () => {
      const { token } = await quittance.merchant();
      const shop = new Client({ url: proxy.url, token, maxRetries: 20 });
      const sequences: number[] = [];
      const signal = AbortSignal.timeout(LATE_MS);
      const following = (async () => {
        for await (const { sequence } of shop.events.follow({ after: 0, signal }))
          if (sequences.push(sequence) === INVOICES) return;
      })();
      const direct = new Client({ url: quittance.url, token });
      proxy.set({ kind: 'reset', afterBytes: 1_000, upTo: 20_000 });
      const ids = new Set<string>();
      for (let made = 0; made < INVOICES; made += 5) {
        const orders = Array.from({ length: 5 }, () => shop.invoices.create({ asset: 'ETH', amount: '25' }));
        for (const { id } of await Promise.all(orders)) ids.add(id);
      }
      expect(proxy.fired()).toBeGreaterThan(5);
      proxy.set({ kind: 'pass' });
      await following;
      expect(sequences).toEqual(Array.from({ length: INVOICES }, (_, place) => place + 1));
      const listed = await Array.fromAsync(direct.invoices.list({ perPage: 7 }), ({ id }) => id);
      expect(listed.toSorted()).toEqual([...ids].toSorted());
    });
  });
