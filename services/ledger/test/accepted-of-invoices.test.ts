import { expect, it } from '@jest/globals';
import { readAccepted } from '../src/operations/read-balance.ts';
import {
  aDeposit,
  anAccount,
  aReturn,
  type Hold,
  type LedgerDeposit,
  minedAgain,
  openLedger,
  release,
  reversed,
  settle,
  settled,
} from './ledger-fixture.ts';

/** What an invoice that is not paid has in the balance, of which its refunds may take: also when its payment is mined again. */
const { fixture, one: ledger, handle, accept, spend } = openLedger();

const late = (): LedgerDeposit =>
  aDeposit(anAccount(), 100n, { invoice_id: 'inv_1', disposition: 'unresolved' });
async function accepted({ account_id, asset }: LedgerDeposit): Promise<string> {
  const asked = { account_id, asset, invoice_id: 'inv_1' };
  return (await readAccepted(ledger.ports, asked)).amount;
}
async function returnPart(deposit: LedgerDeposit, amount: bigint): Promise<Hold> {
  const hold = aReturn({ ...deposit, amount: amount.toString() }, 0n, { is_part: true });
  expect(await fixture.place(hold)).toBe('placed');
  return hold;
}

it('is what was accepted beside a part that was returned, also after the payment was lost and mined again', async () => {
  const first = late();
  await handle(settled(first));
  await handle(settle(await returnPart(first, 40n)));
  expect(await accepted(first)).toBe('0');
  await accept(first);
  expect(await accepted(first)).toBe('60');
  await spend(first, 60n);
  await handle(reversed(first));
  expect(await accepted(first)).toBe('0');
  // All of it was lost: 60 that were spent, and 40 that the payer has.
  let last = first;
  for (let turn = 0; turn < 3; turn++) {
    last = minedAgain(first);
    await handle(settled(last));
    expect(await accepted(first)).toBe('60');
    await handle(reversed(last));
    expect(await accepted(first)).toBe('0');
  }
});

it.each([
  [50n, '50'],
  [30n, '30'],
  [100n, '100'],
])(
  'is all of a payment again when %p of it were spent and the rest is accepted once more',
  async (spent, before) => {
    const first = late();
    await handle(settled(first));
    await accept(first);
    expect(await accepted(first)).toBe('100');
    await spend(first, spent);
    await handle(reversed(first));
    expect(await accepted(first)).toBe('0');
    const again = minedAgain(first);
    await handle(settled(again));
    expect(await accepted(first)).toBe(before);
    if (spent < 100n) await accept(again);
    expect(await accepted(first)).toBe('100');
  },
);

it('is nothing of a part that was returned, whose payment is mined again', async () => {
  const first = late();
  await handle(settled(first));
  await handle(settle(await returnPart(first, 40n)));
  await handle(reversed(first));
  const again = minedAgain(first);
  await handle(settled(again));
  expect(await accepted(first)).toBe('0');
  await accept(again);
  expect(await accepted(first)).toBe('60');
});

it('has the part whose payout failed after the rest was accepted', async () => {
  const first = late();
  await handle(settled(first));
  const part = await returnPart(first, 40n);
  await accept(first);
  expect(await accepted(first)).toBe('60');
  await handle(release(part));
  expect(await accepted(first)).toBe('100');
});
