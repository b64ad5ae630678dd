import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { api, foreignKeys, identityOf } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { publishPrices } from './fixed-prices.ts';
import { aDeposit, aHold, anAccount, aReturn, askHttp, openLedger, settled } from './ledger-fixture.ts';

const { fixture, one: ledger, anUnresolved } = openLedger();
const USDC = { asset: 'USDC_ERC20', tx_hash: null } as const;

const ask = askHttp.bind(undefined, ledger);

const eth = {
  id: 2,
  name: 'Ethereum',
  symbol: 'ETH',
  chain: 'ethereum',
  type: 'native',
  decimals: 18,
  usd_rate: '2500.5',
  network_fee: '0.0005',
  min_confirmations: 12,
};
const usdc = {
  id: 4,
  name: 'USD Coin (ERC-20)',
  symbol: 'USDC_ERC20',
  chain: 'ethereum',
  type: 'token',
  decimals: 6,
  usd_rate: '0.9999',
  network_fee: '1',
  min_confirmations: 12,
};

describe('before any rate is known', () => {
  it('the service is not ready, and says what it waits for', async () => {
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, waits_for: ['a first rate of ETH', 'a first rate of USDC_ERC20'] },
    });
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});

describe('with rates', () => {
  beforeAll(() => publishPrices(ledger.ports, { ETH: '2500.5', USDC_ERC20: '0.9999', BTC: '60000' }));

  it('the service is ready', async () => {
    await eventually(async () =>
      expect(await ask('/readyz')).toMatchObject({ status: 200, body: { ready: true, waits_for: [] } }),
    );
  });

  it('GET /api/assets lists the active assets, in full', async () => {
    const answer = await ask('/api/assets', anAccount());
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toStrictEqual({ data: [eth, usdc] });
  });

  it.each(['/api/assets', '/api/balances'])('%s takes no query parameters', async (path) => {
    expect(await ask(`${path}?asset=BTC`, anAccount())).toMatchObject({
      status: 422,
      body: { errors: { asset: ['The asset field is not known.'] } },
    });
  });

  it('GET /api/balances shows what can be spent, its worth rounded down, and what is held', async () => {
    const account = anAccount();
    await fixture.send([
      settled(aDeposit(account, 1_500_000_000_000_000_001n)),
      settled(aDeposit(account, 10_019_999n, { asset: 'USDC_ERC20' })),
      settled(aDeposit(account, 5n, { disposition: 'unresolved' })),
    ]);
    await eventually(async () => expect((await fixture.balance(account))[2]).toBe('5'));
    await fixture.place(aHold(account, 2_000_000n, { asset: 'USDC_ERC20', network_fee: '1000000' }));
    const { body } = await ask('/api/balances', account);
    expect(body).toStrictEqual({
      data: [
        { asset: eth, balance: '1.500000000000000001', usd_value: '3750.75', held: '0' },
        // 7.019999 × 0.9999 = 7.01929…
        { asset: usdc, balance: '7.019999', usd_value: '7.01', held: '3' },
      ],
    });
  });

  it('GET /api/balances has an entry for every active asset, also with nothing in it, whatever others have', async () => {
    const answer = await ask('/api/balances', anAccount());
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      data: [
        { asset: eth, balance: '0', usd_value: '0', held: '0' },
        { asset: usdc, balance: '0', usd_value: '0', held: '0' },
      ],
    });
  });

  it('HEAD answers like GET, without the body', async () => {
    const answer = await ask('/api/balances', anAccount(), 'HEAD');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-length']).not.toBe('0');
  });

  it.each(['/api/balances', '/api/assets'])('%s needs the gateway’s word', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 401, body: { message: 'Unauthenticated.' } });
    const forged = await api(ledger.port, 'GET', path, {
      headers: identityOf(anAccount(), { method: 'GET', path, privateKey: foreignKeys.privateKey }),
    });
    expect(forged.status).toBe(401);
  });

  it('an unknown route is named', async () => {
    expect(await ask('/api/money', anAccount())).toMatchObject({
      status: 404,
      body: { message: 'The route api/money could not be found.' },
    });
  });
});

