import { expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { catchUpReversals } from '../src/operations/deposits.ts';
import { placeHold } from '../src/operations/place-hold.ts';
import { DepositHistory, type Disposition, FEE, PART, SPENT } from './deposit-history.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  giveUp,
  type Hold,
  type LedgerDeposit,
  logger,
  openLedger,
  release,
  reversalOf,
  reversed,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one, discrepancies, handle, accept, stateOf, platform } = openLedger({ replicas: 2 });

const acceptAnswers = {
  nothing: 'not_found',
  open: 'accepted now',
  accepted: 'accepted',
  returning: 'returned',
  returned: 'returned',
  reversed: 'reversed',
} satisfies Record<DepositHistory['state'], string>;

const told = {
  settle: async (deposit: LedgerDeposit, history: DepositHistory) => {
    await handle(settled(deposit));
    history.settle();
    if (history.heardReversal) history.reverse();
  },
  reverse: async (deposit: LedgerDeposit, history: DepositHistory) => {
    await handle(reversed(deposit));
    history.heardReversal = true;
    history.reverse();
  },
  catchUp: async (deposit: LedgerDeposit, history: DepositHistory) => {
    if (history.state !== 'nothing') await fixture.leaveReversal(reversalOf(deposit));
    while ((await catchUpReversals({ db: fixture.db, logger })) > 0);
    history.reverse();
  },
  accept: async (deposit: LedgerDeposit, history: DepositHistory) => {
    const known = history.disposition === 'credit' ? 'nothing' : history.state;
    const answer = await accept(deposit);
    expect(answer.ok ? 'accepted now' : answer.refusal).toBe(acceptAnswers[known]);
    if (answer.ok) history.accept();
  },
  return: async (deposit: LedgerDeposit, history: DepositHistory) => {
    // Before the deposit is known there is no answer, and one that is worth no more than the fee is not asked for.
    if (history.left <= FEE || history.disposition === 'credit') return;
    const hold = aReturn({ ...deposit, amount: history.left.toString() }, FEE, isPartOf(history));
    if (history.state === 'returning') {
      await expect(placeHold(one.ports, hold)).rejects.toThrow('on its way back');
      return;
    }
    if (history.state === 'open' && history.left < 100n) {
      const isOnItsWay = history.parts.length > 0;
      const problem = isOnItsWay ? 'on its way back' : 'other contents';
      await expect(placeHold(one.ports, aReturn(deposit, FEE))).rejects.toThrow(problem);
    }
    const outcome = history.state === 'open' ? 'placed' : 'refused';
    expect([await fixture.place(hold), await fixture.place(hold)]).toEqual([outcome, outcome]);
    if (outcome === 'placed') history.place(hold);
  },
  part: async (deposit: LedgerDeposit, history: DepositHistory) => {
    if (history.disposition === 'credit' || history.state !== 'open') return;
    const isPlaced = history.left > PART;
    const hold = aReturn({ ...deposit, amount: PART.toString() }, FEE, { is_part: true });
    if (history.left === PART) return;
    if (isPlaced) {
      expect([await fixture.place(hold), await fixture.place(hold)]).toEqual(['placed', 'placed']);
      return history.placePart(hold);
    }
    const problem = history.parts.length > 0 ? 'on its way back' : 'other contents';
    await expect(placeHold(one.ports, hold)).rejects.toThrow(problem);
  },
  minePart: partEnded(settle, (history, hold) => history.minePart(hold)),
  failPart: partEnded(release, (history, hold) => history.freePart(hold, 0n)),
  chargePart: partEnded(
    (hold) => release(hold, true),
    (history, hold) => history.freePart(hold, FEE),
  ),
  giveUpPart: partEnded(giveUp, (history, hold) => history.freePart(hold, 0n)),
  spend: async (deposit: LedgerDeposit, history: DepositHistory) => {
    const outcome = await fixture.place(aHold(deposit.account_id as AccountId, SPENT));
    expect(outcome).toBe(history.available >= SPENT ? 'placed' : 'refused');
    if (outcome === 'placed') history.spend();
  },
  mine: ended(settle, (history) => history.mine()),
  fail: ended(release, (history) => history.free(0n)),
  charge: ended(
    (hold) => release(hold, true),
    (history) => history.free(FEE),
  ),
  giveUp: ended(giveUp, (history) => history.free(0n)),
  repeat: async (_deposit: LedgerDeposit, history: DepositHistory) => {
    if (history.ends.length > 0) await handle(...history.ends);
  },
};
type Step = keyof typeof told;

/** Handles the end of the pending refund twice. */
function ended(end: (hold: Hold) => Sent, follow: (history: DepositHistory) => void) {
  return async (_deposit: LedgerDeposit, history: DepositHistory) => {
    const { hold } = history;
    if (hold === undefined) return;
    history.hold = undefined;
    history.ends.push(end(hold));
    await handle(end(hold), end(hold));
    follow(history);
  };
}

/** After a part the rest is a part too. */
const isPartOf = ({ left }: DepositHistory) => (left < 100n ? { is_part: true } : {});

