import { describe, expect, it } from '@jest/globals';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { placeHold } from '../src/operations/place-hold.ts';
import { decideRefunds } from '../src/store/suspense.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  giveUp,
  type Hold,
  openLedger,
  release,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one, other, handle, anUnresolved, accept, stateOf, balanceOf, platform } = openLedger({
  replicas: 2,
});

describe('unresolved money that goes back', () => {
  it('is held, and gone when its payout is mined', async () => {
    const deposit = await anUnresolved();
    const hold = aReturn(deposit);
    expect(await fixture.place(hold)).toBe('placed');
    expect(await fixture.place(hold)).toBe('placed');
    expect(await balanceOf(deposit)).toEqual(['0', '100', '0']);
    expect(await stateOf(deposit)).toEqual(['returning', '100']);
    expect(await accept(deposit)).toEqual({ ok: false, refusal: 'returned' });
    await handle(settle(hold));
    await handle(settle(hold));
    expect(await balanceOf(deposit)).toEqual(['0', '0', '0']);
    expect(await stateOf(deposit)).toEqual(['returned', '100']);
    expect(await platform(deposit.account_id)).toEqual({ custody: '-10', fees: '10' });
    expect(await accept(deposit)).toEqual({ ok: false, refusal: 'returned' });
    expect(await fixture.place(aReturn(deposit))).toBe('refused');
  });

  it.each<[string, (hold: Hold) => Sent]>([
    ['fails', (hold) => release(hold)],
    ['is given up', giveUp],
  ])('waits again when its payout %s, whatever is told again later', async (_how, end) => {
    const deposit = await anUnresolved();
    const first = aReturn(deposit);
    await fixture.place(first);
    await handle(end(first));
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
    expect(await stateOf(deposit)).toEqual(['open', '100']);
    const second = aReturn(deposit, 20n);
    expect(await fixture.place(second)).toBe('placed');
    await handle(end(first));
    expect(await stateOf(deposit)).toEqual(['returning', '100']);
    await handle(end(second));
    expect(await accept(deposit)).toMatchObject({ ok: true });
    await handle(end(first), end(second));
    expect(await stateOf(deposit)).toEqual(['accepted', '100']);
    expect(await balanceOf(deposit)).toEqual(['100', '0', '0']);
  });

  it('is less by the fee when the chain charged for a payout that it did not carry out', async () => {
    const deposit = await anUnresolved();
    const hold = aReturn(deposit, 10n);
    await fixture.place(hold);
    await handle(release(hold, true), release(hold, true));
    await handle(release(hold, true));
    expect(await balanceOf(deposit)).toEqual(['0', '0', '90']);
    expect(await stateOf(deposit)).toEqual(['open', '90']);
    await expect(placeHold(one.ports, aReturn(deposit, 10n))).rejects.toThrow('other contents');
    expect(await fixture.place(aReturn({ ...deposit, amount: '90' }, 10n))).toBe('placed');
    expect(await balanceOf(deposit)).toEqual(['0', '90', '0']);
  });

  it('that was accepted is refused, for ever', async () => {
    const deposit = await anUnresolved();
    await accept(deposit);
    const hold = aReturn(deposit);
    expect(await fixture.place(hold)).toBe('refused');
    expect(await fixture.place(hold)).toBe('refused');
    expect(await balanceOf(deposit)).toEqual(['100', '0', '0']);
  });

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

  it('asked for again before its failed payout is booked gets no answer, and is placed once it is', async () => {
    const deposit = await anUnresolved();
    const [first, again] = [aReturn(deposit), aReturn(deposit)];
    await fixture.place(first);
    await expect(placeHold(one.ports, again)).rejects.toThrow('on its way back');
    await handle(release(first));
    expect(await fixture.place(again)).toBe('placed');
    expect(await stateOf(deposit)).toEqual(['returning', '100']);
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
