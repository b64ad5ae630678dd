import { describe, expect, it } from '@jest/globals';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { acceptPosting } from '../src/domain/posting.ts';
import { placeHold } from '../src/operations/place-hold.ts';
import { readAccepted } from '../src/operations/read-balance.ts';
import { decideRefunds } from '../src/store/suspense.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  giveUp,
  type Hold,
  type LedgerDeposit,
  openLedger,
  reversed,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

/** What happens to one unresolved deposit is in unresolved-model.test.ts. */

const { fixture, one, other, handle, anUnresolved, accept, stateOf } = openLedger({ replicas: 2 });
const balanceOf = (deposit: LedgerDeposit) => fixture.balance(deposit.account_id as AccountId);

describe('unresolved money that is accepted', () => {
  it('can be spent, once, by the entries that the posting says', async () => {
    const deposit = await anUnresolved();
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
    expect(await accept(deposit)).toMatchObject({ ok: true, value: { state: 'accepted' } });
    expect(await balanceOf(deposit)).toEqual(['100', '0', '0']);
    const { deposit_id: id, account_id: account } = deposit;
    const posting = acceptPosting({
      id: id as DepositId,
      account: account as AccountId,
      asset: 'ETH',
      amount: units(100n),
    });
    await fixture.expectBooked(posting);
  });

  it('is what its invoice has in the balance, until the chain takes it back', async () => {
    const account = anAccount();
    const invoice = { invoice_id: 'inv_1', disposition: 'unresolved' } as const;
    const [accepted, open] = [aDeposit(account, 70n, invoice), aDeposit(account, 20n, invoice)];
    const token = aDeposit(account, 9n, { ...invoice, asset: 'USDC_ERC20' });
    const ofOther = aDeposit(account, 5n, { ...invoice, invoice_id: 'inv_2' });
    await handle(...[accepted, open, token, ofOther].map((deposit) => settled(deposit)));
    const read = async (asset: 'ETH' | 'USDC_ERC20', of: string = account) =>
      (await readAccepted(one.ports, { account_id: of, asset, invoice_id: 'inv_1' })).amount;
    expect(await read('ETH')).toBe('0');
    for (const deposit of [accepted, token, ofOther])
      expect(await accept(deposit)).toMatchObject({ ok: true });
    expect([await read('ETH'), await read('USDC_ERC20'), await read('ETH', anAccount())]).toEqual([
      '70',
      '9',
      '0',
    ]);
    await handle(reversed(accepted));
    expect(await read('ETH')).toBe('0');
  });

  it('of another account, or that nobody knows, is refused', async () => {
    const deposit = await anUnresolved();
    expect(await accept(deposit, anAccount())).toEqual({ ok: false, refusal: 'forbidden' });
    expect(await accept(aDeposit(anAccount(), 1n))).toEqual({ ok: false, refusal: 'not_found' });
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
  });
});

