import { expect, it } from '@jest/globals';
import type { InvoiceId } from '@quittance/shared/ids';
import { findInvoice } from './find-invoice.ts';

const id = 'inv_1' as InvoiceId;

/** Ports that find these in turn: among the invoices, before the choice, and among the invoices again. */
function portsThatFind(first: unknown, unchosen: unknown, again: unknown) {
  const found = [first, again];
  const db = { maybe: () => Promise.resolve(unchosen) };
  return { db, findInvoice: () => Promise.resolve(found.shift()) } as unknown as Parameters<
    typeof findInvoice
  >[0];
}

it.each([
  ['an invoice', 'full', undefined, undefined, 'full'],
  ['an invoice before the choice', undefined, 'unchosen', undefined, 'unchosen'],
  ['an invoice whose asset is chosen between two reads', undefined, undefined, 'full', 'full'],
  ['nothing where there is no invoice', undefined, undefined, undefined, undefined],
])('finds %s', async (_, first, unchosen, again, expected) => {
  expect(await findInvoice(portsThatFind(first, unchosen, again), id)).toBe(expected);
});