describe('GET /api/unresolved', () => {
  async function idsOfList(query: string, account: AccountId): Promise<string[]> {
    const { data } = (await ask(`/api/unresolved?${query}`, account)).body;
    return (data as { id: string }[]).map(({ id }) => id);
  }

  it('a long list is counted no further than 10,000, and its next page linked beyond', async () => {
    const account = anAccount();
    await fixture.admin.rows(
      `insert into unresolved (deposit_id, account_id, asset, amount, state)
       select 'dep_long_' || n, $1, 'ETH', 1, 'reversed' from generate_series(1, 10005) as n`,
      [account],
    );
    const page = async (number: number) => (await ask(`/api/unresolved?page=${number}`, account)).body;
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
    const usdc = await anUnresolved(account, 2_500_000n, { ...USDC, reason: 'late' });
    await anUnresolved();
    await fixture.place(aReturn(usdc, 1_000_000n, { asset: 'USDC_ERC20', payout_id: '4711' }));
    const { status, body } = await ask('/api/unresolved?perPage=1', account);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: [
        {
          id: usdc.deposit_id,
          status: 'returning',
          reason: 'late',
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
    const idsOf = (query: string) => idsOfList(query, account);
    expect(await idsOf('page=2&perPage=1')).toEqual([first.deposit_id]);
    expect(await idsOf('page=9')).toEqual([]);
    expect(await idsOf('asset=ETH')).toEqual([first.deposit_id]);
    expect(await idsOf('status=returning')).toEqual([usdc.deposit_id]);
    expect(await idsOf('status=accepted')).toEqual([]);
    expect(await ask('/api/unresolved?status=lost&asset=DOGE&perPage=0', account)).toMatchObject({
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

  it('is filtered by invoice and transaction', async () => {
    const account = anAccount();
    const hash = `0x${'ab'.repeat(32)}`;
    const late = async (invoice_id: string, tx_hash: string, owner = account) =>
      (await anUnresolved(owner, 100n, { invoice_id, tx_hash })).deposit_id;
    const first = await late('inv_late', hash);
    const second = await late('inv_late', '5Kd');
    const other = await late('inv_other', hash);
    await late('inv_late', hash, anAccount());
    const idsOf = (query: string) => idsOfList(query, account);
    expect(await idsOf('invoice_id=inv_late')).toEqual([second, first]);
    expect(await idsOf(`tx_hash=0x${'AB'.repeat(32)}`)).toEqual([other, first]);
    expect(await idsOf(`tx_hash=${hash}&invoice_id=inv_late&status=open`)).toEqual([first]);
    expect(await idsOf('tx_hash=5Kd')).toEqual([second]);
    expect(await idsOf('tx_hash=5kd')).toEqual([]);
    expect(await idsOf('invoice_id=inv')).toEqual([]);
    const file = await ask(`/api/unresolved?format=csv&invoice_id=inv_late&tx_hash=${hash}`, account);
    const lines = file.text.trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[0])).toEqual([first]);
  });

  it('one is shown by itself, and all that the filters match are a CSV file', async () => {
    const account = anAccount();
    const ether = await anUnresolved(account);
    const usdc = await anUnresolved(account, 2_500_000n, { ...USDC, reason: 'wrong_asset' });
    const list = (await ask('/api/unresolved', account)).body.data;
    const path = `/api/unresolved/${usdc.deposit_id}`;
    expect(await ask(path, account)).toMatchObject({ status: 200, body: list[0] });
    expect(list).toMatchObject([
      { id: usdc.deposit_id, reason: 'wrong_asset' },
      { id: ether.deposit_id, reason: null },
    ]);
    expect((await ask(`${path}?page=1`, account)).status).toBe(422);
    expect((await ask(path, anAccount())).status).toBe(403);
    expect((await ask('/api/unresolved/dep_1', account)).status).toBe(404);

    const file = await ask('/api/unresolved?format=csv', account);
    expect(file.headers['content-disposition']).toBe('attachment; filename="unresolved.csv"');
    const [head, ...lines] = file.text.trimEnd().split('\r\n');
    expect(head).toBe(
      'id,created_at,status,reason,asset,amount,returning_amount,returned_amount,invoice_id,tx_hash,payout_id,resolved_at',
    );
    expect(lines).toEqual([
      `${usdc.deposit_id},${list[0].created_at},open,wrong_asset,USDC_ERC20,2.5,0,0,inv_1,,,`,
      `${ether.deposit_id},${list[1].created_at},open,,ETH,0.0000000000000001,0,0,inv_1,0xpaid,,`,
    ]);
    const one = await ask('/api/unresolved?format=csv&asset=ETH&status=open', account);
    expect(one.text.trimEnd().split('\r\n').slice(1)).toEqual(lines.slice(1));
    expect(await ask('/api/unresolved?format=csv&page=2', account)).toMatchObject({ status: 422 });
  });

  it('one is accepted, once; 404 before 403 before 422 and 409', async () => {
    const deposit = await anUnresolved();
    const account = deposit.account_id as AccountId;
    const path = `/api/unresolved/${deposit.deposit_id}/accept`;
    expect(await ask(`${path}?now=1`, account, 'POST')).toMatchObject({ status: 422 });
    expect(await ask(path, account, 'POST', { amount: 5 })).toMatchObject({
      status: 422,
      body: { errors: { amount: ['The amount field is not known.'] } },
    });
    expect(await ask(`${path}?now=1`, anAccount(), 'POST')).toMatchObject({
      status: 403,
      text: '{"message":"This action is unauthorized."}',
    });
    expect(await ask(path, account, 'POST')).toMatchObject({
      status: 200,
      body: {
        message: 'The funds were added to the balance.',
        data: { id: deposit.deposit_id, status: 'accepted', resolved_at: expect.any(String) },
      },
    });
    expect(await ask(path, account, 'POST')).toMatchObject({
      status: 409,
      body: { message: 'These funds were already accepted.' },
    });
    const foreign = await ask(path, anAccount(), 'POST');
    expect(foreign.status).toBe(403);
    for (const id of ['dep_1', 'dep_%00', aDeposit(account, 1n).deposit_id]) {
      expect(await ask(`/api/unresolved/${id}/accept`, account, 'POST')).toMatchObject({
        status: 404,
        body: { message: 'No query results for model [Deposit].' },
      });
    }
  });
});
