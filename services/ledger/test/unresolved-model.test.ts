import { expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
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

const { fixture, one, handle, accept, stateOf, platform } = openLedger({ replicas: 2 });

/** A model of the ledger in as few lines as possible. `left` is what is left of the deposit. */
class DepositHistory {
  available = 50n;
  held = 0n;
  unresolved = 7n;
  writtenOff = 0n;
  left = 0n;
  state: 'nothing' | 'open' | 'accepted' | 'returning' | 'returned' | 'reversed' = 'nothing';
  hold: Hold | undefined;
  heardReversal = false;

  settle() {
    if (this.state !== 'nothing') return;
    this.state = 'open';
    this.left = 100n;
    this.unresolved += 100n;
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
    if (this.state === 'returning') this.state = 'returned';
  }
  free(kept: bigint) {
    this.held -= this.left;
    if (this.state === 'reversed') {
      this.writtenOff -= this.left - kept;
      return;
    }
    this.left -= kept;
    this.unresolved += this.left;
    this.state = 'open';
  }
  spend() {
    this.available -= 60n;
    this.held += 60n;
  }
  books() {
    return [this.available, this.held, this.unresolved, -this.writtenOff].map(String);
  }
}

const FEE = 3n;
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
    const { ok } = await accept(deposit);
    expect(ok).toBe(history.state === 'open');
    if (ok) history.accept();
  },
  return: async (deposit: LedgerDeposit, history: DepositHistory) => {
    // Before the deposit is known there is no answer, and one that is worth no more than the fee is not asked for.
    if (history.left <= FEE) return;
    const hold = aReturn({ ...deposit, amount: history.left.toString() }, FEE);
    if (history.state === 'returning') {
      await expect(placeHold(one.ports, hold)).rejects.toThrow('on its way back');
      return;
    }
    const outcome = await fixture.place(hold);
    expect(outcome).toBe(history.state === 'open' ? 'placed' : 'refused');
    if (outcome === 'placed') history.place(hold);
  },
  spend: async (deposit: LedgerDeposit, history: DepositHistory) => {
    const outcome = await fixture.place(aHold(deposit.account_id as AccountId, 60n));
    expect(outcome).toBe(history.available >= 60n ? 'placed' : 'refused');
    if (outcome === 'placed') history.spend();
  },
  mine: ended(settle, (history) => history.mine()),
  fail: ended(release, (history) => history.free(0n)),
  charge: ended(
    (hold) => release(hold, true),
    (history) => history.free(FEE),
  ),
  giveUp: ended(giveUp, (history) => history.free(0n)),
};

/** Handles the end of the pending refund twice. */
function ended(end: (hold: Hold) => Sent, follow: (history: DepositHistory) => void) {
  return async (_deposit: LedgerDeposit, history: DepositHistory) => {
    const { hold } = history;
    if (hold === undefined) return;
    history.hold = undefined;
    await handle(end(hold));
    await handle(end(hold));
    follow(history);
  };
}

it('any sequence of actions on an unresolved deposit leaves the ledger as the model has it', async () => {
  const aHistory = fc.array(fc.constantFrom(...(Object.keys(told) as (keyof typeof told)[])), {
    minLength: 4,
    maxLength: 14,
  });
  const property = fc.asyncProperty(aHistory, async (steps) => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n, { disposition: 'unresolved' });
    const bystander = aDeposit(account, 7n, { disposition: 'unresolved' });
    await handle(settled(aDeposit(account, 50n)), settled(bystander));
    const history = new DepositHistory();
    for (const step of steps) {
      await told[step](deposit, history);
      const writtenOff = (await platform(account))['loss'] ?? '0';
      expect([...(await fixture.balance(account)), writtenOff]).toEqual(history.books());
      expect((await stateOf(deposit))?.[0] ?? 'nothing').toBe(history.state);
      expect(await stateOf(bystander)).toEqual(['open', '7']);
    }
    expect(await fixture.discrepancies()).toEqual([]);
  });
  await fc.assert(property, { numRuns: 20 });
  const more = { interruptAfterTimeLimit: 3_000, markInterruptAsFailure: false };
  await fc.assert(property, { numRuns: 130, ...more });
});
