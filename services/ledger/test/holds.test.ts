import { describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { holdPosting, type LedgerPayout } from '../src/domain/posting.ts';
import { placeHold } from '../src/operations/place-hold.ts';
import { readBalance } from '../src/operations/read-balance.ts';
import { decideHolds } from '../src/store/holds.ts';
import { aDeposit, aHold, anAccount, aPayoutId, giveUp, openLedger, settled } from './ledger-fixture.ts';
import { withRequest } from './with-request.ts';

const { fixture, one, other } = openLedger({ replicas: 2 });

/** An account with this much to spend. */
async function anAccountWith(amount: bigint): Promise<AccountId> {
  const account = anAccount();
  await fixture.send([settled(aDeposit(account, amount))]);
  await eventually(async () => expect(await fixture.balance(account)).toEqual([amount.toString(), '0', '0']));
  return account;
}

const payoutOf = (account: AccountId, amount: bigint, networkFee = 0n): LedgerPayout => ({
  id: aPayoutId() as PayoutId,
  account,
  asset: 'ETH',
  amount: units(amount),
  networkFee: units(networkFee),
  deposit: null,
});

const count = <T>(values: readonly T[], value: T) => values.filter((one) => one === value).length;

// First: later the tables are not empty any more.
it('holds are decided by their keys, also when the statement was planned over empty tables', async () => {
  const { ports } = await fixture.start({ config: { DATABASE_POOL: 1 } });
  await fixture.admin.rows('vacuum analyze holds, balances, transfers');
  // From the sixth time on Postgres keeps the plan.
  for (let i = 0; i < 8; i++) await decideHolds(ports.db, [payoutOf(anAccount(), 1n)]);
  const plan = await ports.db.rows(
    `explain execute holds_decide('{1}', '{acc_1}', '{ETH}', '{1}', '{0}', '{f}', '{null}')`,
  );
  expect(plan.length).toBeGreaterThan(10);
  expect(JSON.stringify(plan)).not.toMatch(/Seq Scan/);
});

it('tells what an account can spend, which is nothing without a deposit', async () => {
  const account = await anAccountWith(100n);
  const read = async (asset: AssetSymbol, of = account) =>
    (await readBalance(one.ports, { account_id: of, asset })).available;
  expect(await fixture.place(aHold(account, 60n, { network_fee: '5' }))).toBe('placed');
  expect([await read('ETH'), await read('BTC'), await read('ETH', anAccount())]).toEqual(['35', '0', '0']);
});

describe('a hold', () => {
  it.each([
    ['a part of it', 60n, '5', ['35', '65', '0']],
    ['all of it', 95n, '5', ['0', '100', '0']],
    ['one unit too much', 96n, '5', undefined],
    ['the amount, but not the fee', 100n, '5', undefined],
    ['more than any balance', 10n ** 78n - 1n, '0', undefined],
    ['more than any balance as fee', 1n, (10n ** 78n - 1n).toString(), undefined],
  ])('of %s', async (_what, amount, fee, balance) => {
    const account = await anAccountWith(100n);
    const hold = aHold(account, amount, { network_fee: fee });
    const outcome = balance === undefined ? 'refused' : 'placed';
    expect([await fixture.place(hold), await fixture.place(hold)]).toEqual([outcome, outcome]);
    expect(await fixture.balance(account)).toEqual(balance ?? ['100', '0', '0']);
  });

  it.each<[string, bigint, Awaited<ReturnType<typeof placeHold>>, string[]]>([
    ['leaves nothing', 100n, { outcome: 'placed', amount: '95' }, ['0', '100', '0']],
    ['is refused below its least amount', 14n, { outcome: 'refused', available: '14' }, ['14', '0', '0']],
  ])('of all %s, also when it is asked for again', async (_what, has, reply, balance) => {
    const account = await anAccountWith(has);
    const hold = aHold(account, 10n, { network_fee: '5', takes_all: true });
    expect(await placeHold(one.ports, hold)).toMatchObject(reply);
    await fixture.send([settled(aDeposit(account, 50n))]);
    const later = String(BigInt(balance[0] ?? 0) + 50n);
    await eventually(async () => expect((await fixture.balance(account))[0]).toBe(later));
    const { amount, outcome } = await placeHold(other.ports, hold);
    expect({ amount, outcome }).toEqual({ amount: reply.amount, outcome: reply.outcome });
    expect(await fixture.balance(account)).toEqual([later, ...balance.slice(1)]);
  });

  it('of all is not placed when its payout was voided before', async () => {
    const account = await anAccountWith(100n);
    const hold = aHold(account, 10n, { takes_all: true });
    await fixture.send([giveUp(hold)]);
    const row = () => fixture.db.rows('select state from holds where payout_id = $1', [hold.payout_id]);
    await eventually(async () => expect(await row()).toEqual([{ state: 'voided' }]));
    expect(await placeHold(one.ports, hold)).toEqual({ outcome: 'voided' });
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
  });

  it('of one asset does not touch another', async () => {
    const account = await anAccountWith(100n);
    expect(await fixture.place(aHold(account, 1n, { asset: 'USDC_ERC20' }))).toBe('refused');
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
  });

  it('refused once stays refused when the money comes later', async () => {
    const account = await anAccountWith(10n);
    const hold = aHold(account, 11n);
    expect(await fixture.place(hold)).toBe('refused');
    await fixture.send([settled(aDeposit(account, 90n))]);
    await eventually(async () => expect((await fixture.balance(account))[0]).toBe('100'));
    expect(await fixture.place(hold)).toBe('refused');
    expect(await fixture.place({ ...hold, payout_id: aPayoutId() })).toBe('placed');
  });

  it('says what the balance has when it is refused, and only then', async () => {
    const account = await anAccountWith(100n);
    const refused = await placeHold(one.ports, aHold(account, 101n));
    expect(refused).toMatchObject({ outcome: 'refused', available: '100' });
    expect(await placeHold(one.ports, aHold(anAccount(), 1n))).toMatchObject({ available: '0' });
    expect(await placeHold(one.ports, aHold(account, 60n))).not.toHaveProperty('available');
  });

  it('under the same id with other contents is an error and changes nothing', async () => {
    const account = await anAccountWith(100n);
    const stranger = await anAccountWith(100n);
    const hold = aHold(account, 60n);
    expect(await fixture.place(hold)).toBe('placed');
    for (const wrong of [{ amount: '61' }, { network_fee: '1' }, { account_id: stranger }]) {
      for (const { ports } of [one, other]) {
        await expect(placeHold(ports, { ...hold, ...wrong })).rejects.toThrow(/other contents/);
      }
    }
    expect(await fixture.balance(account)).toEqual(['40', '60', '0']);
    expect(await fixture.balance(stranger)).toEqual(['100', '0', '0']);
  });

  it('that makes no sense gets no answer, and those beside it do', async () => {
    const account = await anAccountWith(100n);
    const [nothing, poison, negative, right] = await Promise.all([
      fixture.bus.ask('hold.place', withRequest(aHold(account, 0n))),
      fixture.bus.ask('hold.place', withRequest({ ...aHold(account, 1n), payout_id: 'a\u0000b' })),
      fixture.bus.ask('hold.place', aHold(account, '-1')),
      fixture.place(aHold(account, 1n)),
    ]);
    expect([nothing.known, poison.known, negative.known]).toEqual([false, false, false]);
    expect(right).toBe('placed');
    expect(await fixture.balance(account)).toEqual(['99', '1', '0']);
  });

  it('is booked by the same entries as the posting says', async () => {
    const account = await anAccountWith(100n);
    const hold = aHold(account, 60n, { network_fee: '5' });
    await fixture.place(hold);
    const posting = holdPosting({ ...payoutOf(account, 60n, 5n), id: hold.payout_id as PayoutId });
    await fixture.expectBooked(posting);
  });
});

describe('many at once', () => {
  it('600 holds of 1 on a balance of 300 through two replicas: exactly 300 are placed', async () => {
    const account = await anAccountWith(300n);
    const outcomes = await Promise.all(Array.from({ length: 600 }, () => fixture.place(aHold(account, 1n))));
    expect([count(outcomes, 'placed'), count(outcomes, 'refused')]).toEqual([300, 300]);
    expect(await fixture.balance(account)).toEqual(['0', '300', '0']);
  });

  it('holds of all among others: the balance is held to the unit', async () => {
    const account = await anAccountWith(300n);
    const asks = Array.from({ length: 60 }, (_, i) =>
      aHold(account, 10n, { network_fee: '1', ...(i % 20 === 7 && { takes_all: true }) }),
    );
    const replies = await Promise.all(asks.map((ask, i) => placeHold((i % 2 ? one : other).ports, ask)));
    const all = replies.filter(({ outcome, amount }) => outcome === 'placed' && amount !== undefined);
    expect(all.length).toBeLessThanOrEqual(1);
    const held = replies.reduce(
      (sum, { outcome, amount = '10' }) => sum + (outcome === 'placed' ? BigInt(amount) + 1n : 0n),
      0n,
    );
    const left = 300n - held;
    expect(await fixture.balance(account)).toEqual([String(left), String(held), '0']);
    expect(left < 11n).toBe(true);
  });

  it('the statement alone, 16 connections on one row: exactly as many as the balance covers', async () => {
    const account = await anAccountWith(300n);
    const decided = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        let waiting = Array.from({ length: 1 + (i % 5) }, () => payoutOf(account, 1n, 1n));
        const states: string[] = [];
        while (waiting.length > 0) {
          const holds = await decideHolds(fixture.db, waiting);
          const known = new Set(holds.map((hold) => hold.id));
          states.push(...holds.map((hold) => hold.state));
          waiting = waiting.filter((payout) => !known.has(payout.id));
        }
        return states;
      }),
    );
    const states = decided.flat();
    expect(states).toHaveLength(600);
    expect(count(states, 'placed')).toBe(150);
    expect(await fixture.balance(account)).toEqual(['0', '300', '0']);
  });

  it('with money coming in meanwhile: nothing is lost, nothing is spent twice', async () => {
    const account = await anAccountWith(100n);
    const [outcomes] = await Promise.all([
      Promise.all(Array.from({ length: 200 }, () => fixture.place(aHold(account, 3n)))),
      fixture.send(Array.from({ length: 200 }, () => settled(aDeposit(account, 2n)))),
    ]);
    const placed = BigInt(count(outcomes, 'placed'));
    await eventually(async () =>
      expect(await fixture.balance(account)).toEqual([
        (500n - 3n * placed).toString(),
        (3n * placed).toString(),
        '0',
      ]),
    );
  });

  it('the same payout from 16 connections at once, enough for many: one hold', async () => {
    const account = await anAccountWith(1_000n);
    const payout = payoutOf(account, 60n);
    const answers = await Promise.all(Array.from({ length: 100 }, () => decideHolds(fixture.db, [payout])));
    // Whoever lost the race to another connection asks again.
    for (const answer of answers) expect(answer.length).toBeLessThanOrEqual(1);
    expect(await decideHolds(fixture.db, [payout])).toEqual([
      { ...payout, state: 'placed', available: null },
    ]);
    expect(await fixture.balance(account)).toEqual(['940', '60', '0']);
  });

  it('one payout under two contents at once: one of them wins, as a whole', async () => {
    for (let i = 0; i < 10; i++) {
      const [rich, poor] = await Promise.all([anAccountWith(100n), anAccountWith(10n)]);
      const id = aPayoutId();
      const asked = await Promise.allSettled([
        placeHold(one.ports, aHold(rich, 10n, { payout_id: id })),
        placeHold(other.ports, aHold(poor, 10n, { payout_id: id })),
      ]);
      expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const held = [(await fixture.balance(rich))[1], (await fixture.balance(poor))[1]];
      expect(held.sort()).toEqual(['0', '10']);
    }
  });
});

