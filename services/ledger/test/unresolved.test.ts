import { describe, expect, it } from '@jest/globals';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import { acceptPosting } from '../src/domain/posting.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  IDENTITY_SECRET,
  openLedger,
  release,
  reversed,
  type Sent,
  settled,
} from './ledger-fixture.ts';

const { fixture, one, other, handle, anUnresolved, accept, stateOf, balanceOf, platform } = openLedger({
  replicas: 2,
});

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
      body: expect.objectContaining({ message: 'These funds were already accepted.' }),
    });
    const foreign = await ask('POST', path, anAccount());
    expect(foreign.status).toBe(403);
    for (const id of ['dep_1', 'dep_%00', aDeposit(account, 1n).deposit_id]) {
      expect(await ask('POST', `/api/unresolved/${id}/accept`, account)).toEqual({
        status: 404,
        body: expect.objectContaining({ message: 'No query results for model [Deposit].' }),
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
