import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { api } from '@quittance/testkit/api';
import { publishPrices } from './fixed-prices.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  type Hold,
  openLedger,
  release,
  reversed,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one: ledger, handle, accept } = openLedger();

const ask = (path: string, account: AccountId, headers: Record<string, string> = {}) =>
  api(ledger.port, 'GET', `/api/${path}`, { account, headers });
type PayoutSource = { type: 'payout'; id: number };
type Item = Record<string, unknown> & { id: string; net: string };
const list = async (account: AccountId, query = ''): Promise<Item[]> =>
  (await ask(`balance-transactions?${query}`, account)).body.data;

const USDC = { asset: 'USDC_ERC20' } as const;
const account = anAccount();
const paid = aDeposit(account, 10_000_000n, { ...USDC, invoice_id: 'inv_paid' });
const late = aDeposit(account, 7_000_000n, { ...USDC, disposition: 'unresolved', invoice_id: 'inv_late' });
const ether = aDeposit(account, 10n ** 18n, { invoice_id: 'inv_ether' });
const payouts: Hold[] = [];

beforeAll(async () => {
  // Booked before there is any rate.
  await handle(settled(paid));
  await publishPrices(ledger.ports, { USDC_ERC20: '0.9999' });
  await handle(settled(late), settled(ether));
  await accept(late);
  for (const amount of [1_000_000n, 2_000_000n, 3_000_000n]) {
    const hold = aHold(account, amount, { ...USDC, network_fee: '500000' });
    expect(await fixture.place(hold)).toBe('placed');
    payouts.push(hold);
  }
  const [mined, failed, kept] = payouts as [Hold, Hold, Hold];
  await handle(settle(mined));
  await handle(release(failed));
  await handle(release(kept, true));
  await handle(reversed(paid));
});

it('GET /api/balance-transactions shows each movement with its parts, the balance after it, and its source', async () => {
  const [mined, failed, kept] = payouts.map(({ payout_id }) => ({
    type: 'payout',
    id: JSON.parse(payout_id),
  })) as [PayoutSource, PayoutSource, PayoutSource];
  const invoice = { type: 'invoice', id: 'inv_paid' };
  const answer = await ask('balance-transactions?asset=USDC_ERC20', account);
  expect(answer.body.has_more).toBe(false);
  const asset = { id: 4, symbol: 'USDC_ERC20', name: 'USD Coin (ERC-20)', decimals: 6 };
  const row = (
    type: string,
    amount: string,
    fee: string,
    net: string,
    after: string,
    usd: string | null,
    source: { type: string; id: unknown },
  ) => ({
    id: expect.stringMatching(/^txn_[\w-]+$/),
    type,
    asset,
    amount,
    fee,
    net,
    balance_after: after,
    usd_rate: usd && '0.9999',
    usd_value: usd,
    currency: 'USD',
    currency_usd_rate: '1',
    value: usd,
    source,
    payout_id: source.type === 'payout' ? source.id : null,
    created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  });
  expect(answer.body.data).toStrictEqual([
    row('payment_reversal', '-10', '0', '-10', '5', '-9.99', invoice),
    row('payout_failed', '3', '0', '3', '15', '2.99', kept),
    row('payout_failed', '2', '-0.5', '2.5', '12', '2.49', failed),
    row('payout', '-3', '0.5', '-3.5', '9.5', '-3.49', kept),
    row('payout', '-2', '0.5', '-2.5', '13', '-2.49', failed),
    row('payout', '-1', '0.5', '-1.5', '15.5', '-1.49', mined),
    row('unresolved_accepted', '7', '0', '7', '17', '6.99', { type: 'deposit', id: late.deposit_id }),
    row('payment', '10', '0', '10', '10', null, invoice),
  ]);
});

it.each([
  ['type=payout', ['-3.5', '-2.5', '-1.5']],
  ['type=payout_failed', ['3', '2.5']],
  ['type=payment&asset=ETH', ['1']],
  ['source=inv_paid', ['-10', '10']],
  [`source=${late.deposit_id}`, ['7']],
  ['source=inv_unknown', []],
  ['created_to=2020-01-01', []],
  ['created_from=2020-01-01&type=payment', ['1', '10']],
])('the filter %s lists what it names, with the balances of the whole list', async (query, nets) => {
  const all = await list(account, 'limit=100');
  const found = await list(account, query);
  expect(found.map(({ net }) => net)).toEqual(nets);
  for (const item of found) expect(all).toContainEqual(item);
});

