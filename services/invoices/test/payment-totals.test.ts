import { expect, it } from '@jest/globals';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { type Deposit, depositStates } from '../src/domain/deposit.ts';
import type { MempoolPayment } from '../src/domain/mempool-payment.ts';
import { findInvoices } from '../src/store/invoice-reads.ts';
import {
  markLateReported,
  markRestDue,
  markReversalsReported,
  paymentTotals,
  reverseDeposits,
  settleDeposits,
} from '../src/store/payments.ts';
import { openFixture } from './fixture.ts';
import { classifyPayments, currentPayments, totalsOf } from './payment-model.ts';

/** The totals that Postgres computes equal those that the model computes payment by payment. */

const START = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);
const EXPIRES = at(3_600);
const NOW = at(10_000);

const { fixture } = await openFixture();
const { id: template } = await fixture.anInvoice();

const payment = {
  amount: fc.bigInt({ min: 1n, max: 1_500n }).map(units),
  asset: fc.constantFrom('ETH' as const, 'ETH' as const, 'ETH' as const, 'USDC_ERC20' as const),
  firstSeenAt: fc.integer({ min: 0, max: 5_000 }).map(at),
  /** Several payments can have one outpoint. */
  place: fc.nat({ max: 12 }),
};
const deposits = fc.array(
  fc.record({
    ...payment,
    blockHeight: fc.integer({ min: 90, max: 110 }),
    state: fc.constantFrom(...depositStates),
    droppedHeight: fc.integer({ min: 95, max: 112 }),
    disposition: fc.constantFrom('credit' as const, 'unresolved' as const),
    isCredited: fc.boolean(),
    isHeld: fc.nat({ max: 4 }).map((n) => n === 0),
  }),
  { maxLength: 14 },
);
const mempoolPayments = fc.array(
  fc.record({ ...payment, droppedAt: fc.option(fc.integer({ min: 0, max: 9_000 }).map(at)) }),
  { maxLength: 8 },
);
const invoice = fc.record({ expiresAt: fc.constantFrom(EXPIRES, EXPIRES, null), isExpired: fc.boolean() });
const view = fc.record({
  height: fc.integer({ min: 95, max: 120 }),
  knownUntil: fc.integer({ min: 0, max: 14_000 }).map(at),
});

let made = 0;

/** Writes an invoice and its payments. Leaves out payments that the tables cannot hold together. */
async function write(given: {
  invoice: { expiresAt: Date | null; isExpired: boolean };
  deposits: readonly (Omit<Deposit, 'id'> & { place: number; isCredited: boolean })[];
  mempoolPayments: readonly (Omit<MempoolPayment, 'outpoint'> & { place: number })[];
  view: { height: number; knownUntil: Date };
}) {
  const { expiresAt, isExpired } = given.invoice;
  made += 1;
  const id = `inv_t${made}` as InvoiceId;
  const outpointOf = (place: number) => `${id}:${place}`;
  await fixture.rows(
    `insert into invoices select copy.* from invoices i, jsonb_populate_record(i, jsonb_build_object('id', $2::text,
       'address', $2::text, 'dust', 10, 'expires_at', $3::timestamptz, 'status', $4::text, 'closed_at', $5::timestamptz)) as copy
     where i.id = $1`,
    [template, id, expiresAt, isExpired ? 'expired' : 'pending', isExpired ? START : null],
  );
  await fixture.rows(
    `insert into addresses (chain, address, invoice_id, derivation_index) values ('ethereum', $1, $1, 0)`,
    [id],
  );
  const { height, knownUntil } = given.view;
  await fixture.rows(`update cursors set height = $1, known_until = $2`, [height, knownUntil]);
  const inChain = new Set<string>();
  const rows: Deposit[] = [];
  for (const [n, { place, isCredited, ...one }] of given.deposits.entries()) {
    const outpoint = outpointOf(place);
    if (one.state === 'seen' || one.state === 'settled') {
      if (inChain.has(outpoint)) continue;
      inChain.add(outpoint);
    }
    const isSettled = ['settled', 'missing', 'reversed'].includes(one.state);
    const isAway = one.state === 'dropped' || one.state === 'missing';
    rows.push({
      ...one,
      id: `dep_${made}_${String(n).padStart(2, '0')}` as DepositId,
      outpoint,
      invoiceId: id,
      droppedHeight: isAway ? one.droppedHeight : null,
      disposition: isSettled ? one.disposition : null,
      creditedAt: isSettled && isCredited ? START : null,
    });
  }
  for (const d of rows) {
    if (d.isHeld) {
      await fixture.rows(
        `insert into contradictions (chain, block_hash, block_height, outpoint, deposit_id, invoice_id, found_at, check_at)
         values ('ethereum', $1, 1, $2, $1, $3, $4, $4)`,
        [d.id, d.outpoint, id, START],
      );
    }
    await fixture.rows(
      `insert into deposits (chain, id, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
         output_index, block_height, block_hash, first_seen_at, min_confirmations, state, dropped_height, due_height,
         settled_at, disposition, credited_at)
       values ('ethereum', $1, $2, $3, $4, $3, 0, $5, '0x', 0, $6, $7, $8, 3, $9, $10, null, $11, $12, $13)`,
      [
        ...[d.id, d.outpoint, id, d.asset, d.amount.toString(), d.blockHeight, d.blockHash, d.firstSeenAt],
        ...[d.state, d.droppedHeight, d.disposition && START, d.disposition, d.creditedAt],
      ],
    );
  }
  const seen = new Map<string, MempoolPayment>();
  for (const { place, ...one } of given.mempoolPayments) {
    const outpoint = outpointOf(place);
    if (!seen.has(outpoint)) seen.set(outpoint, { ...one, outpoint, invoiceId: id });
  }
  for (const s of seen.values()) {
    await fixture.rows(
      `insert into mempool_payments (chain, outpoint, invoice_id, asset, address, amount, tx_hash, output_index, first_seen_at,
         dropped_at)
       values ('ethereum', $1, $2, $3, $2, $4, '0x', 0, $5, $6)`,
      [s.outpoint, id, s.asset, s.amount.toString(), s.firstSeenAt, s.droppedAt],
    );
  }
  return { id, deposits: rows, mempoolPayments: [...seen.values()] };
}

