import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '@quittance/shared/commands';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import fc from 'fast-check';
import { request } from 'undici';
import { acceptPosting } from '../src/domain/posting.ts';
import { acceptDeposit } from '../src/operations/accept-unresolved.ts';
import { placeHold } from '../src/operations/place-hold.ts';
import { catchUpReversals } from '../src/operations/reverse-deposits.ts';
import type { LedgerService } from '../src/service.ts';
import { decideRefunds, findSuspense } from '../src/store/suspense.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  IDENTITY_SECRET,
  type LedgerFixture,
  ledgerFixture,
  logger,
  reversalOf,
  type Sent,
} from './ledger-fixture.ts';

let fixture: LedgerFixture;
let one: LedgerService;
let other: LedgerService;
beforeAll(async () => {
  fixture = await ledgerFixture();
  [one, other] = await Promise.all([fixture.start(), fixture.start()]);
});
afterAll(() => fixture.stop());
afterEach(async () => expect(await fixture.discrepancies()).toEqual([]));

const handle = (...events: Sent[]) => fixture.handle(...events);
type LedgerDeposit = ReturnType<typeof aDeposit>;
const settled = (payload: LedgerDeposit): Sent => ({ kind: 'deposit.settled', payload });
const reversed = (deposit: LedgerDeposit): Sent => ({
  kind: 'deposit.reversed',
  payload: reversalOf(deposit),
});
type Hold = RequestOf<'hold.place'>;
const outcomeOf = ({ deposit_id: _, ...hold }: Hold) => ({ ...hold, tx_hash: '0xab' });
const settle = (hold: Hold): Sent => ({ kind: 'hold.settle', payload: outcomeOf(hold) });
const release = (hold: Hold, feeKept = false): Sent => ({
  kind: 'hold.release',
  payload: { ...outcomeOf(hold), fee_kept: feeKept },
});
const giveUp = ({ payout_id, account_id, asset }: Hold): Sent => ({
  kind: 'hold.void',
  payload: { payout_id, account_id, asset },
});

/** A payout that pays all of a deposit back, less the fee. */
const aReturn = (deposit: LedgerDeposit, fee = 10n, other: Partial<Hold> = {}): Hold =>
  aHold(deposit.account_id as AccountId, BigInt(deposit.amount) - fee, {
    network_fee: fee.toString(),
    deposit_id: deposit.deposit_id,
    ...other,
  });

async function anUnresolved(account = anAccount(), amount = 100n): Promise<LedgerDeposit> {
  const deposit = aDeposit(account, amount, { disposition: 'unresolved', tx_hash: '0xpaid' });
  await handle(settled(deposit));
  return deposit;
}

const accept = (deposit: LedgerDeposit, account = deposit.account_id as AccountId, { ports } = one) =>
  acceptDeposit(ports, account, deposit.deposit_id as DepositId);
const stateOf = async (deposit: LedgerDeposit) => {
  const item = await findSuspense(fixture.db, deposit.deposit_id as DepositId);
  return item && [item.state, item.amount.toString()];
};
const balanceOf = (deposit: LedgerDeposit) => fixture.balance(deposit.account_id as AccountId);

async function platform(account: string): Promise<Record<string, string>> {
  const rows = await fixture.admin.rows<{ bucket: string; amount: string }>(
    `select e.bucket, sum(e.amount) as amount from entries e join transfers t on t.seq = e.transfer_seq
     where t.account_id = $1 and e.account_id is null group by e.bucket having sum(e.amount) <> 0`,
    [account],
  );
  return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]));
}

