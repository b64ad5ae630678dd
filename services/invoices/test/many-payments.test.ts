import { expect, it } from '@jest/globals';
import { api } from '@quittance/testkit/api';
import { patient } from '@quittance/testkit/patience';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { DUE, MINUTE, openFixture, type Told } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

/** Anyone can pay an invoice thousands of times with dust. Other invoices must not be slower for it. */

/** More than one step settles. */
const MANY = 1_100;
const DUST = 10_000_000_000_000n;

const { fixture, anInvoice, mine, pay, settle, pass, reorg } = await openFixture();

const kindsOf = (told: readonly Told[]) => Map.groupBy(told, ({ kind }) => kind);
const height = async () => (await fixture.rows('select height from cursors'))[0].height;

function dust({ to }: { to: string }, count = MANY): Script {
  const tx = newTx();
  return { pay: Array.from({ length: count }, (_, index) => ({ to, amount: DUST, tx, index })) };
}

it('thousands of late payments in one block are one event and do not stop the scanner', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  await pass(2 * MINUTE);

  const began = performance.now();
  await mine(dust(invoice), {}, {}, {});
  expect(performance.now() - began).toBeLessThan(patient(30_000));
  expect(await height()).toBe(fixture.chain.height());

  const deposits = await fixture.rows(
    'select state, disposition, count(*)::int from deposits where invoice_id = $1 group by 1, 2',
    [invoice.id],
  );
  expect(deposits).toEqual([{ state: 'settled', disposition: 'unresolved', count: MANY }]);
  const told = kindsOf(await fixture.told(invoice.id));
  expect(told.get('deposit.settled')).toHaveLength(MANY);
  const late = told.get('invoice.late_payment') ?? [];
  expect(late).toHaveLength(1);
  expect(late[0]?.payload.data).toMatchObject({ status: 'expired', payments_total: MANY });
  expect(late[0]?.payload.data.payments).toHaveLength(100);
  expect(JSON.stringify(late[0]?.payload).length).toBeLessThan(64_000);

  const shown = await invoice.read();
  expect(shown.payments_total).toBe(MANY);
  expect(shown.payments).toHaveLength(100);

  // A later payment is reported again and is the newest in the list.
  fixture.pass(MINUTE);
  await mine(dust(invoice, 2));
  const again = kindsOf(await fixture.told(invoice.id)).get('invoice.late_payment') ?? [];
  expect(again).toHaveLength(2);
  expect(again[1]?.payload.version).toBeGreaterThan(late[0]?.payload.version);
  expect(again[1]?.payload.data.payments_total).toBe(MANY + 2);
  expect(again[1]?.payload.data.payments.at(-1)).toMatchObject({ output_index: 1, confirmations: 1 });
});

it('settling the rest of thousands of payments delays neither the next blocks nor the expiry of other invoices', async () => {
  const invoice = await anInvoice({ expires_in: 1 });
  const other = await anInvoice({ expires_in: 3 });
  await pass(2 * MINUTE);
  await invoice.expectShown({ status: 'expired' });

  // They are final two blocks later. The last block makes none final.
  fixture.chain.mine(dust(invoice, 2_100), {}, {});
  fixture.pass(2 * MINUTE);
  fixture.chain.mine({}, {});
  await fixture.scanner.step();
  expect(await height()).toBe(fixture.chain.height());
  const settled = async () => (await invoice.deposits()).filter(({ state }) => state === 'settled').length;
  // Once by the block that made them final, and once between blocks.
  expect(await settled()).toBe(2_000);
  await expireInvoices(fixture.ports, fixture.watchedChain);
  await other.expectShown({ status: 'expired' });
  await fixture.scan();
  expect(await settled()).toBe(2_100);
});

it('thousands of payments that lose their block are one event', async () => {
  const invoice = await anInvoice();
  await mine(dust(invoice));
  await reorg(1, {}, {});
  expect(await height()).toBe(fixture.chain.height());
  const told = kindsOf(await fixture.told(invoice.id));
  expect(told.get('invoice.payment_reversed')).toHaveLength(1);
  await invoice.expectShown({ pending_amount: '0' });
  // Each payment stores what was reported of it, so the invoice's list does not grow.
  const [row] = await fixture.rows('select reported_events from invoices where id = $1', [invoice.id]);
  expect(row.reported_events.length).toBeLessThan(10);
});

const textOfBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

/** How much the database returns during `work`, in characters. */
async function readBy(work: () => Promise<unknown>): Promise<number> {
  const { db } = fixture.ports;
  const { rows, transaction } = db;
  let read = 0;
  const counting =
    (real: typeof rows): typeof rows =>
    async (sql, values) => {
      const found = await real(sql, values);
      read += JSON.stringify(found, textOfBigint).length;
      return found as never;
    };
  db.rows = counting(rows);
  db.transaction = (does) =>
    transaction((trx) => does({ ...trx, rows: counting(trx.rows) } as Parameters<typeof does>[0]));
  try {
    await work();
  } finally {
    Object.assign(db, { rows, transaction });
  }
  return read;
}

it('a step and the page read few of an invoice’s many payments', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  await settle();
  await fixture.rows(
    `insert into deposits select copy.* from deposits d, generate_series(1, 10000) as n,
       jsonb_populate_record(d, jsonb_build_object('id', d.id || n, 'outpoint', d.outpoint || n, 'amount', ${DUST})) as copy
     where d.invoice_id = $1`,
    [invoice.id],
  );
  await fixture.rows('analyze deposits');
  fixture.pass(MINUTE);
  fixture.chain.mine(dust(invoice, 1));
  expect(await readBy(() => fixture.scan())).toBeLessThan(200_000);
  await invoice.expectShown({ paid_amount: '0.11', pending_amount: '0.00001', payments_total: 10_000 });
  const shown = (await invoice.read()).payments;
  expect(shown).toHaveLength(100);
  // Dust hides neither the large payments nor the latest ones.
  expect(shown[0].amount).toBe('0.01');
  expect(shown.at(-1)).toMatchObject({ confirmations: 1, status: 'pending' });
  expect(await readBy(() => invoice.read())).toBeLessThan(200_000);
  const page = () => api(fixture.service.port, 'GET', `/pay/${invoice.id}`, { now: fixture.clock.now() });
  expect(await readBy(page)).toBeLessThan(200_000);
  expect((await page()).body).toContain('and 9990 more');
});

it('a paid invoice reports thousands of further payments once', async () => {
  const invoice = await anInvoice();
  await pay(invoice.to, DUE);
  await settle();
  await mine(dust(invoice), {}, {});
  const told = kindsOf(await fixture.told(invoice.id));
  expect(told.get('invoice.overpaid')).toHaveLength(1);
  expect(told.get('deposit.settled')).toHaveLength(MANY + 1);
  await invoice.expectShown({ status: 'paid', paid_amount: '0.021' });
});
