import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { ETHER, type Fixture, startFixture } from './fixture.ts';

const DUE = ETHER / 100n;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
  await fixture.scan();
});
afterAll(() => fixture.stop());

/** An invoice that is paid in equal final parts, and their events for the ledger. */
async function settled(parts: number) {
  const merchant = fixture.merchant();
  const invoice = await merchant.invoice();
  const to = invoice.address.address.toLowerCase();
  for (let n = 0; n < parts; n++) fixture.chain.mine({ pay: [{ to, amount: DUE / BigInt(parts) }] });
  fixture.chain.mine({}, {}, {});
  await fixture.scan();
  const told = await fixture.told(invoice.id);
  const credits = told
    .filter(({ kind }) => kind === 'deposit.settled')
    .map(({ payload }) => ({ deposit_id: payload.deposit_id as string, invoice_id: invoice.id as string }));
  expect(credits).toHaveLength(parts);
  return { id: invoice.id as string, read: () => merchant.read(invoice.id), credits };
}

const processed = (eventId: string) =>
  eventually(async () => {
    if ((await fixture.rows('select 1 from inbox where event_id = $1', [eventId])).length === 0) {
      throw new Error(`${eventId} was not processed`);
    }
  });

const paidEvents = async (id: string) =>
  (await fixture.told(id)).filter(({ kind }) => kind === 'invoice.paid').length;

it('an invoice is paid with its last credit, in any order', async () => {
  const { id, read, credits } = await settled(4);
  for (const [i, credit] of credits.toReversed().entries()) {
    expect((await read()).status).toBe('confirmed');
    await processed(await fixture.tell('credit.recorded', credit));
    expect((await read()).status).toBe(i === 3 ? 'paid' : 'confirmed');
  }
  expect(await paidEvents(id)).toBe(1);
});

it('a repeated credit counts once, as one event or as several', async () => {
  const { id, read, credits } = await settled(2);
  const [first, second] = credits;
  if (first === undefined || second === undefined) throw new Error('there are two');
  const event = await fixture.tell('credit.recorded', first);
  for (let n = 0; n < 4; n++) await fixture.tell('credit.recorded', first, event);
  for (let n = 0; n < 3; n++) await processed(await fixture.tell('credit.recorded', first));
  expect((await read()).status).toBe('confirmed');
  await processed(await fixture.tell('credit.recorded', second));
  expect((await read()).status).toBe('paid');
  const before = await fixture.told(id);
  await processed(await fixture.tell('credit.recorded', second));
  await processed(await fixture.tell('credit.recorded', first));
  expect(await fixture.told(id)).toEqual(before);
  const [{ credited_at }] = await fixture.rows('select credited_at from deposits where id = $1', [
    first.deposit_id,
  ]);
  expect(credited_at).not.toBeNull();
});

it('many concurrent credits pay each of many invoices once', async () => {
  const invoices = [];
  for (let n = 0; n < 10; n++) invoices.push(await settled(2));
  const credits = invoices.flatMap((invoice) => invoice.credits);
  // Each credit twice and out of order.
  const order = [...credits, ...credits].sort((a, b) =>
    a.deposit_id.slice(-4) < b.deposit_id.slice(-4) ? -1 : 1,
  );
  const events = await Promise.all(order.map((credit) => fixture.tell('credit.recorded', credit)));
  for (const event of events) await processed(event);
  for (const { id, read } of invoices) {
    expect((await read()).status).toBe('paid');
    expect(await paidEvents(id)).toBe(1);
  }
});

it('a credit of an unsettled deposit becomes a dead letter and delays no other credit', async () => {
  const { read, credits } = await settled(1);
  const [credit] = credits;
  if (credit === undefined) throw new Error('there is one');
  const stranger = { deposit_id: 'dep_unknown', invoice_id: credit.invoice_id };
  await fixture.tell('credit.recorded', stranger);
  await processed(await fixture.tell('credit.recorded', credit));
  expect((await read()).status).toBe('paid');
  expect(await fixture.rows(`select 1 from deposits where id = 'dep_unknown'`)).toEqual([]);
});

it('two replicas record each credit once', async () => {
  await fixture.replica();
  const invoices = [];
  for (let n = 0; n < 5; n++) invoices.push(await settled(2));
  await fixture.credit();
  for (const { id, read } of invoices) {
    expect((await read()).status).toBe('paid');
    expect(await paidEvents(id)).toBe(1);
  }
});

it('the relay publishes the events of the service', async () => {
  const { id } = await settled(1);
  await eventually(async () => {
    const unsent = await fixture.rows(
      `select 1 from outbox where payload->>'invoice_id' = $1 and sent_at is null`,
      [id],
    );
    if (unsent.length > 0) throw new Error('an event was not published');
  });
  expect(await fixture.rows(`select 1 from outbox where payload->>'invoice_id' = $1`, [id])).toHaveLength(1);
});