describe('unresolved money that goes back', () => {
  it('given up before it was asked for can never be placed, and leaves the deposit open', async () => {
    const deposit = await anUnresolved();
    const hold = aReturn(deposit);
    await handle(giveUp(hold));
    expect(await fixture.place(hold)).toBe('voided');
    expect(await stateOf(deposit)).toEqual(['open', '100']);
  });

  it('of a deposit that the ledger has not heard of gets no answer, and is placed once it has', async () => {
    const account = anAccount();
    const deposit = aDeposit(account, 100n, { disposition: 'unresolved' });
    const hold = aReturn(deposit);
    await expect(placeHold(other.ports, hold)).rejects.toThrow('not heard');
    await handle(settled(deposit));
    expect(await fixture.place(hold)).toBe('placed');
  });

  it.each<[string, Partial<Hold>]>([
    ['amount', { amount: '89' }],
    ['fee', { network_fee: '11' }],
    ['asset', { asset: 'USDC_ERC20' }],
    ['account', { account_id: anAccount() }],
  ])('with another %s than the deposit’s is an error and changes nothing', async (_what, wrong) => {
    const deposit = await anUnresolved();
    const foreign = wrong.account_id;
    if (foreign !== undefined) await anUnresolved(foreign as AccountId);
    await expect(placeHold(one.ports, aReturn(deposit, 10n, wrong))).rejects.toThrow(
      /other contents|not heard/,
    );
    expect(await stateOf(deposit)).toEqual(['open', '100']);
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
  });

  it('never is what the balance pays, and the other way round', async () => {
    const deposit = await anUnresolved();
    await handle(settled(aDeposit(deposit.account_id as AccountId, 1_000n)));
    const hold = aReturn(deposit);
    await fixture.place(hold);
    const asPayout = placeHold(other.ports, { ...hold, deposit_id: null });
    await expect(asPayout).rejects.toThrow(/other contents/);
    const ordinary = aHold(deposit.account_id as AccountId, 90n, { network_fee: '10' });
    await fixture.place(ordinary);
    const asReturn = placeHold(other.ports, { ...ordinary, deposit_id: deposit.deposit_id });
    await expect(asReturn).rejects.toThrow(/other contents/);
    expect(await balanceOf(deposit)).toEqual(['900', '200', '0']);
  });

  it('by many payouts and accepts at once is taken by exactly one', async () => {
    const account = anAccount();
    await handle(settled(aDeposit(account, 1_000n)));
    const deposits = await Promise.all(Array.from({ length: 20 }, () => anUnresolved(account)));
    let accepted = 0;
    let placed = 0;
    await Promise.all(
      deposits.flatMap((deposit) => [
        ...Array.from({ length: 6 }, async (_, i) => {
          const { ports } = i % 2 === 0 ? one : other;
          const outcome = await placeHold(ports, aReturn(deposit)).catch((error: Error) => error.name);
          if (typeof outcome === 'string') expect(outcome).toBe('RefundInProgress');
          else if (outcome.outcome === 'placed') placed += 1;
        }),
        ...[one, other].map(async (replica) => {
          if ((await accept(deposit, account, replica)).ok) accepted += 1;
        }),
        fixture.place(aHold(account, 1n)),
      ]),
    );
    expect(accepted + placed).toBe(20);
    expect(await fixture.balance(account)).toEqual([
      (980 + 100 * accepted).toString(),
      (20 + 100 * placed).toString(),
      '0',
    ]);
  });

  it('asked for twice in one statement goes to the first, though other money waits beside it', async () => {
    const account = anAccount();
    const [deposit] = [await anUnresolved(account), await anUnresolved(account)];
    const returns = [aReturn(deposit), aReturn(deposit), aReturn(deposit, 20n)].map((hold) => ({
      id: hold.payout_id as PayoutId,
      account,
      asset: hold.asset,
      amount: units(hold.amount),
      networkFee: units(hold.network_fee),
      deposit: deposit.deposit_id as DepositId,
      isPart: false,
    }));
    const decided = async () =>
      new Map((await decideRefunds(fixture.db, returns)).map(({ id, state }) => [id, state]));
    const statesOf = (known: ReadonlyMap<PayoutId, string>) => returns.map(({ id }) => known.get(id));
    await expect(decided()).rejects.toThrow('on its way back');
    expect(await fixture.balance(account)).toEqual(['0', '100', '100']);
    const [first] = returns;
    const outcome = await placeHold(one.ports, { ...aReturn(deposit), payout_id: first?.id ?? '' });
    expect(outcome).toEqual({ outcome: 'placed' });
    await handle(settled(aDeposit(account, 1n)), settle({ ...aReturn(deposit), payout_id: first?.id ?? '' }));
    expect(statesOf(await decided())).toEqual(['settled', 'refused', 'refused']);
  });

  it('in parts by many payouts and an accept at once is taken by as many as fit', async () => {
    const account = anAccount();
    const deposits = await Promise.all(Array.from({ length: 12 }, () => anUnresolved(account)));
    const parts = deposits.map(() => 0n);
    await Promise.all(
      deposits.flatMap((deposit, d) => [
        ...Array.from({ length: 6 }, async (_, i) => {
          const { ports } = i % 2 === 0 ? one : other;
          const part = aReturn({ ...deposit, amount: '30' }, 10n, { is_part: true });
          const answer = await placeHold(ports, part).catch((error: Error) => error.name);
          // The last tenth of a deposit is less than a part.
          if (typeof answer === 'string') expect(answer).toBe('RefundInProgress');
          else if (answer.outcome === 'placed') parts[d] = (parts[d] ?? 0n) + 30n;
        }),
        d % 2 === 0 ? accept(deposit, account, other) : Promise.resolve(),
      ]),
    );
    let [available, held, unresolved] = [0n, 0n, 0n];
    for (const [d, deposit] of deposits.entries()) {
      const taken = parts[d] ?? 0n;
      const rest = 100n - taken;
      if (d % 2 === 0) available += rest;
      else expect(taken).toBe(90n);
      if (d % 2 !== 0) unresolved += rest;
      held += taken;
      expect(await stateOf(deposit)).toEqual([d % 2 === 0 ? 'accepted' : 'open', rest.toString()]);
    }
    expect(await fixture.balance(account)).toEqual([available, held, unresolved].map(String));
  });

  it('in the last part takes the whole rest, however many ask for it at once', async () => {
    const deposit = await anUnresolved();
    const part = () => aReturn({ ...deposit, amount: '50' }, 10n, { is_part: true });
    const holds = Array.from({ length: 8 }, part);
    const answers = await Promise.all(
      holds.map((hold, i) =>
        placeHold((i % 2 === 0 ? one : other).ports, hold).then(
          ({ outcome }) => outcome,
          (error: Error) => error.name,
        ),
      ),
    );
    expect(answers.filter((answer) => answer === 'placed')).toHaveLength(2);
    expect(new Set(answers)).toEqual(new Set(['placed', 'RefundInProgress']));
    expect(await stateOf(deposit)).toEqual(['returning', '50']);
    expect(await balanceOf(deposit)).toEqual(['0', '100', '0']);
  });

  it('in a part of more than is left is never placed', async () => {
    const deposit = await anUnresolved();
    const more = aReturn({ ...deposit, amount: '101' }, 10n, { is_part: true });
    await expect(placeHold(one.ports, more)).rejects.toThrow('other contents');
    expect(await stateOf(deposit)).toEqual(['open', '100']);
  });

  it('given up while it is asked for: held and freed, or never held', async () => {
    const account = anAccount();
    const deposits = Array.from({ length: 40 }, () => aDeposit(account, 100n, { disposition: 'unresolved' }));
    await handle(...deposits.map((deposit) => settled(deposit)));
    const holds = deposits.map((deposit) => aReturn(deposit));
    await Promise.all([
      ...holds.map((hold) => fixture.place(hold)),
      ...holds.map((hold) => handle(giveUp(hold))),
    ]);
    for (const deposit of deposits) expect(await stateOf(deposit)).toEqual(['open', '100']);
    expect(await fixture.balance(account)).toEqual(['0', '0', '4000']);
  });
});

it('what our own transactions cost is booked once and touches no balance', async () => {
  const before = await fixture.admin.one<{ network: string; custody: string }>(sums);
  const spent: Sent = {
    kind: 'network.spent',
    payload: { chain: 'ethereum', asset: 'ETH', amount: '21', tx_hash: '0xspent', purpose: 'sweep' },
  };
  const free: Sent = { ...spent, payload: { ...spent.payload, amount: '0', tx_hash: '0xfree' } };
  await handle(spent, spent, free);
  await handle(spent);
  await fixture.send([spent, spent, settled(aDeposit(anAccount(), 5n))]);
  await eventually(async () => {
    const after = await fixture.admin.one<{ network: string; custody: string }>(sums);
    expect(BigInt(after.custody) - BigInt(before.custody)).toBe(21n - 5n);
    expect(BigInt(after.network) - BigInt(before.network)).toBe(-21n);
  });
  const other: Sent = { ...spent, payload: { ...spent.payload, amount: '22' } };
  await expect(handle(other)).rejects.toThrow(/other contents/);
});

const sums = `select coalesce(sum(amount) filter (where bucket = 'network'), 0) as network,
  coalesce(sum(amount) filter (where bucket = 'custody'), 0) as custody from entries where asset = 'ETH'`;
