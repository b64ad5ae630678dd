import { expect, test } from '@jest/globals';
import type { Raw, rawHttp } from '../raw-http.ts';
import { CONFIRMATIONS, merchantWith, type OnStack, whileMining } from './on-stack.ts';

const PAYEE = `0x${'ab'.repeat(20)}`;
const text = expect.any(String);
const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/);

/** Of an answer what a case compares in full. */
export const shownOf = ({ status, body }: Raw): Pick<Raw, 'status' | 'body'> => ({ status, body });

/*
 * Each body is compared in full. The fields of the contract come first, and then those that stand beside them: a field that
 * is not named here makes its case fail.
 */

/** An error whose body the contract does not show as the whole. */
export const errorBody = (message: string, shown: object = {}): object => ({
  ...{ message, ...shown },
  ...{ code: text, hint: text, request_id: text, doc_url: text },
});

const reducedAsset = { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 };
const asset = {
  ...reducedAsset,
  chain: 'ethereum',
  type: 'native',
  usd_rate: '2500',
  network_fee: '0.0005',
  min_confirmations: CONFIRMATIONS,
};

/** A payout in a list, and in the events of webhooks. */
export const payoutBody = (shown: { id: number; amount: string; to_address: unknown }): object => ({
  ...shown,
  type: 'payout',
  tx_hash: hash,
  status: 'mined',
  failed_reason: '',
  created_at: stamp,
  completed_at: stamp,
  asset: reducedAsset,
  ...{ network_fee: '0.0005', total: text, usd_rate: '2500', usd_value: text },
  ...{
    approval: null,
    cancel_requested_at: null,
    failed_at: null,
    external_id: null,
    metadata: {},
    automatic: false,
  },
  ...{ deposit_id: null, batch_id: null, refund_id: null, invoice_id: null },
});

/** The bodies of answers that are no errors. */
export function bodyCases(stack: OnStack, { get, post }: Pick<ReturnType<typeof rawHttp>, 'get' | 'post'>) {
  const as = (shop: { token: string }) => `Authorization: Bearer ${shop.token}`;
  const json = 'Content-Type: application/json';
  const read = async <T>(path: string, shop: { token: string }): Promise<T> => {
    const { status, body } = await get(path, as(shop));
    expect(status).toBe(200);
    return body as T;
  };

  test('assets and balances have the fields of the contract, and those that stand beside them', async () => {
    const shop = await stack().merchant();
    const listed = await read<{ data: unknown[] }>('/api/assets', shop);
    expect(Object.keys(listed)).toEqual(['data']);
    expect(listed.data).toHaveLength(2);
    expect(listed.data).toContainEqual(asset);
    const balances = await read<{ data: unknown[] }>('/api/balances', shop);
    expect(Object.keys(balances)).toEqual(['data']);
    expect(balances.data).toHaveLength(2);
    expect(balances.data).toContainEqual({ asset, balance: '0', usd_value: '0', ...{ held: '0' } });
  });

  test('an invoice has the fields of the contract, and those that stand beside them', async () => {
    const shop = await stack().merchant();
    const order = '{"asset":"ETH","amount":12.5,"external_id":"order-7","expires_in":30}';
    const made = await post('/api/invoices', order, as(shop), json);
    const { id } = (made.body as { data: { id: string } }).data;
    expect(id).toMatch(/^inv_[0-9a-z]{36}$/);
    const listed = {
      id,
      external_id: 'order-7',
      amount_fiat: '12.50',
      usd_rate: '2500',
      status: 'pending',
      expires_at: stamp,
      paid_at: null,
      created_at: stamp,
      amount: '0.005',
      asset,
    };
    const full = {
      ...listed,
      pending_amount: '0',
      paid_amount: '0',
      url: `${stack().url}/pay/${id}`,
      address: {
        address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        ...{ uri: expect.stringMatching(/^ethereum:0x/) },
      },
      payments: [],
      currency: 'USD',
      rate: {
        currency: { code: 'USD', usd_rate: '1', as_of: null, sources: [] },
        asset: { symbol: 'ETH', usd_rate: '2500', as_of: stamp, sources: expect.any(Array) },
      },
      ...{ amount_remaining: '0.005', reversed_amount: '0', refunded_amount: '0', refunds: [] },
      ...{ cancelled_at: null, description: null, metadata: {} },
    };
    expect(shownOf(made)).toEqual({ status: 201, body: { message: text, data: full } });
    const again = await read(`/api/invoices/${id}`, shop);
    expect(again).toEqual(full);
    expect(again).toEqual((made.body as { data: object }).data);
    expect(await read('/api/invoices', shop)).toEqual({
      data: [listed],
      meta: expect.objectContaining({ total: 1, current_page: 1, last_page: 1 }),
      links: expect.objectContaining({ prev: null, next: null }),
    });
  });

  test('a payout has the fields of the contract, and those that stand beside them', async () => {
    const quittance = stack();
    const shop = await merchantWith(quittance, 'ETH', 500);
    const { status, body: made } = await shop.post('/api/payouts', {
      asset: 'ETH',
      amount: 0.1,
      address: PAYEE,
    });
    const { id } = made.data;
    expect(Number.isSafeInteger(id)).toBe(true);
    expect({ status, body: made }).toEqual({ status: 201, body: { message: text, data: { id } } });
    const body = payoutBody({ id, amount: '0.1', to_address: expect.stringMatching(new RegExp(PAYEE, 'i')) });
    const pending = { ...body, tx_hash: null, status: 'pending', completed_at: null };
    const [first] = (await read<{ data: [{ tx_hash: string | null }] }>('/api/payouts', shop)).data;
    expect(first).toEqual({ ...pending, tx_hash: first.tx_hash === null ? null : hash });
    await whileMining(quittance, async () =>
      expect((await shop.get('/api/payouts')).body.data).toEqual([body]),
    );
  });
}
