import { expect } from '@jest/globals';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits } from '@quittance/shared/money';
import { type Customer, unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';

/** Every way that money comes and goes, for one asset and a merchant of its own. */

export type Asset = 'BTC' | 'ETH' | 'USDC_ERC20' | 'SOL' | 'USDC_SOL';
export const matrix: readonly Asset[] = ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'];
/** More than the hot wallet has at first: it must be swept, or gathered from several coins. */
const large: Record<Asset, number> = {
  BTC: 600_000,
  ETH: 60_000,
  USDC_ERC20: 600,
  SOL: 30_000,
  USDC_SOL: 600,
};

const ASK_EVERY_MS = 500;
const STEP_MS = 60_000;
export const LATE_MS = 120_000;
/** Longer than the clocks of the chains and of the database can be apart. */
const LAST_SECONDS = 3;

const customerOf = (quittance: Quittance, asset: AssetSymbol): Customer => {
  const { chain } = assets[asset];
  if (chain === 'bitcoin') return quittance.bitcoin;
  return chain === 'solana' ? quittance.solana : quittance.ethereum;
};

const text = (asset: Asset, amount: bigint): string => formatUnits(amount as never, assets[asset].decimals);

type Invoice = { id: string; amount: string; address: { address: string } };

/** A merchant, an asset, and what can be done and seen. */
export async function fixture(quittance: Quittance, asset: Asset) {
  const shop: Merchant = await quittance.merchant();
  const customer = customerOf(quittance, asset);

  async function invoice(dollars: number, more: object = {}): Promise<Invoice> {
    const { status, body } = await shop.post('/api/invoices', { asset, amount: dollars, ...more });
    expect([status, body.errors]).toEqual([201, undefined]);
    return body.data;
  }
  const pay = ({ address }: Invoice, amount: string) => customer.pay(asset, address.address, amount);
  const becomes = (id: string, wanted: object, withinMs = STEP_MS) =>
    eventually(
      async () => expect((await shop.get(`/api/invoices/${id}`)).body).toMatchObject(wanted),
      withinMs,
      ASK_EVERY_MS,
    );
  /** As if most of the invoice's time were over. A whole minute passes in shop/expiry.ts and in examples/shop. */
  const expiresSoon = ({ id }: Invoice) =>
    quittance.db.rows(
      "update invoices.invoices set expires_at = now() + $2 * interval '1 second' where id = $1",
      [id, LAST_SECONDS],
    );
  async function balance(): Promise<{ balance: string; held: string }> {
    const { body } = await shop.get('/api/balances');
    return body.data.find((entry: { asset: { symbol: string } }) => entry.asset.symbol === asset);
  }
  const has = (balanceText: string) =>
    eventually(
      async () => expect(await balance()).toMatchObject({ balance: balanceText, held: '0' }),
      STEP_MS,
      ASK_EVERY_MS,
    );
  const status = async (id: number): Promise<string> => (await shop.get(`/api/payouts/${id}`)).body.status;
  /** What a payout costs beside its amount, as it was locked into it. */
  async function feeOf(id: number): Promise<bigint> {
    const sql = 'select network_fee::text as fee from payouts.payouts where id = $1';
    return BigInt((await quittance.db.one<{ fee: string }>(sql, [id])).fee);
  }
  async function payout(amount: bigint, given?: string): Promise<{ id: number; to: string }> {
    const to = given ?? (await customer.newAddress());
    const order = { asset, amount: text(asset, amount), address: to };
    const { status, body } = await shop.post('/api/payouts', order);
    expect([status, body.message]).toEqual([201, expect.any(String)]);
    return { id: body.data.id, to };
  }
  const mined = (id: number) =>
    eventually(async () => expect(await status(id)).toBe('mined'), STEP_MS, ASK_EVERY_MS);
  async function arrived(to: string, amount: bigint): Promise<void> {
    expect(await customer.balance(asset, to)).toBe(amount);
    expect(await customer.transactions(to)).toHaveLength(1);
  }
  async function events(id: string): Promise<string[]> {
    const { body } = await shop.get('/api/events?limit=500');
    return body.data
      .filter((event: { data: { id: string | number } }) => event.data.id === id)
      .map((event: { event: string }) => event.event);
  }
  /** Events are published a moment after the money has moved. */
  const tells = (id: string, history: unknown) =>
    eventually(async () => expect(await events(id)).toEqual(history), STEP_MS, ASK_EVERY_MS);
  /** The one deposit that waits for a decision. */
  const unresolved = () =>
    eventually(
      async () => {
        const { body } = await shop.get('/api/unresolved?status=open');
        expect(body.data).toHaveLength(1);
        return body.data[0] as { id: string; amount: string };
      },
      LATE_MS,
      ASK_EVERY_MS,
    );
  return {
    shop,
    customer,
    invoice,
    pay,
    becomes,
    expiresSoon,
    balance,
    has,
    payout,
    status,
    feeOf,
    mined,
    arrived,
    tells,
    unresolved,
  };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

/** Sold for so many dollars, and paid in full. @returns what came in. */
export async function sale(
  { invoice, pay, becomes }: Fixture,
  asset: Asset,
  dollars: number,
): Promise<bigint> {
  const made = await invoice(dollars);
  await pay(made, made.amount);
  await becomes(made.id, { status: 'paid', paid_amount: made.amount });
  return unitsOf(asset, made.amount);
}

/** An invoice whose time is over, and what it asked for. */
async function expired({ invoice, expiresSoon, becomes }: Fixture): Promise<Invoice> {
  const made = await invoice(20, { expires_in: 1 });
  await expiresSoon(made);
  await becomes(made.id, { status: 'expired' }, LATE_MS);
  return made;
}

/** Sends an unresolved deposit back, less the fee. */
async function returned(at: Fixture, amount: bigint): Promise<void> {
  const { id } = await at.unresolved();
  const to = await at.customer.newAddress();
  const { status, body } = await at.shop.post(`/api/unresolved/${id}/return`, { address: to });
  expect([status, body.message]).toEqual([201, expect.any(String)]);
  await at.mined(body.data.id);
  await at.arrived(to, amount - (await at.feeOf(body.data.id)));
  await eventually(async () =>
    expect((await at.shop.get('/api/unresolved')).body.data).toEqual([
      expect.objectContaining({ id, status: 'returned' }),
    ]),
  );
  const again = await at.shop.post(`/api/unresolved/${id}/return`, { address: to });
  expect(again.status).toBe(409);
  await at.has('0');
}

export const scenarios: Record<string, (at: Fixture, asset: Asset) => Promise<void>> = {
  async 'paid in full'(at) {
    const made = await at.invoice(25);
    const hash = await at.pay(made, made.amount);
    await at.becomes(made.id, {
      status: 'paid',
      pending_amount: '0',
      paid_amount: made.amount,
      payments: [{ tx_hash: hash, amount: made.amount, status: 'confirmed' }],
    });
    await at.has(made.amount);
    await at.tells(made.id, ['invoice.created', 'invoice.confirmed', 'invoice.paid']);
  },

  async 'paid in two parts'(at, asset) {
    const made = await at.invoice(40);
    const part = unitsOf(asset, made.amount) / 3n;
    await at.pay(made, text(asset, part));
    await at.becomes(made.id, { status: 'partially_paid' });
    await at.pay(made, text(asset, unitsOf(asset, made.amount) - part));
    await at.becomes(made.id, { status: 'paid', paid_amount: made.amount });
    await at.has(made.amount);
    await at.tells(made.id, [
      'invoice.created',
      'invoice.partially_paid',
      'invoice.confirmed',
      'invoice.paid',
    ]);
  },

  async 'paid too much'(at, asset) {
    const made = await at.invoice(10);
    const more = text(asset, unitsOf(asset, made.amount) * 2n);
    await at.pay(made, more);
    await at.becomes(made.id, { status: 'paid', paid_amount: more });
    await at.has(more);
    await at.tells(made.id, expect.arrayContaining(['invoice.overpaid']));
  },

  async 'paid too little, and what came is sent back'(at, asset) {
    const made = await at.invoice(40, { expires_in: 1 });
    const half = unitsOf(asset, made.amount) / 2n;
    await at.pay(made, text(asset, half));
    await at.becomes(made.id, { status: 'partially_paid', paid_amount: text(asset, half) });
    await at.expiresSoon(made);
    await returned(at, half);
    await at.tells(made.id, expect.arrayContaining(['invoice.underpaid']));
  },

  async 'paid too late, accepted, and refunded in part'(at, asset) {
    const made = await expired(at);
    await at.pay(made, made.amount);
    const { id } = await at.unresolved();
    const { status, body } = await at.shop.post(`/api/unresolved/${id}/accept`, {});
    expect([status, body.data]).toEqual([200, expect.objectContaining({ id, status: 'accepted' })]);
    await at.has(made.amount);
    await at.becomes(made.id, { status: 'expired' });
    expect((await at.shop.post(`/api/unresolved/${id}/accept`, {})).status).toBe(409);
    const to = await at.customer.newAddress();
    const refund = await at.shop.post(`/api/invoices/${made.id}/refunds`, { amount: 10, address: to });
    expect([refund.status, refund.body.message]).toEqual([201, 'Refund created successfully.']);
    const { payout_id, amount } = refund.body.data;
    await at.mined(payout_id);
    await at.arrived(to, unitsOf(asset, amount));
    const paid = unitsOf(asset, amount) + (await at.feeOf(payout_id));
    await at.has(text(asset, unitsOf(asset, made.amount) - paid));
    await at.tells(made.id, expect.arrayContaining(['invoice.late_payment']));
  },

  async 'paid too late, and sent back'(at, asset) {
    const made = await expired(at);
    await at.pay(made, made.amount);
    await returned(at, unitsOf(asset, made.amount));
  },

  async 'a payout leaves exactly its amount and its fee'(at, asset) {
    const came = await sale(at, asset, 100);
    const amount = came / 2n;
    const { id, to } = await at.payout(amount);
    await at.mined(id);
    await at.arrived(to, amount);
    await at.has(text(asset, came - amount - (await at.feeOf(id))));
  },

  async 'a payout beyond what the hot wallet has'(at, asset) {
    const parts = await Promise.all([1, 2, 3].map(() => sale(at, asset, large[asset] / 3)));
    const came = parts.reduce((sum, part) => sum + part, 0n);
    const amount = (came * 9n) / 10n;
    const { id, to } = await at.payout(amount);
    await at.mined(id);
    await at.arrived(to, amount);
  },
};
