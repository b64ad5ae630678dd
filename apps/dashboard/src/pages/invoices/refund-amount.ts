import type { PayableInvoice, Refund } from '@quittance/client';
import { compare, divideDown, multiply, subtract, sum } from '../../parts/decimal.ts';

/** What a refund can take of an invoice, in its asset. */
export type Refundable = {
  /** What was paid, or accepted of an invoice that is not paid. */
  paid: string;
  left: string;
  /** What of that is more than was due, and not refunded as that before. */
  surplus: string;
};

const atLeastZero = (amount: string): string => (compare(amount, '0') < 0 ? '0' : amount);

const endedWithoutPaying: readonly Refund['status'][] = ['failed', 'expired', 'cancelled'];

/** What the refunds of the surplus of an invoice take of it. */
const surplusTaken = (refunds: readonly Pick<Refund, 'requested' | 'status' | 'share'>[]): string =>
  sum(
    refunds
      .filter(({ requested, status }) => requested === 'surplus' && !endedWithoutPaying.includes(status))
      .map(({ share }) => share),
  );

/**
 * What is left to refund.
 * @param accepted what was accepted of unresolved funds in the invoice's asset, which counts where it is not paid
 * @param refunds all refunds of the invoice; undefined when they are not known, and then no surplus is offered
 */
export function refundable(
  {
    status,
    amount,
    paid_amount,
    refunded_amount,
  }: Pick<PayableInvoice, 'status' | 'amount' | 'paid_amount' | 'refunded_amount'>,
  accepted: string,
  refunds: readonly Pick<Refund, 'requested' | 'status' | 'share'>[] | undefined,
): Refundable {
  const paid = status === 'paid' ? paid_amount : accepted;
  const left = atLeastZero(subtract(paid, refunded_amount));
  if (refunds === undefined) return { paid, left, surplus: '0' };
  const over = atLeastZero(subtract(atLeastZero(subtract(paid, amount)), surplusTaken(refunds)));
  return { paid, left, surplus: compare(over, left) < 0 ? over : left };
}

/** What an amount of the invoice's currency takes of the payment at the locked rates, rounded down as the API does. */
export function shareOf(amountFiat: string, { rate, asset }: Pick<PayableInvoice, 'rate' | 'asset'>): string {
  return divideDown(multiply(amountFiat, rate.currency.usd_rate), rate.asset.usd_rate, asset.decimals);
}

/** What an amount of the asset is worth in the invoice's currency at the locked rates, rounded down to the cent. */
export function worthOf(amount: string, { rate }: Pick<PayableInvoice, 'rate'>): string {
  const worth = divideDown(multiply(amount, rate.asset.usd_rate), rate.currency.usd_rate, 2);
  const [whole = '0', cents = ''] = worth.split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}

/** Whether somebody has typed an amount of a currency. */
export const isFiatAmount = (text: string): boolean =>
  /^\d{1,13}(?:\.\d{1,2})?$/.test(text) && compare(text, '0') > 0;
