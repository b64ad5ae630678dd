import { expect, it } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { formerRelease } from '@quittance/testkit/former-release';
import { paymentTotals } from '../src/store/payments.ts';

const insertInvoice = (db: Db, id: string, told: readonly string[], time: string) =>
  db.rows(
    `insert into invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due, min_confirmations,
       dust, status, created_at, expires_at, closed_at, address, derivation_index, announced)
     values ($1, 'acc_1', 'ETH', 'ethereum', 1, 1, '{}', 1, 3, 1, 'expired', $2, $2, $2, $1, 0, $3)`,
    [id, time, told],
  );

it('an upgrade keeps which payments were reported and which were reversed', async () => {
  const { db, upgrade, drop } = await formerRelease('invoices', '1012');
  try {
    const time = '2026-03-01T12:00:00.123Z';
    const reported = [
      ...['invoice.created', 'invoice.late_payment:dep_late', 'invoice.payment_reversed:dep_dropped.0xa'],
      ...['invoice.payment_reversed:dep_reversed.settled', 'invoice.payment_reversed:dep_again.0xold'],
      `invoice.payment_reversed:0xgone:0.${new Date(time).getTime()}`,
    ];
    const invoice = async (id: string, told: readonly string[]) => {
      await insertInvoice(db, id, told, time);
      await db.rows(
        `insert into addresses (chain, address, invoice_id, derivation_index) values ('ethereum', $1, $1, 0)`,
        [id],
      );
    };
    const deposit = (id: string, of: string, state: string) => {
      const isSettled = state === 'settled' || state === 'reversed';
      return db.rows(
        `insert into deposits (chain, id, outpoint, invoice_id, asset, address, derivation_index, amount, output_index,
           block_height, block_hash, first_seen_at, min_confirmations, state, dropped_height, settled_at, disposition)
         values ('ethereum', $1, $1, $2, 'ETH', $2, 0, 7, 0, 90, '0xa', $3, 3, $4, $5, $6, $7)`,
        [
          ...[id, of, time, state, state === 'dropped' ? 90 : null],
          ...[isSettled ? time : null, isSettled ? 'credit' : null],
        ],
      );
    };
    await db.rows(
      `insert into cursors (chain, height, hash, time, known_until) values ('ethereum', 100, '0x', $1, $1)`,
      [time],
    );
    await invoice('inv_told', reported);
    await deposit('dep_late', 'inv_told', 'settled');
    await deposit('dep_dropped', 'inv_told', 'dropped');
    await deposit('dep_reversed', 'inv_told', 'reversed');
    await db.rows(
      `insert into sightings (chain, outpoint, invoice_id, asset, address, amount, tx_hash, output_index, first_seen_at,
         gone_at)
       values ('ethereum', '0xgone:0', 'inv_told', 'ETH', 'inv_told', 7, '0x', 0, $1, $1)`,
      [time],
    );
    await invoice('inv_untold', ['invoice.created']);
    await deposit('dep_new', 'inv_untold', 'settled');
    await deposit('dep_again', 'inv_untold', 'dropped');

    await upgrade();
    expect(await db.rows('select id, reversed_amount from invoices order by id')).toEqual([
      { id: 'inv_told', reversed_amount: '7' },
      { id: 'inv_untold', reversed_amount: '0' },
    ]);
    const totals = (id: string) =>
      db.transaction(async (trx) => (await paymentTotals(trx, [id as InvoiceId])).get(id as InvoiceId)?.paid);
    const untold = (id: string) =>
      totals(id).then((paid) => [
        paid?.isReversalUnreported,
        paid?.isTimelyUnreported,
        paid?.isLateUnreported,
      ]);
    expect(await untold('inv_told')).toEqual([false, false, false]);
    expect(await untold('inv_untold')).toEqual([true, true, false]);
    // The former release stored what it reported in the invoice.
    const also = ['invoice.late_payment:dep_new', 'invoice.payment_reversed:dep_again.0xa'];
    await db.rows(
      `update invoices set reported_events = reported_events || $1::text[] where id = 'inv_untold'`,
      [also],
    );
    expect(await untold('inv_untold')).toEqual([false, false, false]);
  } finally {
    await drop();
  }
});

it('an upgrade neither breaks nor blocks a transaction of the former release beside it', async () => {
  const { db, upgrade, drop } = await formerRelease('invoices', '1012');
  try {
    await insertInvoice(db, 'inv_1', [], '2026-03-01T12:00:00Z');
    let upgraded: Promise<unknown> | undefined;
    // A replica locks an invoice, then reads its deposits, as it does for each block.
    await db.transaction(async (trx) => {
      await trx.rows(`select 1 from invoices where id = 'inv_1' for update`);
      upgraded = upgrade();
      // It is awaited below; without this, an earlier rejection would be unhandled.
      upgraded.catch(() => undefined);
      const isWaiting = (expected: boolean) =>
        eventually(async () => {
          const { waiting } = await db.one<{ waiting: boolean }>(
            `select exists (select from pg_locks where not granted and relation = 'invoices'::regclass) as waiting`,
          );
          expect(waiting).toBe(expected);
        });
      await isWaiting(true);
      expect(await trx.rows('select id from deposits')).toEqual([]);
      // The lock timeout of the migration passes, and it tries again.
      await isWaiting(false);
    });
    await expect(upgraded).resolves.toContain('1018_reversed_amount');
  } finally {
    await drop();
  }
});
