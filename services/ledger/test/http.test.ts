import { beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { type Lease, takeLease } from '@quittance/shared/lease';
import { rateFromSource } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import { refreshQuotes } from '../src/operations/refresh-quotes.ts';
import { fixedPrices } from './fixed-prices.ts';
import { aDeposit, aHold, anAccount, IDENTITY_SECRET, openLedger, settled } from './ledger-fixture.ts';

const { fixture, one: ledger } = openLedger();

type Method = 'GET' | 'HEAD' | 'POST';

async function ask(path: string, account?: AccountId, method: Method = 'GET') {
  const headers =
    account === undefined
      ? {}
      : { [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, new Date()) };
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(`http://127.0.0.1:${ledger.port}${path}`, {
    method,
    headers,
  });
  const text = await body.text();
  return { status: statusCode, headers: answered, text, body: text === '' ? undefined : JSON.parse(text) };
}

async function rates(prices: Record<string, string>) {
  const lease = (await takeLease(fixture.db, 'quotes', 'this test', 600_000)) as Lease;
  const readings = Object.entries(prices).map(([asset, price]) => ({
    source: 'test',
    asset: asset as 'ETH',
    rate: rateFromSource(price) ?? (0n as never),
    readAt: systemClock.now(),
  }));
  await refreshQuotes({ ...ledger.ports, prices: fixedPrices(readings) }, lease);
}

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
  beforeAll(() => rates({ ETH: '2500.5', USDC_ERC20: '0.9999', BTC: '60000' }));

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

  it('GET /api/balances has an entry for every active asset, also with nothing in it', async () => {
    const answer = await ask('/api/balances', anAccount());
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      data: [
        { asset: eth, balance: '0', usd_value: '0', held: '0' },
        { asset: usdc, balance: '0', usd_value: '0', held: '0' },
      ],
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

  it('another account sees nothing of it', async () => {
    const { body } = await ask('/api/balances', anAccount());
    expect(body.data.map(({ balance }: { balance: string }) => balance)).toEqual(['0', '0']);
  });

  it('HEAD answers like GET, without the body', async () => {
    const answer = await ask('/api/balances', anAccount(), 'HEAD');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-length']).not.toBe('0');
  });

  it.each(['/api/balances', '/api/assets'])('%s needs the gateway’s word', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 401, body: { message: 'Unauthenticated.' } });
    const forged = await request(`http://127.0.0.1:${ledger.port}${path}`, {
      headers: {
        [IDENTITY_HEADER]: signIdentity(
          'another secret, also long enough',
          { account: anAccount() },
          new Date(),
        ),
      },
    });
    expect(forged.statusCode).toBe(401);
    await forged.body.dump();
  });

  it('an unknown route is named', async () => {
    expect(await ask('/api/money', anAccount())).toMatchObject({
      status: 404,
      body: { message: 'The route api/money could not be found.' },
    });
  });
});