const fixed = { address: '', derivationIndex: 0, txHash: '0x', outputIndex: 0, invoiceId: '' as InvoiceId };
const all = fc
  .record({ invoice, deposits, mempoolPayments, view })
  .map(({ deposits: some, mempoolPayments: others, ...rest }) => ({
    ...rest,
    deposits: some.map((one) => ({
      ...one,
      ...fixed,
      outpoint: '',
      blockHash: `0x${one.blockHeight}`,
      minConfirmations: 3,
      confirmedAt: null,
      creditedAt: null,
    })),
    mempoolPayments: others.map((one) => ({ ...one, ...fixed })),
  }));

const totals = async (id: InvoiceId) =>
  await fixture.ports.db.transaction(async (trx) => (await paymentTotals(trx, [id])).get(id));

it('totals computed by Postgres equal those computed payment by payment', async () => {
  await assertProperty(
    fc.asyncProperty(all, async (given) => {
      const written = await write(given);
      const terms = { asset: 'ETH' as const, dust: units(10n), expiresAt: given.invoice.expiresAt };
      expect(await totals(written.id)).toEqual({
        paid: totalsOf(terms, written, given.view),
        view: given.view,
      });
    }),
    { least: 25, most: 300 },
  );
});

it('Postgres settles, reverses and reports the same payments as one by one, each once', async () => {
  await assertProperty(
    fc.asyncProperty(
      all,
      fc.constantFrom('credit' as const, 'unresolved' as const, null),
      async (given, counted) => {
        const { id, ...written } = await write(given);
        const terms = { asset: 'ETH' as const, dust: units(10n), expiresAt: given.invoice.expiresAt };
        const rows = classifyPayments(terms, written, given.view);
        const idsOf = (some: readonly Deposit[]) => some.map((one) => one.id).sort();
        const [settled, reversed] = await fixture.ports.db.transaction(async (trx) => {
          await markReversalsReported(trx, [id]);
          await markLateReported(trx, [id]);
          return [
            await settleDeposits(trx, [{ id, destinations: { counted, uncounted: 'unresolved' } }], NOW),
            await reverseDeposits(trx, [id], NOW),
          ] as const;
        });
        const unsettled = rows.present.filter((one) => one.state === 'seen' && rows.isFinal(one));
        const wanted = unsettled.filter((one) => counted !== null || !rows.counts(one));
        expect(idsOf(settled)).toEqual(idsOf(wanted));
        for (const one of settled) expect(one.disposition).toBe(rows.counts(one) ? counted : 'unresolved');
        expect(idsOf(reversed)).toEqual(idsOf(written.deposits.filter(rows.isLost)));
        const after = await totals(id);
        expect(after?.paid).toMatchObject({
          unsettled: counted === null ? unsettled.filter(rows.counts).length : 0,
          unsettledUncounted: 0,
          lost: 0,
          isReversalUnreported: false,
          isLateUnreported: false,
        });
        if (given.invoice.isExpired) expect(after?.paid.isTimelyUnreported).toBe(false);
      },
    ),
    { least: 10, most: 150 },
  );
});

it('payments are shown and counted once, in their current state', async () => {
  await assertProperty(
    fc.asyncProperty(all, async (given) => {
      const { id, ...written } = await write(given);
      const [found] = await findInvoices(fixture.ports.db, [id]);
      const stands = currentPayments(written);
      expect(found?.deposits.map((one) => one.id).sort()).toEqual(
        stands.deposits.map((one) => one.id).sort(),
      );
      expect(found?.mempoolPayments.map(({ outpoint }) => outpoint).sort()).toEqual(
        stands.mempoolPayments.map(({ outpoint }) => outpoint).sort(),
      );
      expect(found?.paymentsTotal).toBe(stands.deposits.length + stands.mempoolPayments.length);
    }),
    { least: 10, most: 150 },
  );
});

it('keeps one deposit due when there is more to settle than one step takes', async () => {
  const one = { asset: 'ETH' as const, amount: units(5n), firstSeenAt: START, isCredited: false, ...fixed };
  const block = { blockHeight: 90, blockHash: '0x90', minConfirmations: 3, confirmedAt: null };
  const { id } = await write({
    invoice: { expiresAt: EXPIRES, isExpired: false },
    deposits: [1, 2].map((place) => ({
      ...{ ...one, ...block, place, outpoint: '' },
      ...{ state: 'seen' as const, droppedHeight: null, disposition: null, creditedAt: null, isHeld: false },
    })),
    mempoolPayments: [],
    view: { height: 100, knownUntil: START },
  });
  await fixture.ports.db.transaction((trx) => markRestDue(trx, [id]));
  expect(
    await fixture.rows('select due_height from deposits where invoice_id = $1 order by 1', [id]),
  ).toEqual([{ due_height: 100 }, { due_height: null }]);
});
