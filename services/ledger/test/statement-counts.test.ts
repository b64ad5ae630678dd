import { expect, test } from '@jest/globals';
import { statementsOf } from '@quittance/testkit/count-statements';
import { eventually } from '@quittance/testkit/eventually';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { aDeposit, aHold, anAccount, openLedger, settle, settled } from './ledger-fixture.ts';

const { fixture } = openLedger();

test('a credit, a hold and its end take as many statements and events as are recorded', async () => {
  const account = anAccount();
  const available = (amount: string) =>
    eventually(async () => expect((await fixture.balance(account))[0]).toBe(amount));
  await fixture.send([settled(aDeposit(account, 100n))]);
  await available('100');
  const eventsBefore = await eventCount();
  const credit = await statements(async () => {
    await fixture.send([settled(aDeposit(account, 100n))]);
    await available('200');
  });
  const hold = aHold(account, 60n);
  const placed = await statements(async () => expect(await fixture.place(hold)).toBe('placed'));
  const ended = await statements(async () => {
    await fixture.send([settle(hold)]);
    await eventually(async () => expect((await fixture.balance(account))[1]).toBe('0'));
  });
  const today = {
    'deposit.settled': credit,
    'hold.place': placed,
    'hold.settle': ended,
    events: (await eventCount()) - eventsBefore,
  };
  expect(today).toEqual(recordedCounts(new URL('statement-counts.json', import.meta.url), today));
});

/** The ledger's own: those of the test that looks have no name. */
const statements = async (work: () => Promise<unknown>) =>
  (await statementsOf('ledger', work)).filter((name) => !name.startsWith('select '));

/** How many events the ledger has for others. */
async function eventCount(): Promise<number> {
  return (await fixture.admin.one<{ count: number }>('select count(*)::int as count from outbox')).count;
}
