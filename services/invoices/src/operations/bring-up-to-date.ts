import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { Announcement } from '@quittance/shared/events';
import type { InvoiceId } from '@quittance/shared/ids';
import { announce } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import type { Deposit } from '../domain/deposit.ts';
import { type ChainView, type Folded, fold } from '../domain/fold.ts';
import { type Invoice, mayFollow } from '../domain/invoice.ts';
import type { Seen, Sighting } from '../domain/sighting.ts';
import type { Ports } from '../ports.ts';
import { chainViews, lockInvoices, saveProgress } from '../store.ts';
import { depositsOf, saveDepositChanges } from '../store-deposits.ts';
import { sightingsOf } from '../store-sightings.ts';
import { invoiceView, type Shown } from '../views.ts';

/** An invoice as it was, what was found, and the invoice and its payments as they are now. */
type Change = {
  before: Invoice;
  folded: Folded;
  invoice: Invoice;
  deposits: Deposit[];
  sightings: readonly Sighting[];
  height: number;
};

/**
 * Makes invoices what their deposits and their chain say now, and announces what is new: to merchants through
 * webhooks, to the ledger and the treasury what is settled or reversed. Whatever happened (a block, a
 * payment without one, a credit, time), this is what follows from it.
 * @returns how many invoices changed
 */
export async function bringUpToDate(
  trx: Trx,
  ids: Iterable<InvoiceId>,
  ports: Pick<Ports, 'clock'> & Shown,
): Promise<number> {
  const invoices = await lockInvoices(trx, ids);
  if (invoices.length === 0) return 0;
  const wanted = invoices.map((invoice) => invoice.id);
  const deposits = await depositsOf(trx, wanted);
  const sightings = await sightingsOf(trx, wanted);
  const views = await chainViews(trx, wanted);
  const now = ports.clock.now();

  const changes = invoices.map((invoice) => {
    const view = views.get(invoice.id);
    invariant(view !== undefined, 'the chain of an invoice with something to fold is followed');
    const seen = { deposits: deposits.get(invoice.id) ?? [], sightings: sightings.get(invoice.id) ?? [] };
    return decide(invoice, seen, view, now);
  });
  const changed = changes.filter(({ before, invoice }) => invoice.version > before.version);
  await saveProgress(
    trx,
    changed.map(({ invoice }) => invoice),
  );
  const decided = {
    invoices: wanted,
    final: changes.flatMap(({ folded }) => folded.final),
    settlements: changes.flatMap(({ folded }) => folded.settlements),
    reversals: changes.flatMap(({ folded }) => folded.reversals),
  };
  await saveDepositChanges(trx, decided, now);
  crashPoint('invoices.folded');
  await announce(
    trx,
    changes.flatMap((change) => [...toLedger(change), ...toMerchant(change, ports)]),
    null,
    now,
  );
  return changed.length;
}

function decide(before: Invoice, given: Seen, view: ChainView, now: Date): Change {
  const folded = fold(before, given, view, now);
  const { status, pendingAmount, paidAmount, paidAt, closedAt, announced } = folded;
  invariant(
    mayFollow(before.status, status),
    `invoice ${before.id} does not go from ${before.status} to ${status}`,
  );
  const differs =
    status !== before.status ||
    pendingAmount !== before.pendingAmount ||
    paidAmount !== before.paidAmount ||
    closedAt !== before.closedAt ||
    announced.length !== before.announced.length;
  const progress = { status, pendingAmount, paidAmount, paidAt, closedAt, announced };
  const invoice = differs ? { ...before, ...progress, version: before.version + 1 } : before;
  const deposits = afterwards(given.deposits, folded, now);
  return { before, folded, invoice, deposits, sightings: given.sightings, height: view.height };
}

/** The deposits as they are once the decisions are written. */
function afterwards(deposits: readonly Deposit[], folded: Folded, now: Date): Deposit[] {
  const settled = new Map(folded.settlements.map(({ deposit, disposition }) => [deposit, disposition]));
  const final = new Set(folded.final);
  const reversed = new Set(folded.reversals);
  return deposits.map((deposit): Deposit => {
    if (reversed.has(deposit.id)) return { ...deposit, state: 'reversed', droppedHeight: null };
    if (!final.has(deposit.id)) return deposit;
    const confirmedAt = deposit.confirmedAt ?? now;
    const disposition = settled.get(deposit.id);
    if (disposition === undefined) return { ...deposit, confirmedAt };
    return { ...deposit, confirmedAt, state: 'settled', disposition };
  });
}

function toLedger({ invoice, deposits, folded }: Change): Announcement[] {
  const byId = new Map(deposits.map((deposit) => [deposit.id, deposit]));
  const payloadOf = (id: Deposit['id']) => {
    const deposit = byId.get(id);
    invariant(deposit !== undefined, 'what is settled or reversed is a deposit of the invoice');
    return {
      deposit_id: deposit.id,
      account_id: invoice.account,
      invoice_id: invoice.id,
      asset: deposit.asset,
      amount: deposit.amount.toString(),
      address: deposit.address,
      derivation_index: deposit.derivationIndex,
      outpoint: deposit.outpoint,
      tx_hash: deposit.txHash,
      block_height: deposit.blockHeight,
      block_hash: deposit.blockHash,
    };
  };
  return [
    ...folded.settlements.map(
      ({ deposit, disposition }): Announcement => ({
        kind: 'deposit.settled',
        payload: { ...payloadOf(deposit), disposition },
      }),
    ),
    ...folded.reversals.map(
      (deposit): Announcement => ({ kind: 'deposit.reversed', payload: payloadOf(deposit) }),
    ),
  ];
}

function toMerchant({ invoice, deposits, sightings, folded, height }: Change, shown: Shown): Announcement[] {
  if (folded.events.length === 0) return [];
  const payload = {
    account_id: invoice.account,
    resource_id: invoice.id,
    version: invoice.version,
    data: invoiceView({ invoice, deposits, sightings, height }, shown, 'event'),
  };
  return folded.events.map((kind): Announcement => ({ kind, payload }));
}