describe('unresolved money that is accepted', () => {
  it('can be spent, once, by the entries that the posting says', async () => {
    const deposit = await anUnresolved();
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
    expect(await accept(deposit)).toMatchObject({ ok: true, value: { state: 'accepted' } });
    expect(await balanceOf(deposit)).toEqual(['100', '0', '0']);
    expect(await accept(deposit)).toEqual({ ok: false, refusal: 'accepted' });
    const posting = acceptPosting({
      id: deposit.deposit_id as DepositId,
      account: deposit.account_id as AccountId,
      asset: 'ETH',
      amount: units(100n),
    });
    const rows = await fixture.admin.rows(
      `select t.kind, t.detail, json_agg(json_build_object('bucket', e.bucket, 'amount', e.amount::text) order by e.seq) as entries
       from transfers t join entries e on e.transfer_seq = t.seq where t.op = $1 group by t.seq`,
      [posting.op],
    );
    expect(rows).toEqual([
      {
        kind: posting.kind,
        detail: posting.detail,
        entries: posting.entries.map(({ bucket, amount }) => ({ bucket, amount: amount.toString() })),
      },
    ]);
  });

  it('by many at once, through two replicas, is accepted by one of them', async () => {
    const account = anAccount();
    const deposits = await Promise.all(Array.from({ length: 5 }, () => anUnresolved(account)));
    const answers = await Promise.all(
      deposits.flatMap((deposit) =>
        Array.from({ length: 12 }, (_, i) => accept(deposit, account, i % 2 === 0 ? one : other)),
      ),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(5);
    expect(await fixture.balance(account)).toEqual(['500', '0', '0']);
  });

  it('of another account, or that nobody knows, is refused', async () => {
    const deposit = await anUnresolved();
    expect(await accept(deposit, anAccount())).toEqual({ ok: false, refusal: 'forbidden' });
    expect(await accept(aDeposit(anAccount(), 1n))).toEqual({ ok: false, refusal: 'not_found' });
    const credited = aDeposit(anAccount(), 5n);
    await handle(settled(credited));
    expect(await accept(credited)).toEqual({ ok: false, refusal: 'not_found' });
    expect(await balanceOf(deposit)).toEqual(['0', '0', '100']);
  });
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
    expect((await fixture.bus.ask('hold.place', aReturn(deposit, 10n))).known).toBe(false);
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
    expect((await fixture.bus.ask('hold.place', hold)).known).toBe(false);
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
    expect((await fixture.bus.ask('hold.place', again)).known).toBe(false);
    await handle(release(first));
    expect(await fixture.place(again)).toBe('placed');
    expect(await stateOf(deposit)).toEqual(['returning', '100']);
  });

  it('given up while it is asked for: held and freed, or never held', async () => {
    const account = anAccount();
    const deposits = await Promise.all(Array.from({ length: 40 }, () => anUnresolved(account)));
    const holds = deposits.map((deposit) => aReturn(deposit));
    await Promise.all([
      ...holds.map((hold) => fixture.place(hold)),
      ...holds.map((hold) => handle(giveUp(hold))),
    ]);
    for (const deposit of deposits) expect(await stateOf(deposit)).toEqual(['open', '100']);
    expect(await fixture.balance(account)).toEqual(['0', '0', '4000']);
  });
});

describe('an unresolved deposit that the chain takes back', () => {
  it('takes nothing of another deposit that waits', async () => {
    const account = anAccount();
    const [returning, waiting] = [await anUnresolved(account), await anUnresolved(account)];
    await fixture.place(aReturn(returning));
    await handle(reversed(returning));
    expect(await fixture.balance(account)).toEqual(['0', '100', '100']);
    expect(await stateOf(returning)).toEqual(['reversed', '100']);
    expect(await stateOf(waiting)).toEqual(['open', '100']);
    expect((await platform(account))['loss']).toBe('-100');
  });

  it('after it was accepted is taken from the balance, as far as that goes', async () => {
    const deposit = await anUnresolved();
    await accept(deposit);
    await fixture.place(aHold(deposit.account_id as AccountId, 70n));
    await handle(reversed(deposit));
    expect(await balanceOf(deposit)).toEqual(['0', '70', '0']);
    expect((await platform(deposit.account_id))['loss']).toBe('-70');
    expect(await accept(deposit)).toEqual({ ok: false, refusal: 'reversed' });
  });

  it('while it goes back, and the payout fails: nobody gets it and nothing is lost', async () => {
    const deposit = await anUnresolved();
    const hold = aReturn(deposit);
    await fixture.place(hold);
    await handle(reversed(deposit));
    await handle(release(hold));
    await handle(release(hold));
    expect(await balanceOf(deposit)).toEqual(['0', '0', '0']);
    expect(await platform(deposit.account_id)).toEqual({});
    expect(await stateOf(deposit)).toEqual(['reversed', '100']);
  });

  it('can be neither accepted nor paid back', async () => {
    const deposit = await anUnresolved();
    await handle(reversed(deposit));
    expect(await accept(deposit)).toEqual({ ok: false, refusal: 'reversed' });
    expect(await fixture.place(aReturn(deposit))).toBe('refused');
    expect(await balanceOf(deposit)).toEqual(['0', '0', '0']);
  });
});

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
  await fc.assert(
    fc.asyncProperty(aHistory, async (steps) => {
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
    }),
    { numRuns: 150 },
  );
});

