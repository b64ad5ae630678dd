import { expect, test } from '@jest/globals';
import { statementsOf } from '@quittance/testkit/count-statements';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { DUE, openFixture } from './fixture.ts';

const { fixture, pay, blocks } = await openFixture();

test('an invoice and its payment take as many statements and events as are recorded', async () => {
  const shop = fixture.merchant();
  const countOf = async (id: string) => (await fixture.told(id)).length;
  // The first one also reads what is kept from then on.
  await shop.invoice();
  const begun = new Set<string>();
  let id = '';
  const created = await statementsOf('invoices', async () => {
    const made = await shop.invoice();
    id = made.id;
    begun.add(made.address.address.toLowerCase());
  });
  const events = { created: await countOf(id), seen: 0, settled: 0, paid: 0 };
  const seen = await statementsOf('invoices', () => pay([...begun][0] ?? '', DUE));
  events.seen = (await countOf(id)) - events.created;
  await blocks(1);
  const settled = await statementsOf('invoices', () => blocks(1));
  events.settled = (await countOf(id)) - events.created - events.seen;
  const idle = await statementsOf('invoices', () => fixture.scanner.step());
  await fixture.credit();
  events.paid = (await countOf(id)) - events.created - events.seen - events.settled;

  const today = {
    'POST /api/invoices': created,
    'block with a payment': seen,
    'block that makes it final': settled,
    'scan without a new block': idle,
    events,
  };
  expect(today).toEqual(recordedCounts(new URL('statement-counts.json', import.meta.url), today));
});