describe('several in one statement', () => {
  const states = async (payouts: readonly LedgerPayout[]) => {
    const byId = new Map((await decideHolds(fixture.db, payouts)).map((hold) => [hold.id, hold.state]));
    return payouts.map(({ id }) => byId.get(id) ?? 'undecided');
  };

  it('are placed in order while they fit, refused when too large by themselves, else asked again', async () => {
    const account = await anAccountWith(100n);
    const payouts = [60n, 30n, 101n, 30n, 5n].map((amount) => payoutOf(account, amount));
    // 60 and 30 fit; 101 never can; after 90 the next 30 does not fit any more, and 5 waits behind it.
    expect(await states(payouts)).toEqual(['placed', 'placed', 'refused', 'undecided', 'undecided']);
    expect(await states(payouts)).toEqual(['placed', 'placed', 'refused', 'refused', 'placed']);
    expect(await fixture.balance(account)).toEqual(['5', '95', '0']);
  });

  it('of several accounts do not touch each other', async () => {
    const [rich, poor] = [await anAccountWith(1_000n), await anAccountWith(10n)];
    const payouts = [payoutOf(poor, 11n), payoutOf(rich, 11n), payoutOf(poor, 10n), payoutOf(rich, 989n)];
    expect(await states(payouts)).toEqual(['refused', 'placed', 'placed', 'placed']);
    expect(await fixture.balance(rich)).toEqual(['0', '1000', '0']);
    expect(await fixture.balance(poor)).toEqual(['0', '10', '0']);
  });
});
