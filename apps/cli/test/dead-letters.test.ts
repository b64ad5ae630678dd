import { afterEach, describe, expect, test } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import { type EventKind, events, receivers, type Service, services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { appendToOutbox } from '@quittance/shared/outbox';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { operatorSuite, operatorUrl } from './quittance-in.ts';

const logger = createLogger('test', 'silent');
const { database, quittance } = await operatorSuite();
const payouts = database.openAs('payouts');
const auditor = database.openAs('auditor');
const admin = database.openAsAdmin('operator');

test('a dead letter is listed with its reason and, once the cause is fixed, sent again and processed', async () => {
  expect((await quittance(['dead-letters', 'list'])).out).toMatch(/^There are no dead letters/);
  await admin.rows(`create function payouts.refuse() returns trigger language plpgsql as $$
    begin raise exception 'no halt today'; end $$`);
  await admin.rows(
    'create trigger refuse before insert on payouts.halted_assets for each row execute function payouts.refuse()',
  );
  const nats = await testNats();
  const bus = {
    ofAuditor: await connectBus({ url: nats.url, service: 'auditor', logger }),
    ofPayouts: await connectBus({ url: nats.url, service: 'payouts', logger }),
  };
  const taken: string[] = [];
  const sender = startMessenger({ db: auditor, bus: bus.ofAuditor, service: 'auditor', logger });
  const receiver = startMessenger({
    db: payouts,
    bus: bus.ofPayouts,
    service: 'payouts',
    logger,
    retryMs: [20],
    handlers: {
      'asset.halted': async (trx, events) => {
        await trx.rows(`insert into halted_assets (asset, halt) values ('ETH', 1)`);
        taken.push(...events.map(({ id }) => id));
      },
    },
  });
  try {
    await auditor.transaction((trx) =>
      appendToOutbox(trx, [{ kind: 'asset.halted', payload: { asset: 'ETH', halt: '1', breaches: [] } }]),
    );
    const [deadLetter] = await eventually(async () => {
      const found = (await quittance(['dead-letters', 'list', '--json'])).json();
      expect(found).toHaveLength(1);
      return found;
    });
    expect(deadLetter).toMatchObject({
      service: 'payouts',
      kind: 'asset.halted',
      failure: expect.stringContaining('no halt today'),
      can_be_requeued: true,
    });
    expect((await quittance(['dead-letters', 'list'])).out).toContain(deadLetter.event);

    await admin.rows('drop trigger refuse on payouts.halted_assets');
    const again = await quittance(['dead-letters', 'retry', deadLetter.event]);
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^Sent again by auditor/)]);
    await eventually(() => expect(taken).toEqual([deadLetter.event]), 30_000);
    expect((await quittance(['dead-letters', 'list', '--json'])).json()).toEqual([]);
    expect(await auditedOf(deadLetter.event)).toEqual([
      { action: 'requeue', subject: `payouts ${deadLetter.event}` },
    ]);
  } finally {
    await Promise.all([sender.stop(), receiver.stop()]);
    await Promise.all([bus.ofAuditor.close(), bus.ofPayouts.close()]);
    await nats.stop();
    await admin.rows('delete from payouts.halted_assets');
    await admin.rows('delete from auditor.outbox');
  }
});

/** What the audit log says of an event. */
const auditedOf = (event: string) =>
  admin.rows('select action, subject from gateway.audit_log where subject like $1 order by seq', [
    `% ${event}`,
  ]);

/** Only the sender and the receiver read more of it. */
const settled = (deposit: string) => ({ deposit_id: deposit });

const roles = new Map(services.map((service) => [service, database.openAs(service, { pool: 1 })]));

/** As a service's own role can write it, whatever it says there. */
async function deadLetterOf(service: Service, id: string, kind: string, payload: object = {}): Promise<void> {
  const envelope = { id, kind, created_at: '2026-01-02T03:04:05.000Z', request_id: null, payload };
  await roles
    .get(service)
    ?.rows(`insert into dead_letters (event_id, kind, envelope, failure) values ($1, $2, $3, 'a reset')`, [
      id,
      kind,
      JSON.stringify(envelope),
    ]);
}

/** As it stands in the sender's outbox once all have answered for it. */
const storedBy = (sender: Service, id: string, kind: EventKind, payload: object = {}) =>
  admin.rows(
    `insert into ${sender}.outbox (id, kind, payload, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by)
     values ($1, $2, $3, now(), 1, now(), $4, $4)`,
    [id, kind, JSON.stringify(payload), events[kind].to],
  );

const outboxOf = (sender: Service) =>
  admin.rows(
    `select id, kind, payload, sent_at is null and confirmed_at is null as again, confirmed_by, dead_lettered_by from ${sender}.outbox
     order by seq`,
  );

const deadLettersOf = async (service: Service) =>
  (await admin.rows<{ id: string }>(`select event_id as id from ${service}.dead_letters order by 1`)).map(
    ({ id }) => id,
  );

