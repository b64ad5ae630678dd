import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceUrl } from '@quittance/shared/migrate';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { type OnStack, quittanceCommand, whileMining } from './on-stack.ts';

/** The operator looks into a sale and a payout of a running stack with the role made for that, and acts on it. */

const PASSWORD = 'of the operator';

export const operatorCases = (stack: OnStack): void =>
  describe('the operator', () => {
    let quittance: Quittance;
    let shop: Merchant;
    let receiver: Receiver;

    beforeAll(async () => {
      quittance = stack();
      receiver = await startReceiver(checkWebhook);
      await quittance.db.rows(`alter role quittance_operator login password '${PASSWORD}'`);
      shop = await quittance.merchant();
    });
    afterAll(() => receiver?.close());

    const operator = (...args: string[]) => {
      const url = serviceUrl(quittance.stack.adminUrl, 'operator', PASSWORD);
      return quittanceCommand(quittance, { OPERATOR_DATABASE_URL: url }, args);
    };

    /** What is said stands in this order in the timeline. */
    function expectInOrder(out: string, steps: readonly RegExp[]): void {
      const lines = out.split('\n');
      let from = 0;
      for (const step of steps) {
        const at = lines.findIndex((line, i) => i >= from && step.test(line));
        expect({ step, at, out }).not.toMatchObject({ at: -1 });
        from = at + 1;
      }
    }

    const webhookKinds = () => receiver.received.map(({ body }) => JSON.parse(body).event as string);
    const mined = (check: () => Promise<void> | void) => whileMining(quittance, check);

    test('a sale and a payout show all that happened to them, a delivery is sent again, an asset is halted and resumed', async () => {
      expect((await shop.post('/api/webhooks', { url: `${receiver.url}/hook` })).status).toBe(201);
      const { data: invoice } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 1_000 })).body;
      await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
      await mined(() => expect(webhookKinds()).toContain('invoice.paid'));

      const sale = await operator('invoice', 'show', invoice.id);
      expect([sale.code, sale.err]).toEqual([0, '']);
      expect(sale.out).toMatch(new RegExp(`Due +${invoice.amount} ETH, 1000 USD\n`));
      expectInOrder(sale.out, [
        /invoices +makes the invoice/,
        /invoices .*is settled: credit/,
        /ledger +processes deposit\.settled/,
        /invoices +processes credit\.recorded/,
        /webhooks +processes invoice\.paid/,
        /webhooks +posts invoice\.paid to 127\.0\.0\.1:\d+, attempt 1: answered 200/,
      ]);
      // Blocks tell time in whole seconds: this one may seem to be older than its invoice.
      expect(sale.out).toMatch(/chain +0\.\d+ ETH arrives \(.*now settled/);
      expect(sale.out).toMatch(/ledger +books deposit:dep_/);

      const address = await quittance.ethereum.newAddress();
      const { data: asked } = (await shop.post('/api/payouts', { asset: 'ETH', amount: 0.01, address })).body;
      await mined(() => expect(webhookKinds()).toContain('payout.completed'));
      // The ledger hears of it beside webhooks, not before.
      const payout = await eventually(async () => {
        const shown = await operator('payouts', 'show', String(asked.id));
        expectInOrder(shown.out, [/payouts +says hold\.settle/, /ledger +processes hold\.settle/]);
        return shown;
      });
      expectInOrder(payout.out, [
        /payouts +is asked for the payout/,
        /ledger +places the hold/,
        /payouts +signs attempt 1 \(0x/,
        /payouts +broadcasts attempt 1/,
        /payouts +the payout is mined/,
        /webhooks +posts payout\.completed .* answered 200/,
      ]);
      expect(payout.out).toMatch(/says payout\.created \(evt_\w+, request req_\w+\)/);
      expect(payout.out).toMatch(/ledger +books settle of 0\.01 ETH/);
      const json = JSON.parse((await operator('payouts', 'show', String(asked.id), '--json')).out);
      expect(json).toMatchObject({ id: String(asked.id), status: 'mined', amount: '0.01', asset: 'ETH' });
      const times = json.timeline.map(({ at }: { at: string }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));

      const [, delivery = ''] = /posts invoice\.paid .*\((dlv_\w+)\)/.exec(sale.out) ?? [];
      const [, event = ''] = /says invoice\.paid \((evt_\w+)/.exec(sale.out) ?? [];
      for (const id of [delivery, event]) {
        const before = webhookKinds().filter((kind) => kind === 'invoice.paid').length;
        expect(await operator('webhook', 'resend', id)).toEqual({
          code: 0,
          out: `Sent again, now: ${delivery}\n`,
          err: '',
        });
        await eventually(() =>
          expect(webhookKinds().filter((kind) => kind === 'invoice.paid')).toHaveLength(before + 1),
        );
        await mined(async () =>
          expect((await operator('invoice', 'show', invoice.id)).out).not.toMatch(/is (waiting|sending)/),
        );
      }

      const halted = await operator('payouts', 'pause', '--asset', 'eth', '--reason', 'a drill');
      expect([halted.code, halted.err]).toEqual([0, '']);
      await eventually(async () =>
        expect((await operator('payouts', 'paused')).out).toMatch(
          /ETH +ethereum +PAUSED +.*operator: a drill \(cli:\w+\)/,
        ),
      );
      const order = { asset: 'ETH', amount: 0.01, address };
      expect((await shop.post('/api/payouts', order)).status).toBe(503);
      expect((await operator('payouts', 'pause', '--asset', 'ETH', '--reason', 'again')).err).toMatch(
        /paused already/,
      );
      const resumed = await operator('payouts', 'resume', '--asset', 'ETH');
      expect([resumed.code, resumed.err]).toEqual([0, '']);
      const log = await quittance.db.rows<{ action: string }>(
        'select action from gateway.audit_log where account_id is null order by position',
      );
      expect(log.map(({ action }) => action)).toEqual(['resend', 'resend', 'halt', 'resume']);
      const verified = await operator('audit', 'verify');
      expect([verified.code, verified.out]).toEqual([
        0,
        expect.stringMatching(/^\d+ entries, each with the right hash/),
      ]);
      const last = await eventually(async () => {
        const { status, body } = await shop.post('/api/payouts', order);
        expect(status).toBe(201);
        return body.data.id as number;
      });
      await mined(async () => expect((await shop.get(`/api/payouts/${last}`)).body.status).toBe('mined'));
    });

    test('an engine that does not know its own wallet signs nothing until an operator has looked', async () => {
      const hot = await quittance.db.one<{ address: string; nonce: string }>(
        `select address, next_nonce as nonce from payouts.wallets where chain = 'ethereum' and role = 'hot'`,
      );
      // As if the database were one from before the wallet's last transaction.
      const used = (BigInt(hot.nonce) + 1n).toString();
      await fetch(quittance.stack.nodes.ethereum.rpc, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'anvil_setNonce',
          params: [hot.address, `0x${BigInt(used).toString(16)}`],
        }),
      });
      const address = await quittance.ethereum.newAddress();
      const { data } = (await shop.post('/api/payouts', { asset: 'ETH', amount: 0.01, address })).body;
      const { ports } = quittance.stack;
      await eventually(async () =>
        expect(await (await fetch(`http://127.0.0.1:${ports.payouts}/readyz`)).text()).toMatch(
          /does not know/,
        ),
      );

      const looked = await operator('engine', 'allow', 'ethereum', used);
      expect(looked).toMatchObject({ code: 1, out: expect.stringContaining(`${data.id} `) });
      expect(looked.out).toMatch(/1 payouts? would be signed next[\s\S]*Nothing was changed/);
      expect((await shop.get(`/api/payouts/${data.id}`)).body.tx_hash).toBeNull();

      const allowed = await operator('signing', 'resume', 'ethereum', '--nonce', used, '--confirm-none-paid');
      expect([allowed.code, allowed.err]).toEqual([0, '']);
      await mined(async () => expect((await shop.get(`/api/payouts/${data.id}`)).body.status).toBe('mined'));
      const again = await operator('signing', 'resume', 'ethereum', '--nonce', used, '--confirm-none-paid');
      expect(again.err).toMatch(/nothing to accept/);
    });

    test('blocks are read once more, and what is known stays as it is', async () => {
      const before = await quittance.db.rows('select * from invoices.deposits order by id');
      const asked = await operator('rescan', 'Ethereum', '--from', '0');
      expect([asked.code, asked.err]).toEqual([0, '']);
      expect(asked.out).toMatch(/reads blocks 0 to \d+ of ethereum again/);
      await eventually(async () =>
        expect((await operator('rescan')).out).toMatch(/ethereum +0 +0 .* done, blocks 0 to \d+/),
      );
      expect(before.length).toBeGreaterThan(0);
      expect(await quittance.db.rows('select * from invoices.deposits order by id')).toEqual(before);
      expect((await operator('rescan', 'ethereum', '--stop')).err).toMatch(
        /Nothing of ethereum is being read/,
      );
      await operator('rescan', 'ethereum', '--from', '0');
      await operator('rescan', 'ethereum', '--from', '0');
      expect((await operator('rescan', 'ethereum', '--stop')).code).toBe(0);
      expect((await operator('rescan')).out).toMatch(/stopped by/);
      expect((await operator('rescan', 'ethereum', '--from', '99999999')).err).toMatch(/will be read anyway/);
    });

    test.each([
      [['rescan', 'ethereum'], /From which block\?/],
      [['rescan', 'ethereum', '--from', 'then'], /--from is the height of a block, not "then"/],
      [['rescan', 'solana', '--from', '1'], /invoices has not followed solana yet/],
      [['engine', 'allow', 'dogecoin', '1'], /There is no chain "dogecoin"/],
      [['signing', 'resume', 'bitcoin', '--outpoint', '1'], /an output as <transaction>:<output>/],
      [['invoice', 'show', 'inv_none'], /There is no invoice "inv_none"/],
      [['payouts', 'show', '1'], /There is no payout "1"/],
      [['payouts', 'show', 'one'], /There is no payout "one"/],
      [['webhook', 'resend', 'evt_none'], /names no delivery/],
      [['payouts', 'pause', '--asset', 'DOGE', '--reason', 'x'], /There is no asset "DOGE"/],
    ])('%j is refused', async (args, message) => {
      expect(await operator(...args)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(message),
      });
    });
  });
