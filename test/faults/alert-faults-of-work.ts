import { eventually } from '@quittance/testkit/eventually';
import { type AlertFault, older, payout, service, WITHIN_MS } from './alert-fault.ts';
import type { AlertFixture } from './alert-fixture.ts';
import { type Recurring, recurring } from './recurring.ts';

const MAILS = 6;
const TESTS = 5;
const AGES_EVERY_MS = 500;

/** An endpoint with some events to be delivered to it. */
async function endpoint({ shop, receiver }: AlertFixture, path: string): Promise<void> {
  const { status, body } = await shop.post('/api/webhooks', { url: `${receiver.url}${path}` });
  if (status !== 201) throw new Error(`no endpoint: ${JSON.stringify(body)}`);
  for (let i = 0; i < TESTS; i++) await shop.post(`/api/webhooks/${body.data.id}/test`, {});
}

async function mailTo({ shop }: AlertFixture, address: string): Promise<void> {
  const { status, body } = await shop.post('/api/mail-recipients', { address });
  if (status !== 201) throw new Error(`no recipient: ${JSON.stringify(body)}`);
}

let ageing: Recurring | undefined;

/** What payouts, the signer and webhooks have to do and cannot. */
export const ofWork: readonly AlertFault[] = [
  {
    fault: 'the signer is stopped',
    fires: [
      { alert: 'PayoutsWait', labels: { status: 'planned' } },
      { alert: 'PayoutsStalled', labels: { chain: 'ethereum' } },
      { alert: 'HoldOld', labels: { asset: 'ETH' } },
    ],
    async begin(fixture) {
      await service(fixture, 'signer').stop();
      const until = await payout(fixture);
      await until('planned');
      await older(fixture, 'payouts.payouts', 'created_at', '8 hours');
      await older(fixture, 'ledger.holds', 'created_at', '8 hours');
    },
    end: (fixture) => service(fixture, 'signer').restart(),
  },
  {
    fault: 'the servers of merchants answer 500',
    fires: [{ alert: 'WebhooksFail' }],
    begin: (fixture) => endpoint(fixture, '/failing'),
    end: ({ receiver }) => receiver.answer((response) => response.writeHead(200).end()),
  },
  {
    fault: 'the server of a merchant does not answer',
    fires: [{ alert: 'WebhooksLate', labels: { queue: 'new' } }],
    async begin(fixture) {
      await endpoint(fixture, '/hanging');
      await eventually(async () => {
        const waiting = await fixture.quittance.db.rows(
          `update webhooks.deliveries set due_at = due_at - interval '2 minutes'
           where state = 'waiting' and attempts = 0 returning 1`,
        );
        if (waiting.length === 0) throw new Error('no delivery waits');
      }, WITHIN_MS);
    },
    end: ({ receiver }) => receiver.answer((response) => response.writeHead(200).end()),
  },
  {
    fault: 'a mail server refuses a mail, and then says nothing',
    fires: [{ alert: 'MailsFail' }, { alert: 'MailsLate' }],
    async begin(fixture) {
      await mailTo(fixture, 'first@shop.example');
      await eventually(() => {
        if (fixture.mail.refused() === 0) throw new Error('no mail was sent');
      }, WITHIN_MS);
      fixture.mail.says('nothing');
      for (let i = 0; i < MAILS; i++) await mailTo(fixture, `person${i}@shop.example`);
      // Some are being sent, and when the server has said nothing for long enough the next are.
      ageing = recurring(
        () => older(fixture, 'webhooks.mail_recipients', 'due_at', '10 minutes', 'claimed_until is null'),
        AGES_EVERY_MS,
      );
      ageing.begin();
    },
    async end({ mail }) {
      await ageing?.end();
      mail.says('no');
    },
  },
];
