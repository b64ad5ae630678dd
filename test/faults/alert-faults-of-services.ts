import { eventually } from '@quittance/testkit/eventually';
import { type AlertFault, older, service, WITHIN_MS } from './alert-fault.ts';
import { logLines } from './log-lines.ts';
import { type Recurring, recurring } from './recurring.ts';

const READS_EVERY_MS = 100;

let reading: Recurring | undefined;

export const ofServices: readonly AlertFault[] = [
  {
    fault: 'four services are killed, and an asset is paused',
    fires: [
      ...(['invoices', 'payouts', 'ledger', 'webhooks'] as const).map((job) => ({
        alert: 'ServiceDown',
        labels: { job },
      })),
      { alert: 'Errors', labels: { job: 'gateway' } },
      { alert: 'HaltNotAcknowledged', labels: { asset: 'USDC_ERC20' } },
      { alert: 'EventsNotProcessed', labels: { job: 'auditor' } },
    ],
    async begin(fixture) {
      for (const name of ['invoices', 'payouts', 'ledger', 'webhooks'] as const)
        service(fixture, name).kill();
      reading = recurring(() => fixture.shop.get('/api/balances'), READS_EVERY_MS);
      reading.begin();
      await fixture.command('payouts', 'pause', '--asset', 'USDC_ERC20', '--reason', 'a drill');
      await eventually(async () => {
        const sent = await older(
          ...([fixture, 'auditor.outbox', 'created_at', '6 minutes'] as const),
          'confirmed_at is null and sent_at is not null returning 1',
        );
        if (sent.length === 0) throw new Error('no event was sent');
      }, WITHIN_MS);
    },
    async end(fixture) {
      await reading?.end();
      await Promise.all(
        (['invoices', 'payouts', 'ledger', 'webhooks'] as const).map((name) =>
          service(fixture, name).restart(),
        ),
      );
      await fixture.command('payouts', 'resume', '--asset', 'USDC_ERC20');
    },
  },
  {
    fault: 'the auditor may not read a table',
    fires: [{ alert: 'RecordsNotChecked', labels: { scope: 'recent' } }],
    async begin(fixture) {
      const logs = logLines(fixture.quittance);
      logs.mark();
      await fixture.quittance.db.rows('revoke select on ledger.entries from quittance_auditor');
      // A check that had read the table before may still end, and be a recent one.
      await logs.said('auditor', /permission denied for table entries/);
      await older(fixture, 'auditor.checks', 'ended_at', '11 minutes');
    },
    end: ({ quittance }) => quittance.db.rows('grant select on ledger.entries to quittance_auditor'),
  },
];

export const ofTheGateway: readonly AlertFault[] = [
  {
    fault: 'the gateway and the auditor are killed',
    fires: [
      { alert: 'ServiceDown', labels: { job: 'gateway' } },
      { alert: 'ServiceDown', labels: { job: 'auditor' } },
    ],
    begin(fixture) {
      for (const name of ['gateway', 'auditor'] as const) service(fixture, name).kill();
    },
    end: (fixture) =>
      Promise.all((['gateway', 'auditor'] as const).map((name) => service(fixture, name).restart())),
  },
];