it('the pages of a list, onwards and back, are the list', async () => {
  const all = await list(account, 'limit=100');
  expect(all).toHaveLength(9);
  const pages: Item[][] = [];
  for (let after = ''; pages.length < 3; after = `&starting_after=${pages.at(-1)?.at(-1)?.id}`) {
    const { body } = await ask(`balance-transactions?limit=4${after}`, account);
    pages.push(body.data);
    expect(body.has_more).toBe(pages.length < 3);
  }
  expect(pages.flat()).toEqual(all);
  const oldest = await list(account, `limit=1&ending_before=${all.at(-1)?.id}`);
  expect(oldest).toEqual([all.at(-2)]);
  expect(await list(account, `ending_before=${all[2]?.id}`)).toEqual(all.slice(0, 2));
});

it.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['starting_after=txn_none', 'starting_after'],
  ['ending_before=txn_deposit-dep_1', 'ending_before'],
  ['source=nonsense', 'source'],
  ['type=withdrawal', 'type'],
  ['format=csv&limit=5', 'limit'],
  ['currency=XYZ', 'currency'],
])('GET /api/balance-transactions?%s is a 422 about it', async (query, field) => {
  const { status, body } = await ask(`balance-transactions?${query}`, account);
  expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
});

it('another account sees nothing of it, and its cursors are unknown to it', async () => {
  const other = anAccount();
  const [newest] = await list(account);
  expect(await list(other)).toEqual([]);
  expect(await list(other, 'source=inv_paid')).toEqual([]);
  expect((await ask(`balance-transactions?starting_after=${newest?.id}`, other)).status).toBe(422);
  expect((await ask('balance-transactions?format=csv', other)).text.split('\r\n')).toHaveLength(2);
});

it('the CSV of the list has all that match, also for a client that accepts CSV alone', async () => {
  const all = await list(account, 'limit=100');
  const { headers, text } = await ask('balance-transactions', account, { accept: 'text/csv' });
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, ...lines] = text.trimEnd().split('\r\n');
  expect(head).toBe(
    'id,created_at,type,asset,amount,fee,net,balance_after,usd_rate,usd_value,currency,currency_usd_rate,value,source_type,source_id,payout_id',
  );
  const lineOf = (item: Item) => {
    const { symbol } = item['asset'] as { symbol: string };
    const { type: of, id } = item['source'] as { type: string; id: string };
    const { amount, fee, net, balance_after, usd_rate, usd_value } = item;
    const movement = [item.id, item['created_at'], item['type'], symbol, amount, fee, net, balance_after];
    // What is null is an empty cell.
    return [...movement, usd_rate, usd_value, 'USD', '1', item['value'], of, id, item['payout_id']].join();
  };
  expect(lines).toEqual(all.map(lineOf));
  // What comes before and after the dates is not in the file, and changes none of its balances.
  const [from, to] = [String(all.at(-3)?.['created_at']), String(all[2]?.['created_at'])];
  const between = await ask(`balance-transactions?format=csv&created_from=${from}&created_to=${to}`, account);
  const within = all.filter((item) => String(item['created_at']) >= from && String(item['created_at']) <= to);
  expect(within.length).toBeGreaterThan(2);
  expect(between.text.trimEnd().split('\r\n').slice(1)).toEqual(within.map(lineOf));
  const filtered = await ask('balance-transactions?format=csv&type=payout_failed', account);
  expect(filtered.text.trimEnd().split('\r\n')).toHaveLength(3);
});

const month = new Date().toISOString().slice(0, 7);
const statement = `statements?month=${month}&asset=USDC_ERC20`;

it('GET /api/statements sums up a month by type, from its opening to its closing balance', async () => {
  const { body } = await ask(statement, account);
  expect(body).toMatchObject({ month, complete: false, opening_balance: '0', closing_balance: '5' });
  const sums = (count: number, amount: string, fee: string, net: string, value: string, without = 0) => ({
    ...{ count, amount, fee, net, value, without_value: without },
  });
  expect(body.entries).toEqual([
    { type: 'payment', ...sums(1, '10', '0', '10', '0', 1) },
    { type: 'payment_reversal', ...sums(1, '-10', '0', '-10', '-9.99') },
    { type: 'unresolved_accepted', ...sums(1, '7', '0', '7', '6.99') },
    { type: 'payout', ...sums(3, '-6', '1.5', '-7.5', '-7.47') },
    { type: 'payout_failed', ...sums(2, '5', '-0.5', '5.5', '5.48') },
  ]);
  expect(body.total).toEqual(sums(8, '6', '1', '5', '-4.99', 1));
  const past = await ask('statements?month=2020-02&asset=USDC_ERC20', account);
  expect(past.body).toMatchObject({
    from: '2020-02-01T00:00:00.000Z',
    to: '2020-03-01T00:00:00.000Z',
    complete: true,
    opening_balance: '0',
    entries: [],
    closing_balance: '0',
  });
});

