import type { Trx } from '@quittance/shared/db';
import type { NewEvent, PayloadOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import type { Deposit } from '../domain/deposit.ts';
import { type Invoice, mayFollow } from '../domain/invoice.ts';
import {
  type ChainView,
  computeInvoiceState,
  type InvoiceState,
  isToldWhenSettled,
  type PaymentTotals,
  unresolvedReason,
} from '../domain/invoice-state.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { overdueInvoices } from '../store/deposits.ts';
import { findInvoices } from '../store/invoice-reads.ts';
import { lockInvoices, saveInvoiceStates } from '../store/invoices.ts';
import {
  markLateReported,
  markRecomputed,
  markRestDue,
  markReversalsReported,
  paymentTotals,
  reverseDeposits,
  SETTLED_PER_STEP_MAX,
  settleDeposits,
} from '../store/payments.ts';
import { invoiceView, unresolvedView, type ViewPorts } from '../views.ts';

/** An invoice before and after, with the totals of its payments. */
type Change = { before: Invoice; paid: PaymentTotals; computed: InvoiceState; invoice: Invoice };

/**
 * Recomputes the state of invoices from their payments, their chain and the clock, and writes the events: to
 * merchants, and to ledger and payouts for settled and reversed deposits. Every cause (a block, a mempool payment, a
 * credit, the expiry) ends here. An invoice with very many payments is settled in several steps; its rest is due at
 * once.
 * @returns how many invoices changed
 */
export async function recomputeInvoices(
  trx: Trx,
  wanted: Iterable<InvoiceId>,
  ports: Pick<Ports, 'clock'> & ViewPorts,
): Promise<number> {
  const invoices = await lockInvoices(trx, wanted);
  if (invoices.length === 0) return 0;
  const ids = invoices.map(({ id }) => id);
  const totals = await paymentTotals(trx, ids);
  const now = ports.clock.now();

  const changes = invoices.map((invoice) => {
    const found = totals.get(invoice.id);
    invariant(found !== undefined, 'the chain of an invoice with payments has a cursor');
    return decide(invoice, found.paid, found.view, now);
  });
  const changed = changes.filter(({ before, invoice }) => invoice.version > before.version);
  await saveInvoiceStates(
    trx,
    changed.map(({ invoice }) => invoice),
  );
  const deposits = await settleAndReverse(trx, changes, now);
  const merchants = await tell(trx, changes, deposits, ports);
  failpoint('invoices.recomputed');
  await appendToOutbox(trx, [...deposits, ...merchants], null, now);
  return changed.length;
}

function decide(before: Invoice, paid: PaymentTotals, view: ChainView, now: Date): Change {
  const computed = computeInvoiceState(before, paid, view, now);
  const { destinations: _, events, ...progress } = computed;
  invariant(
    mayFollow(before.status, progress.status),
    `invoice ${before.id} does not go from ${before.status} to ${progress.status}`,
  );
  const keys = ['status', 'pendingAmount', 'paidAmount', 'reversedAmount', 'closedAt'] as const;
  const differs = keys.some((key) => progress[key] !== before[key]) || events.length > 0;
  const invoice = differs ? { ...before, ...progress, version: before.version + 1 } : before;
  return { before, paid, computed, invoice };
}

/** How many deposits of an invoice can be settled now. */
const toSettle = ({ paid, computed }: Change): number =>
  paid.unsettledUncounted + (computed.destinations.counted === null ? 0 : paid.unsettled);

/** Settles and reverses deposits, and returns the events for ledger and payouts. */
async function settleAndReverse(trx: Trx, changes: readonly Change[], now: Date): Promise<NewEvent[]> {
  const unreported = changes.filter(({ paid }) => paid.isReversalUnreported);
  const settling = changes.filter((change) => toSettle(change) > 0);
  const lost = changes.filter(({ paid }) => paid.lost > 0);
  const unfinished = changes.filter(
    (change) => toSettle(change) > SETTLED_PER_STEP_MAX || change.paid.lost > SETTLED_PER_STEP_MAX,
  );
  await markRecomputed(trx, idsOf(changes), now);
  await markReversalsReported(trx, idsOf(unreported));
  const settled = await settleDeposits(
    trx,
    settling.map(({ before: { id }, computed: { destinations } }) => ({ id, destinations })),
    now,
  );
  const reversed = await reverseDeposits(trx, idsOf(lost), now);
  await markRestDue(trx, idsOf(unfinished));
  const invoices = new Map(changes.map(({ invoice }) => [invoice.id, invoice]));
  const invoiceOf = ({ invoiceId }: Deposit) => {
    const invoice = invoices.get(invoiceId);
    invariant(invoice !== undefined, 'a settled or reversed deposit belongs to one of the invoices');
    return invoice;
  };
  const payloadOf = (deposit: Deposit) => {
    return {
      deposit_id: deposit.id,
      account_id: invoiceOf(deposit).account,
      invoice_id: deposit.invoiceId,
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
    ...settled.map((deposit): NewEvent => {
      const { disposition } = deposit;
      invariant(disposition !== null, 'a settled deposit has a disposition');
      const reason =
        disposition === 'unresolved' ? { reason: unresolvedReason(invoiceOf(deposit), deposit) } : {};
      const seen = { first_seen_at: deposit.firstSeenAt.toISOString() };
      return { kind: 'deposit.settled', payload: { ...payloadOf(deposit), disposition, ...reason, ...seen } };
    }),
    ...reversed.map((deposit): NewEvent => ({ kind: 'deposit.reversed', payload: payloadOf(deposit) })),
  ];
}

const idsOf = (changes: readonly Change[]): InvoiceId[] => changes.map(({ before }) => before.id);

/** The settled deposits that merchants are told of, by their invoices. A deposit is settled once. */
function unresolvedToTell(deposits: readonly NewEvent[], { quotes }: Pick<ViewPorts, 'quotes'>) {
  const told = deposits.flatMap((event): PayloadOf<'deposit.settled'>[] => {
    if (event.kind !== 'deposit.settled') return [];
    const { reason, asset, amount } = event.payload;
    const quote = quotes.latest(asset);
    const dust = quote === undefined ? undefined : units(quote.dust);
    return reason !== undefined && isToldWhenSettled(reason, units(amount), dust) ? [event.payload] : [];
  });
  return Map.groupBy(told, ({ invoice_id }) => invoice_id);
}

/** The events for merchants. Each carries the whole invoice as it is now. */
async function tell(
  trx: Trx,
  changes: readonly Change[],
  deposits: readonly NewEvent[],
  shown: ViewPorts,
): Promise<NewEvent[]> {
  const unresolved = unresolvedToTell(deposits, shown);
  const telling = changes.filter(
    ({ computed, invoice }) => computed.events.length > 0 || unresolved.has(invoice.id),
  );
  if (telling.length === 0) return [];
  const late = telling.filter(({ computed }) => computed.events.includes('invoice.late_payment'));
  await markLateReported(trx, idsOf(late));
  const found = await findInvoices(trx, idsOf(telling));
  return telling.flatMap(({ invoice, computed }, i) => {
    const full = found[i];
    invariant(full !== undefined, 'an invoice is never deleted');
    const payload = {
      account_id: invoice.account,
      resource_id: invoice.id,
      version: invoice.version,
      data: invoiceView(full, shown),
    };
    return [
      ...computed.events.map((kind): NewEvent => ({ kind, payload })),
      ...(unresolved.get(invoice.id) ?? []).map((deposit): NewEvent => {
        const data = { ...payload.data, unresolved: unresolvedView(deposit) };
        return { kind: 'invoice.unresolved_payment', payload: { ...payload, data } };
      }),
    ];
  });
}

/** Invoices per step, each in its own transaction: one with a million payments takes seconds. */
const INVOICES_PER_STEP_MAX = 5;

/**
 * Recomputes invoices with deposits that were due at an earlier block: those with more deposits than one step
 * settles. Blocks recompute only what becomes due at their own height.
 * @returns how many there were
 */
export async function recomputeOverdueInvoices(
  ports: Pick<Ports, 'db' | 'clock'> & ViewPorts,
  { chain }: Pick<WatchedChain, 'chain'>,
): Promise<number> {
  const left = await overdueInvoices(ports.db, chain, INVOICES_PER_STEP_MAX);
  for (const id of left) await ports.db.transaction((trx) => recomputeInvoices(trx, [id], ports));
  return left.length;
}
