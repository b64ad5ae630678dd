import { beforeAll, expect, it } from '@jest/globals';
import {
  aDeposit,
  aHold,
  anAccount,
  askHttp,
  type Hold,
  openLedger,
  release,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one: ledger, handle } = openLedger();
const USDC = { asset: 'USDC_ERC20' } as const;
const shop = anAccount();
const ask = (path: string) => askHttp(ledger, `/api/${path}`, shop);
const list = async (query: string): Promise<Record<string, unknown>[]> =>
  (await ask(`balance-transactions?${query}`)).body.data;
const statement = `statements?month=${new Date().toISOString().slice(0, 7)}&asset=USDC_ERC20`;

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

it('the refund of an invoice is a balance transaction of its own type, with the invoice as its source beside the payout', async () => {
  const shown = (await list('')).map(({ type, net, source, payout_id }) => [type, net, source, payout_id]);
  expect(shown).toEqual([
    ['refund_failed', '10.5', invoice, idOf(failing)],
    ['refund', '-10.5', invoice, idOf(failing)],
    ['refund', '-20.5', invoice, idOf(refund)],
    ['payout', '-30.5', { type: 'payout', id: idOf(withdrawal) }, idOf(withdrawal)],
    ['payment', '100', invoice, null],
  ]);
  const { text } = await ask('balance-transactions?format=csv&type=refund');
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
])('the filter %s finds the refunds of an invoice, or leaves them out', async (query, nets) => {
  expect((await list(query)).map(({ net }) => net)).toEqual(nets);
});

it('refunds are a line of their own in a statement, whose lines lead from the opening to the closing balance', async () => {
  const { body } = await ask(statement);
  expect(body.entries).toMatchObject([
    { type: 'payment', net: '100' },
    { type: 'payout', count: 1, net: '-30.5' },
    { type: 'refund', count: 2, amount: '-30', fee: '1', net: '-31' },
    { type: 'refund_failed', count: 1, net: '10.5' },
  ]);
  expect(body).toMatchObject({ opening_balance: '0', total: { net: '49' }, closing_balance: '49' });
  expect((await ask(`${statement}&format=csv`)).text).toContain(',refund,2,-30,1,-31,');
  expect((await ask(`${statement}&format=html`)).text).toContain('refund failed');
});