it('a statement is also CSV, and a page without scripts that can be printed', async () => {
  const csv = await ask(`${statement}&format=csv`, account, { accept: 'application/json' });
  expect(csv.text.split('\r\n').slice(0, 4)).toEqual([
    'month,asset,entry,count,amount,fee,net,balance,currency,value,without_value',
    `${month},USDC_ERC20,opening_balance,,,,,0,,,`,
    `${month},USDC_ERC20,payment,1,10,0,10,,USD,0,1`,
    `${month},USDC_ERC20,payment_reversal,1,-10,0,-10,,USD,-9.99,0`,
  ]);
  const page = await ask(`${statement}&format=html`, account);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.text).toContain('<td>-7.5</td>');
  expect(page.text).toContain('@media print');
  expect(page.text).not.toMatch(/<script/i);
});

it.each([
  ['', ['month', 'asset']],
  ['month=2026-13&asset=BTC', ['month']],
  ['month=2999-01&asset=BTC', ['month']],
  ['month=2026-01&asset=EUR', ['asset']],
])('GET /api/statements?%s is a 422 about it', async (query, fields) => {
  const { status, body } = await ask(`statements?${query}`, account);
  expect([status, Object.keys(body.errors)]).toEqual([422, fields]);
});

describe('refunds of an invoice', () => {
  const shop = anAccount();
  const sale = aDeposit(shop, 100_000_000n, { ...USDC, invoice_id: 'inv_refunded' });
  const hold = (amount: bigint, invoice_id?: string) =>
    aHold(shop, amount, { ...USDC, network_fee: '500000', ...(invoice_id && { invoice_id }) });
  const [withdrawal, refund, failing] = [
    hold(30_000_000n),
    hold(20_000_000n, 'inv_refunded'),
    hold(10_000_000n, 'inv_refunded'),
  ];
  const idOf = ({ payout_id }: Hold) => JSON.parse(payout_id);
  const invoice = { type: 'invoice', id: 'inv_refunded' };

  beforeAll(async () => {
    await handle(settled(sale));
    for (const one of [withdrawal, refund, failing]) expect(await fixture.place(one)).toBe('placed');
    await handle(settle(withdrawal), settle(refund));
    await handle(release(failing));
  });

  it('are balance transactions of their own type, with the invoice as their source beside the payout', async () => {
    const shown = (await list(shop)).map(({ type, net, source, payout_id }) => [
      type,
      net,
      source,
      payout_id,
    ]);
    expect(shown).toEqual([
      ['refund_failed', '10.5', invoice, idOf(failing)],
      ['refund', '-10.5', invoice, idOf(failing)],
      ['refund', '-20.5', invoice, idOf(refund)],
      ['payout', '-30.5', { type: 'payout', id: idOf(withdrawal) }, idOf(withdrawal)],
      ['payment', '100', invoice, null],
    ]);
    const { text } = await ask('balance-transactions?format=csv&type=refund', shop);
    expect(text).toContain(`,invoice,inv_refunded,${idOf(refund)}\r\n`);
    expect(text).not.toContain(String(idOf(withdrawal)));
  });

  it.each([
    ['type=refund', ['-10.5', '-20.5']],
    ['type=refund_failed', ['10.5']],
    ['type=payout', ['-30.5']],
    ['type=payout_failed', []],
    ['source=inv_refunded', ['10.5', '-10.5', '-20.5', '100']],
    [`source=${idOf(refund)}`, ['-20.5']],
  ])('are found by the filter %s, or left out', async (query, nets) => {
    expect((await list(shop, query)).map(({ net }) => net)).toEqual(nets);
  });

  it('are a line of their own in a statement, whose lines lead from the opening to the closing balance', async () => {
    const { body } = await ask(statement, shop);
    expect(body.entries).toMatchObject([
      { type: 'payment', net: '100' },
      { type: 'payout', count: 1, net: '-30.5' },
      { type: 'refund', count: 2, amount: '-30', fee: '1', net: '-31' },
      { type: 'refund_failed', count: 1, net: '10.5' },
    ]);
    expect(body).toMatchObject({ opening_balance: '0', total: { net: '49' }, closing_balance: '49' });
    expect((await ask(`${statement}&format=csv`, shop)).text).toContain(',refund,2,-30,1,-31,');
    expect((await ask(`${statement}&format=html`, shop)).text).toContain('refund failed');
  });
});
