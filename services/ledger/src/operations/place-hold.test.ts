import { describe, expect, it } from '@jest/globals';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { RequestExpired } from '@quittance/shared/request-batcher';
import type { Hold } from '../domain/hold.ts';
import type { LedgerPayout } from '../domain/posting.ts';
import { createHoldBatcher } from './place-hold.ts';

const aPayout = (id: string, account = 'acc_1'): LedgerPayout => ({
  id: id as PayoutId,
  account: account as AccountId,
  asset: 'ETH',
  amount: units(1n),
  networkFee: units(0n),
  deposit: null,
});
const placed = (payout: LedgerPayout): Hold => ({ ...payout, state: 'placed' });

/** A batcher whose statements wait until the test lets them answer. */
function aBatcher(timeoutMs = 2_000) {
  const statements: {
    payouts: readonly LedgerPayout[];
    answer(holds?: Hold[]): void;
    fail(error: Error): void;
  }[] = [];
  let time = 0;
  const batcher = createHoldBatcher({
    clock: { now: () => new Date(time) },
    timeoutMs,
    decide: (payouts) =>
      new Promise((resolve, reject) => {
        statements.push({
          payouts,
          answer: (holds = payouts.map(placed)) => resolve(holds),
          fail: reject,
        });
      }),
  });
  const batches = () => statements.map(({ payouts }) => payouts.map(({ id }) => id));
  const pass = (ms: number) => {
    time += ms;
  };
  return { batcher, statements, batches, pass };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const ids = (n: number, from = 1) => Array.from({ length: n }, (_, i) => `${from + i}`);

describe('the batcher of holds', () => {
  it('never has a balance in two statements, and other balances do not wait for it', async () => {
    const { batcher, statements, batches } = aBatcher();
    const busy = batcher.decide(aPayout('1', 'acc_1'));
    await turn();
    const answers = [busy, batcher.decide(aPayout('2', 'acc_1')), batcher.decide(aPayout('3', 'acc_2'))];
    await turn();
    expect(batches()).toEqual([['1'], ['3']]);
    statements[1]?.answer();
    await turn();
    expect(batches()).toHaveLength(2);
    statements[0]?.answer();
    await turn();
    expect(batches()).toEqual([['1'], ['3'], ['2']]);
    statements[2]?.answer();
    expect(await Promise.all(answers)).toHaveLength(3);
  });

  it('executes at most four statements at once', async () => {
    const { batcher, statements, batches } = aBatcher();
    const answers: Promise<Hold>[] = [];
    for (const id of ids(6)) {
      answers.push(batcher.decide(aPayout(id, `acc_${id}`)));
      await turn();
    }
    expect(batches()).toEqual([['1'], ['2'], ['3'], ['4']]);
    statements[2]?.answer();
    await turn();
    expect(batches()).toEqual([['1'], ['2'], ['3'], ['4'], ['5', '6']]);
    for (const statement of statements) statement.answer();
    expect(await Promise.all(answers)).toHaveLength(6);
  });

  it('asks once for a payout that is asked for many times at once', async () => {
    const { batcher, statements, batches } = aBatcher();
    const answers = ids(50).map(() => batcher.decide(aPayout('1')));
    await turn();
    answers.push(...ids(50).map(() => batcher.decide(aPayout('1'))));
    await turn();
    expect(batches()).toEqual([['1']]);
    statements[0]?.answer();
    expect(new Set((await Promise.all(answers)).map((hold) => hold.state))).toEqual(new Set(['placed']));
  });

  it('asks in one statement for what waited together, and again, first in line, for what it left undecided', async () => {
    const { batcher, statements, batches } = aBatcher();
    const first = batcher.decide(aPayout('0'));
    await turn();
    const answers = ids(3).map((id) => batcher.decide(aPayout(id)));
    statements[0]?.answer();
    await first;
    await turn();
    const late = batcher.decide(aPayout('9'));
    statements[1]?.answer([placed(aPayout('1'))]);
    await turn();
    expect(batches()).toEqual([['0'], ['1', '2', '3'], ['2', '3', '9']]);
    statements[2]?.answer();
    expect((await Promise.all([...answers, late])).map((hold) => hold.id)).toEqual(['1', '2', '3', '9']);
  });

  it('takes no more than a statement holds, the rest after it', async () => {
    const { batcher, statements, batches } = aBatcher();
    const answers = ids(130).map((id) => batcher.decide(aPayout(id)));
    await turn();
    for (let i = 0; i < 3; i++) {
      statements[i]?.answer();
      await turn();
    }
    expect(batches().map((batch) => batch.length)).toEqual([64, 64, 2]);
    expect(await Promise.all(answers)).toHaveLength(130);
  });

  it('takes the others one by one when Postgres refuses one of them', async () => {
    const { batcher, statements, batches } = aBatcher();
    const outcomes = Promise.allSettled(ids(3).map((id) => batcher.decide(aPayout(id))));
    await turn();
    statements[0]?.fail(new Error('invalid byte sequence'));
    await turn();
    statements[1]?.answer();
    await turn();
    statements[2]?.fail(new Error('invalid byte sequence'));
    await turn();
    statements[3]?.answer();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(batches()).toEqual([['1', '2', '3'], ['1'], ['2'], ['3']]);
    const next = batcher.decide(aPayout('4'));
    await turn();
    statements[4]?.answer();
    expect((await next).state).toBe('placed');
  });

  it('tells all when the database is away, without asking it for each', async () => {
    const { batcher, statements, batches } = aBatcher();
    const outcomes = Promise.allSettled(ids(3).map((id) => batcher.decide(aPayout(id))));
    await turn();
    statements[0]?.fail(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(batches()).toHaveLength(1);
  });

  it('decides nothing for callers who stopped waiting', async () => {
    const { batcher, statements, batches, pass } = aBatcher(2_000);
    const first = batcher.decide(aPayout('0'));
    await turn();
    const late = Promise.allSettled(ids(70).map((id) => batcher.decide(aPayout(id))));
    pass(2_001);
    const inTime = batcher.decide(aPayout('99'));
    statements[0]?.answer();
    await first;
    await turn();
    expect(batches()).toEqual([['0'], ['99']]);
    statements[1]?.answer();
    expect((await inTime).id).toBe('99');
    for (const outcome of await late) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(RequestExpired) });
    }
  });
});
