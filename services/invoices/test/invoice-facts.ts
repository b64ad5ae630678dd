import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { Deposit, Disposition } from '../src/domain/deposit.ts';
import { type ChainView, computeInvoiceState, type InvoiceFacts } from '../src/domain/invoice-state.ts';
import type { InvoicePayments, MempoolPayment } from '../src/domain/mempool-payment.ts';
import { classifyPayments, type ReportedChanges, totalsOf } from './payment-model.ts';

export const START = new Date('2026-03-01T12:00:00.000Z');
export const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);
export const NOW = at(10_000);
export const EXPIRES = at(3_600);

export const anInvoice = (over: Partial<InvoiceFacts> = {}): InvoiceFacts => ({
  asset: 'ETH',
  amountDue: units(1_000n),
  toleranceBps: 0,
  dust: units(10n),
  expiresAt: EXPIRES,
  status: 'pending',
  paidAt: null,
  closedAt: null,
  reportedEvents: ['invoice.created'],
  ...over,
});

let made = 0;
export const aDeposit = (over: Partial<Deposit> = {}): Deposit => {
  made += 1;
  return {
    id: `dep_${made}` as DepositId,
    outpoint: `0x${made}:0`,
    invoiceId: 'inv_1' as InvoiceId,
    asset: 'ETH',
    address: '0xours',
    derivationIndex: 0,
    amount: units(1_000n),
    txHash: `0x${made}`,
    outputIndex: 0,
    blockHeight: 100,
    blockHash: '0xblock',
    firstSeenAt: at(60),
    minConfirmations: 3,
    state: 'seen',
    droppedHeight: null,
    confirmedAt: null,
    disposition: null,
    creditedAt: null,
    isHeld: false,
    ...over,
  };
};

export const aMempoolPayment = (over: Partial<MempoolPayment> = {}): MempoolPayment => {
  made += 1;
  return {
    outpoint: `0x${made}:0`,
    invoiceId: 'inv_1' as InvoiceId,
    asset: 'ETH',
    address: '0xours',
    amount: units(1_000n),
    txHash: `0x${made}`,
    outputIndex: 0,
    firstSeenAt: at(60),
    droppedAt: null,
    ...over,
  };
};

/** Computes the state from payments that are given one by one, and lists what follows for each. */
export function stateOf(
  { told = { reversals: new Set(), late: new Set() }, ...invoice }: InvoiceFacts & { told?: ReportedChanges },
  seen: InvoicePayments,
  chain: ChainView,
  now: Date,
) {
  const computed = computeInvoiceState(invoice, totalsOf(invoice, seen, chain, told), chain, now);
  const { deposits, present, mempoolPayments, isLost, isFinal, counts, inTime, reversalOf, dropOf } =
    classifyPayments(invoice, seen, chain);
  const { counted, uncounted } = computed.destinations;
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  const final = present.filter(isFinal).sort(byId);
  const isKey = (key: string | undefined) => key !== undefined;
  const reversals = [
    ...deposits.filter(counts).map(reversalOf),
    ...mempoolPayments.filter((one) => counts(one) && inTime(one)).map(dropOf),
  ].filter(isKey);
  const late = present.filter((one) => counts(one) && (computed.status === 'expired' || !inTime(one)));
  return {
    ...computed,
    final: final.map(({ id }) => id),
    settlements: final
      .filter(({ state }) => state === 'seen')
      .map((one) => ({ deposit: one.id, disposition: counts(one) ? counted : uncounted }))
      .filter((one): one is { deposit: DepositId; disposition: Disposition } => one.disposition !== null),
    reversals: deposits
      .filter(isLost)
      .sort(byId)
      .map(({ id }) => id),
    told: {
      reversals: new Set([...told.reversals, ...reversals]),
      late: new Set([...told.late, ...(computed.closedAt === null ? [] : late.map(({ id }) => id))]),
    },
  };
}

export const stateOfDeposits = (
  invoice: InvoiceFacts,
  deposits: readonly Deposit[],
  chain: ChainView,
  now: Date,
) => stateOf(invoice, { deposits, mempoolPayments: [] }, chain, now);

export const view = (height: number, knownUntil: Date | null = at(120)): ChainView => ({
  height,
  knownUntil,
});