describe('a dead letter', () => {
  afterEach(async () => {
    for (const service of services) await admin.rows(`delete from ${service}.dead_letters`);
    for (const service of services) await admin.rows(`delete from ${service}.outbox`);
  });

  test('that a service has forged is not sent by any other service, and stays where it is', async () => {
    await deadLetterOf('webhooks', 'evt_forged', 'deposit.settled', settled('dep_1'));
    await deadLetterOf('ledger', 'evt_own', 'deposit.settled', settled('dep_2'));
    const { code, out } = await quittance(['dead-letters', 'retry', '--all']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^There is no dead letter that can be sent again/),
    ]);
    expect(out).toMatch(/no sender of this release has such an event[\s\S]*evt_forged/);
    expect((await quittance(['dead-letters', 'list', '--json'])).json()).toMatchObject([
      { event: 'evt_forged', can_be_requeued: false },
      { event: 'evt_own', can_be_requeued: false },
    ]);
    const one = await quittance(['dead-letters', 'retry', 'evt_own']);
    expect([one.code, one.out, one.err]).toEqual([
      1,
      '',
      expect.stringMatching(/^These cannot be sent again.*\n {2}ledger evt_own: a reset\n/),
    ]);
    for (const service of services) expect([service, await outboxOf(service)]).toEqual([service, []]);
    expect([await deadLettersOf('webhooks'), await deadLettersOf('ledger')]).toEqual([
      ['evt_forged'],
      ['evt_own'],
    ]);
    expect([...(await auditedOf('evt_forged')), ...(await auditedOf('evt_own'))]).toEqual([]);
  });

  test('is sent again with the payload of its sender, to the service that it is for', async () => {
    await storedBy('invoices', 'evt_true', 'deposit.settled', settled('dep_true'));
    await deadLetterOf('ledger', 'evt_true', 'deposit.settled', settled('dep_mine'));
    expect((await quittance(['dead-letters', 'retry', 'evt_true'])).out).toMatch(/^Sent again by invoices:/);
    expect(await outboxOf('invoices')).toEqual([
      {
        id: 'evt_true',
        kind: 'deposit.settled',
        payload: settled('dep_true'),
        again: true,
        confirmed_by: ['payouts'],
        dead_lettered_by: ['payouts'],
      },
    ]);
    expect(await deadLettersOf('ledger')).toEqual([]);
  });

  test('is not sent again for a service that it was never for', async () => {
    await storedBy('invoices', 'evt_true', 'deposit.settled', settled('dep_true'));
    await deadLetterOf('webhooks', 'evt_true', 'invoice.paid', settled('dep_mine'));
    expect((await quittance(['dead-letters', 'retry', 'evt_true'])).code).toBe(1);
    expect(await outboxOf('invoices')).toMatchObject([
      { again: false, confirmed_by: events['deposit.settled'].to },
    ]);
    expect(await deadLettersOf('webhooks')).toEqual(['evt_true']);
  });

  test('is known by the kind that its sender gave it, whatever kind the receiver stored', async () => {
    await storedBy('auditor', 'evt_newer', 'asset.resumed', { asset: 'ETH', halt: '7' });
    await deadLetterOf('payouts', 'evt_newer', 'evt.auditor.payouts.asset.resumed');
    expect((await quittance(['dead-letters', 'retry', 'evt_newer'])).code).toBe(0);
    expect(await outboxOf('auditor')).toMatchObject([{ id: 'evt_newer', again: true, confirmed_by: [] }]);
  });

  test('that cannot be sent again does not hide those of other services, however many there are', async () => {
    await admin.rows(
      `insert into webhooks.dead_letters (event_id, kind, envelope, failure, failed_at)
       select 'evt_' || n, 'invoice.paid', '{}', 'a reset', '2026-01-01' from generate_series(1, 300) as n`,
    );
    await storedBy('ledger', 'evt_true', 'credit.recorded');
    await deadLetterOf('invoices', 'evt_true', 'credit.recorded');
    const { json } = await quittance(['dead-letters', 'retry', '--all', '--json']);
    expect(json().requeued).toEqual([{ service: 'invoices', event: 'evt_true', kind: 'credit.recorded' }]);
    await deadLetterOf('invoices', 'evt_true', 'credit.recorded');
    expect((await quittance(['dead-letters', 'retry', 'evt_true'])).code).toBe(0);
    expect((await quittance(['dead-letters', 'retry', '--all'])).out).toMatch(
      /These were 200; there are more/,
    );
  });

  test('is sent by the function only for services that its kind is for', async () => {
    const db = database.openAs('auditor', { url: operatorUrl(database), schema: 'operator', pool: 1 });
    for (const kind of Object.keys(events) as EventKind[]) {
      const { from, to } = events[kind];
      await storedBy(from, `evt_${kind}`, kind);
      for (const service of receivers) {
        await deadLetterOf(service, `evt_${kind}`, kind);
        const { senders } = await db.one<{ senders: Service[] }>(
          'select operator.retry_dead_letter($1, $2, $3) as senders',
          [service, `evt_${kind}`, 'test'],
        );
        const isFor = (to as readonly Service[]).includes(service);
        expect([kind, service, senders]).toEqual([kind, service, isFor ? [from] : []]);
      }
    }
    for (const forged of ['gateway', 'auditor', 'operator', 'public', `ledger"; --`]) {
      await expect(
        db.rows('select operator.retry_dead_letter($1, $2, $3)', [forged, 'evt_1', 'test']),
      ).rejects.toThrow(/no receiver of events/);
    }
  });
});

test.each([
  [['dead-letters', 'retry'], /Which one\?/],
  [['dead-letters', 'retry', 'evt_1', '--all'], /Which one\?/],
  [['dead-letters', 'retry', 'evt_1'], /"evt_1" is no dead letter/],
])('%j is refused', async (args, message) => {
  expect(await quittance(args)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
});