/** Handles the end of the payout of the oldest part twice. */
function partEnded(end: (hold: Hold) => Sent, follow: (history: DepositHistory, hold: Hold) => void) {
  return async (_deposit: LedgerDeposit, history: DepositHistory) => {
    const hold = history.parts.shift();
    if (hold === undefined) return;
    history.ends.push(end(hold));
    await handle(end(hold), end(hold));
    follow(history, hold);
  };
}

/** After each step the ledger is as the model has it, and another deposit of the account as it was. */
async function follow(disposition: Disposition, steps: readonly Step[]): Promise<void> {
  const account = anAccount();
  const deposit = aDeposit(account, 100n, { disposition });
  const bystander = aDeposit(account, 7n, { disposition: 'unresolved' });
  await handle(settled(aDeposit(account, 50n)), settled(bystander));
  const history = new DepositHistory(disposition);
  for (const step of steps) {
    await told[step](deposit, history);
    const ofPlatform = await platform(account);
    const [writtenOff, fees] = ['loss', 'fees'].map((bucket) => ofPlatform[bucket] ?? '0');
    expect([...(await fixture.balance(account)), writtenOff, fees]).toEqual(history.books());
    const state = disposition === 'credit' ? 'nothing' : history.state;
    expect((await stateOf(deposit))?.[0] ?? 'nothing').toBe(state);
    expect(await stateOf(bystander)).toEqual(['open', '7']);
  }
  expect(await discrepancies()).toEqual([]);
}

it.each<[string, Step[]]>([
  ['is taken back in full while the money is there', ['settle', 'reverse']],
  ['is taken back as far as it is not held', ['settle', 'spend', 'reverse']],
  ['is written off when all is held', ['settle', 'spend', 'spend', 'reverse']],
  ['cancels out with a reversal before it', ['reverse', 'settle', 'catchUp']],
])('a credited deposit %s', (_what, steps) => follow('credit', steps));

it.each<[string, Step[]]>([
  ['unresolved cancels out with a reversal before it', ['reverse', 'settle', 'catchUp']],
  ['unresolved is neither accepted nor returned once reversed', ['settle', 'reverse', 'accept', 'return']],
  ['accepted is accepted once and never returned', ['settle', 'accept', 'accept', 'return']],
  ['accepted is taken back as far as it is not held', ['settle', 'accept', 'spend', 'reverse', 'accept']],
  [
    'returned is neither accepted nor returned again',
    ['settle', 'return', 'accept', 'mine', 'repeat', 'accept', 'return'],
  ],
  [
    'returned is open again when its payout fails',
    ['settle', 'return', 'fail', 'return', 'repeat', 'fail', 'accept', 'repeat'],
  ],
  [
    'returned is open again when its payout is given up',
    ['settle', 'return', 'giveUp', 'return', 'repeat', 'giveUp', 'accept', 'repeat'],
  ],
  [
    'returned is less by the fee when the chain charged for a failed payout',
    ['settle', 'return', 'charge', 'repeat', 'return', 'mine'],
  ],
  [
    'accepted after a fee was kept is taken back without that fee',
    ['settle', 'return', 'charge', 'accept', 'reverse'],
  ],
  [
    'returned is returned again only when the failure is booked',
    ['settle', 'return', 'return', 'fail', 'return'],
  ],
  [
    'returned in parts is returned when all parts are',
    ['settle', 'part', 'part', 'return', 'minePart', 'minePart', 'mine', 'repeat', 'return', 'accept'],
  ],
  [
    'returned in parts, of which one fails, is open with that part',
    ['settle', 'part', 'part', 'return', 'failPart', 'repeat', 'minePart', 'mine', 'minePart', 'return'],
  ],
  [
    'returned in a part has that part back when its payout fails after the rest was returned',
    ['settle', 'part', 'return', 'mine', 'chargePart', 'repeat', 'accept'],
  ],
  [
    'accepted with a part on its way gets the part when its payout fails',
    ['settle', 'part', 'accept', 'failPart', 'repeat', 'reverse'],
  ],
  [
    'reversed with parts on their way is written off by them',
    ['settle', 'part', 'part', 'reverse', 'minePart', 'chargePart', 'repeat'],
  ],
  [
    'given up in parts is open again',
    ['settle', 'part', 'part', 'giveUpPart', 'giveUpPart', 'return', 'mine'],
  ],
  ['reversed while it is returned is written off', ['settle', 'return', 'reverse', 'mine']],
  [
    'reversed while it is returned costs nothing when the payout fails',
    ['settle', 'return', 'reverse', 'fail', 'repeat'],
  ],
])('a deposit that is %s', (_what, steps) => follow('unresolved', steps));

it('any sequence of actions on a deposit leaves the ledger as the model has it', async () => {
  const steps = fc.array(fc.constantFrom(...(Object.keys(told) as Step[])), { minLength: 4, maxLength: 14 });
  const disposition = fc.constantFrom<Disposition>('unresolved', 'unresolved', 'unresolved', 'credit');
  const property = fc.asyncProperty(disposition, steps, follow);
  await assertProperty(property, { least: 20, most: 150, withinMs: 1_000 });
});
