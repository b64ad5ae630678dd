import { expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { catchUpReversals } from '../src/operations/deposits.ts';
import { placeHold } from '../src/operations/place-hold.ts';
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

type Disposition = LedgerDeposit['disposition'];
const [FEE, SPENT] = [3n, 75n];

/** A model of the ledger in as few lines as possible. `left` is what is left of the deposit. */
class DepositHistory {
  available = 50n;
  held = 0n;
  unresolved = 7n;
  writtenOff = 0n;
  fees = 0n;
  left = 0n;
  /** A deposit that is credited at once is accepted from the beginning. */
  state: 'nothing' | 'open' | 'accepted' | 'returning' | 'returned' | 'reversed' = 'nothing';
  hold: Hold | undefined;
  heardReversal = false;
  ends: Sent[] = [];
  disposition: Disposition;

  constructor(disposition: Disposition) {
    this.disposition = disposition;
  }
  settle() {
    if (this.state !== 'nothing') return;
    this.left = 100n;
    this.unresolved += 100n;
    this.state = 'open';
    if (this.disposition === 'credit') this.accept();
  }
  reverse() {
    if (this.state === 'nothing' || this.state === 'reversed') return;
    if (this.state === 'open') {
      this.unresolved -= this.left;
      this.writtenOff += 100n - this.left;
    } else if (this.state === 'accepted') {
      const back = [this.available, this.left].sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n;
      this.available -= back;
      this.writtenOff += 100n - back;
    } else {
      this.writtenOff += 100n;
    }
    this.state = 'reversed';
  }
  accept() {
    this.state = 'accepted';
    this.unresolved -= this.left;
    this.available += this.left;
  }
  place(hold: Hold) {
    this.state = 'returning';
    this.hold = hold;
    this.unresolved -= this.left;
    this.held += this.left;
  }
  mine() {
    this.held -= this.left;
    this.fees += FEE;
    if (this.state === 'returning') this.state = 'returned';
  }
  free(kept: bigint) {
    this.held -= this.left;
    this.fees += kept;
    if (this.state === 'reversed') {
      this.writtenOff -= this.left - kept;
      return;
    }
    this.left -= kept;
    this.unresolved += this.left;
    this.state = 'open';
  }
  spend() {
    this.available -= SPENT;
    this.held += SPENT;
  }
  books() {
    return [this.available, this.held, this.unresolved, -this.writtenOff, this.fees].map(String);
  }
}

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
    const hold = aReturn({ ...deposit, amount: history.left.toString() }, FEE);
    if (history.state === 'returning') {
      await expect(placeHold(one.ports, hold)).rejects.toThrow('on its way back');
      return;
    }
    if (history.state === 'open' && history.left < 100n)
      await expect(placeHold(one.ports, aReturn(deposit, FEE))).rejects.toThrow('other contents');
    const outcome = history.state === 'open' ? 'placed' : 'refused';
    expect([await fixture.place(hold), await fixture.place(hold)]).toEqual([outcome, outcome]);
    if (outcome === 'placed') history.place(hold);
  },
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

it.each<[string, Disposition, Step[]]>([
  ['credited is taken back in full while the money is there', 'credit', ['settle', 'reverse']],
  ['credited is taken back as far as it is not held', 'credit', ['settle', 'spend', 'reverse']],
  ['credited is written off when all is held', 'credit', ['settle', 'spend', 'spend', 'reverse']],
  ['credited cancels out with a reversal before it', 'credit', ['reverse', 'settle', 'catchUp']],
  ['unresolved cancels out with a reversal before it', 'unresolved', ['reverse', 'settle', 'catchUp']],
  [
    'unresolved is neither accepted nor returned once reversed',
    'unresolved',
    ['settle', 'reverse', 'accept', 'return'],
  ],
  ['accepted is accepted once and never returned', 'unresolved', ['settle', 'accept', 'accept', 'return']],
  [
    'accepted is taken back as far as it is not held',
    'unresolved',
    ['settle', 'accept', 'spend', 'reverse', 'accept'],
  ],
  [
    'returned is neither accepted nor returned again',
    'unresolved',
    ['settle', 'return', 'accept', 'mine', 'repeat', 'accept', 'return'],
  ],
  [
    'returned is open again when its payout fails',
    'unresolved',
    ['settle', 'return', 'fail', 'return', 'repeat', 'fail', 'accept', 'repeat'],
  ],
  [
    'returned is open again when its payout is given up',
    'unresolved',
    ['settle', 'return', 'giveUp', 'return', 'repeat', 'giveUp', 'accept', 'repeat'],
  ],
  [
    'returned is less by the fee when the chain charged for a failed payout',
    'unresolved',
    ['settle', 'return', 'charge', 'repeat', 'return', 'mine'],
  ],
  [
    'accepted after a fee was kept is taken back without that fee',
    'unresolved',
    ['settle', 'return', 'charge', 'accept', 'reverse'],
  ],
  [
    'returned is returned again only when the failure is booked',
    'unresolved',
    ['settle', 'return', 'return', 'fail', 'return'],
  ],
  ['reversed while it is returned is written off', 'unresolved', ['settle', 'return', 'reverse', 'mine']],
  [
    'reversed while it is returned costs nothing when the payout fails',
    'unresolved',
    ['settle', 'return', 'reverse', 'fail', 'repeat'],
  ],
])('a deposit that is %s', (_what, disposition, steps) => follow(disposition, steps));

it('any sequence of actions on a deposit leaves the ledger as the model has it', async () => {
  const steps = fc.array(fc.constantFrom(...(Object.keys(told) as Step[])), { minLength: 4, maxLength: 14 });
  const disposition = fc.constantFrom<Disposition>('unresolved', 'unresolved', 'unresolved', 'credit');
  const property = fc.asyncProperty(disposition, steps, follow);
  await assertProperty(property, { least: 20, most: 150, withinMs: 1_000 });
});
