import { expect } from '@jest/globals';
import { unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { fixture, LATE_MS, sale } from './money-scenarios.ts';

const LINES = 200;
const WRONG_LINE = 120;
const AMOUNT = '0.001';

/** 200 payouts of BTC in one request, of which one is wrong. Then a rule pays out what is left of the balance. */
export async function batchAndAutomaticPayout(quittance: Quittance): Promise<void> {
  const at = await fixture(quittance, 'BTC');
  const { shop, customer } = at;
  await sale(at, 'BTC', 100_000);
  const to = await customer.newAddress();
  const payouts = Array.from({ length: LINES }, (_, i) => ({
    asset: 'BTC',
    amount: AMOUNT,
    address: i + 1 === WRONG_LINE ? `${to}x` : to,
    external_id: `line-${i + 1}`,
  }));
  const { status, body } = await shop.post('/api/payout-batches', { mode: 'each', payouts });
  const { totals } = body.data;
  const { unavailable } = totals;
  const created = LINES - 1 - unavailable;
  expect([status, totals]).toEqual([
    201,
    { lines: LINES, created, refused: 0, invalid: 1, unavailable, undecided: 0 },
  ]);
  expect(body.data.lines[WRONG_LINE - 1]).toMatchObject({ line: WRONG_LINE, status: 'invalid' });
  await sendAgain(shop, payouts, body.data);
  const total = async (filter: string) =>
    (await shop.get(`/api/payouts?${filter}&perPage=1`)).body.meta.total;
  expect(await total(`batch_id=${body.data.id}`)).toBe(created);
  await eventually(async () => expect(await total('status=mined')).toBe(LINES - 1), LATE_MS, 1_000);
  expect(await customer.balance('BTC', to)).toBe(BigInt(LINES - 1) * unitsOf('BTC', AMOUNT));

  const rest = await customer.newAddress();
  const rule = { address: rest, schedule: 'threshold', threshold: '0.01' };
  expect((await shop.put('/api/automatic-payouts/BTC', rule)).status).toBe(200);
  const id = await eventually(async () => {
    const [{ last_payout_id: payout }] = (await shop.get('/api/automatic-payouts')).body.data;
    expect(payout).toEqual(expect.any(Number));
    return payout as number;
  }, LATE_MS);
  await at.mined(id);
  const { body: paid } = await shop.get(`/api/payouts/${id}`);
  expect(paid).toMatchObject({ automatic: true, to_address: rest });
  await at.arrived(rest, unitsOf('BTC', paid.amount));
  await at.has('0');
  await expectSameInFiles(quittance.url, shop.token);
}

type Line = { line: number; status: string };

/** As the documentation tells a shop to: what the ledger was too busy to decide goes into another batch. */
async function sendAgain(
  shop: Merchant,
  payouts: readonly object[],
  { lines }: { lines: readonly Line[] },
): Promise<void> {
  const left = lines.flatMap(({ line, status }) =>
    status === 'unavailable' ? [payouts[line - 1] ?? {}] : [],
  );
  if (left.length === 0) return;
  const body = await eventually(
    async () => {
      const again = await shop.post('/api/payout-batches', { mode: 'each', payouts: left });
      expect(again.status).toBe(201);
      return again.body;
    },
    LATE_MS,
    1_000,
  );
  await sendAgain(shop, left, body.data);
}

/** What a bookkeeper adds up: the files of invoices and payouts come to the same as the statement of the month. */
async function expectSameInFiles(url: string, token: string): Promise<void> {
  const get = async (path: string) => {
    const answer = await fetch(`${url}/api/${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return await answer.text();
  };
  const sumOf = async (path: string, column: string) => {
    const [head = '', ...lines] = (await get(path)).trimEnd().split('\r\n');
    const at = head.split(',').indexOf(column);
    return lines.reduce((sum, line) => sum + unitsOf('BTC', line.split(',')[at] ?? ''), 0n);
  };
  const credited = await sumOf('invoices?format=csv', 'credited_amount');
  const paid = await sumOf('payouts?format=csv', 'amount_paid');
  const fees = await sumOf('payouts?format=csv', 'fee_paid');
  const month = new Date().toISOString().slice(0, 7);
  const statement = JSON.parse(await get(`statements?month=${month}&asset=BTC`));
  type Entry = { type: string } & Record<'amount' | 'fee' | 'net', string>;
  const booked = (types: readonly string[], what: 'amount' | 'fee' | 'net') =>
    (statement.entries as Entry[])
      .filter(({ type }) => types.includes(type))
      .reduce((sum, entry) => sum + unitsOf('BTC', entry[what]), 0n);
  // What was held of a line that the ledger was too busy to decide has come back.
  const payouts = ['payout', 'payout_voided'];
  expect([credited, paid, fees]).toEqual([
    booked(['payment'], 'net'),
    -booked(payouts, 'amount'),
    booked(payouts, 'fee'),
  ]);
  expect(credited).toBe(paid + fees);
  expect(statement).toMatchObject({ opening_balance: '0', closing_balance: '0' });
}