describe('over HTTP', () => {
  async function ask(method: 'GET' | 'POST', path: string, account: AccountId) {
    const headers = { [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, new Date()) };
    const answer = await request(`http://127.0.0.1:${one.port}${path}`, { method, headers });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  }

  it('a long list is counted no further than 10,000, and its next page linked beyond', async () => {
    const account = anAccount();
    await fixture.admin.rows(
      `insert into unresolved (deposit_id, account_id, asset, amount, state)
       select 'dep_long_' || n, $1, 'ETH', 1, 'reversed' from generate_series(1, 10005) as n`,
      [account],
    );
    const page = async (number: number) => (await ask('GET', `/api/unresolved?page=${number}`, account)).body;
    expect(await page(1)).toMatchObject({ meta: { total: 10_000, last_page: 1_000 } });
    expect(await page(1_000)).toMatchObject({
      meta: { total: 10_001 },
      links: { next: 'http://localhost:4000/api/unresolved?page=1001' },
    });
    expect(await page(1_001)).toMatchObject({ meta: { to: 10_005, total: 10_005 }, links: { next: null } });
  });

  it('the account’s own are listed, newest first, by asset and status', async () => {
    const account = anAccount();
    const first = await anUnresolved(account);
    const usdc = aDeposit(account, 2_500_000n, { disposition: 'unresolved', asset: 'USDC_ERC20' });
    await handle(settled(usdc));
    await anUnresolved();
    await fixture.place(aReturn(usdc, 1_000_000n, { asset: 'USDC_ERC20', payout_id: '4711' }));
    const { status, body } = await ask('GET', '/api/unresolved?perPage=1', account);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: [
        {
          id: usdc.deposit_id,
          status: 'returning',
          amount: '2.5',
          asset: { id: 4, symbol: 'USDC_ERC20', name: 'USD Coin (ERC-20)', decimals: 6 },
          invoice_id: 'inv_1',
          tx_hash: null,
          payout_id: 4711,
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
          resolved_at: null,
        },
      ],
      meta: { total: 2, last_page: 2, path: 'http://localhost:4000/api/unresolved' },
    });
    const idsOf = async (query: string) => {
      const { data } = (await ask('GET', `/api/unresolved?${query}`, account)).body;
      return (data as { id: string }[]).map(({ id }) => id);
    };
    expect(await idsOf('page=2&perPage=1')).toEqual([first.deposit_id]);
    expect(await idsOf('page=9')).toEqual([]);
    expect(await idsOf('asset=ETH')).toEqual([first.deposit_id]);
    expect(await idsOf('status=returning')).toEqual([usdc.deposit_id]);
    expect(await idsOf('status=accepted')).toEqual([]);
    expect(await ask('GET', '/api/unresolved?status=lost&asset=DOGE&perPage=0', account)).toMatchObject({
      status: 422,
      body: {
        errors: {
          status: ['The selected status is invalid.'],
          asset: ['The selected asset is invalid.'],
          perPage: ['The per page must be at least 1.'],
        },
      },
    });
  });

  it('one is accepted, once; 404 before 403 before 409', async () => {
    const deposit = await anUnresolved();
    const account = deposit.account_id as AccountId;
    const path = `/api/unresolved/${deposit.deposit_id}/accept`;
    expect(await ask('POST', path, anAccount())).toEqual({
      status: 403,
      body: { message: 'This action is unauthorized.' },
    });
    expect(await ask('POST', path, account)).toMatchObject({
      status: 200,
      body: {
        message: 'The funds were added to the balance.',
        data: { id: deposit.deposit_id, status: 'accepted', resolved_at: expect.any(String) },
      },
    });
    expect(await ask('POST', path, account)).toEqual({
      status: 409,
      body: { message: 'These funds were already accepted.' },
    });
    const foreign = await ask('POST', path, anAccount());
    expect(foreign.status).toBe(403);
    for (const id of ['dep_1', 'dep_%00', aDeposit(account, 1n).deposit_id]) {
      expect(await ask('POST', `/api/unresolved/${id}/accept`, account)).toEqual({
        status: 404,
        body: { message: 'No query results for model [Deposit].' },
      });
    }
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
