import { describe, expect, it } from '@jest/globals';
import { order, requestsSuite } from './service-fixture.ts';

/** The transactions that were signed for a payout, as its merchant reads them. */
const fixture = requestsSuite();

type Stored = { state: string; terms?: object; feePaid?: string; blockHeight?: number; sentAt?: string };

/** Stores attempts of a payout as the worker of its chain does. */
async function storeAttempts(payout: number, attempts: Stored[]): Promise<string[]> {
  const hashes = attempts.map((_, i) => `0x${payout.toString(16)}${i}`);
  let group: string | null = null;
  for (const [i, { state, terms, feePaid, blockHeight, sentAt }] of attempts.entries()) {
    const rows: { group: string }[] = await fixture.db.rows<{ group: string }>(
      `with drawn as (select nextval(pg_get_serial_sequence('transactions', 'id')) as id)
       insert into transactions (id, replacement_group, attempt, chain, wallet, nonce, purpose, asset, amount, max_cost,
         min_confirmations, raw, tx_hash, state, fence, fee_paid, block_height, block_hash, terms, created_at,
         first_broadcast_at)
       overriding system value
       select id, coalesce($1::bigint, id), $2, 'ethereum', $3, 1, 'payout', 'ETH', 1, 630000000000000, 1,
         '0xsecret', $4, $5, 1, $6, $7, $8, $9, '2026-01-02T03:04:05Z', $10
       from drawn returning replacement_group as "group"`,
      [
        ...[group, i + 1, `0xwallet${payout}`, hashes[i], state, feePaid, blockHeight],
        ...[blockHeight === undefined ? null : '0xblock', JSON.stringify(terms ?? null), sentAt],
      ],
    );
    group = rows[0]?.group ?? null;
  }
  await fixture.db.rows(
    `insert into payments (payout_id, replacement_group, address, amount) values ($1, $2, '0x1', 1)`,
    [payout, group],
  );
  return hashes;
}

async function aPayout(): Promise<number> {
  const { status, body } = await fixture.shop.post(order);
  expect(status).toBe(201);
  return body.data.id;
}

const attemptsOf = (id: number | string, shop = fixture.shop) => shop.get(`/api/payouts/${id}/attempts`);

describe('GET /api/payouts/{id}/attempts', () => {
  it('lists the transactions of a payout, the newest last, with fees and their pages in an explorer', async () => {
    const id = await aPayout();
    expect(await attemptsOf(id)).toMatchObject({ status: 200, body: { data: [] } });
    const terms = (fee: string) => ({ gas: '21000', max_fee: fee, max_tip: '1' });
    const [first, second] = await storeAttempts(id, [
      { state: 'invalidated', terms: terms('20500000000'), sentAt: '2026-01-02T03:04:06Z', blockHeight: 7 },
      { state: 'mined', terms: terms('30000000000'), feePaid: '520000000000000', blockHeight: 8 },
    ]);
    const { status, body } = await attemptsOf(id);
    expect(status).toBe(200);
    const [signed_at, sent_at] = ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:06.000Z'];
    const offer = (value: string) => ({
      ...{ fee_asset: 'ETH', fee_max: '0.00063', fee_rate: { value, unit: 'gwei' }, signed_at },
    });
    const of = (tx_hash = '') => ({ tx_hash, explorer_url: `https://scan.example/tx/${tx_hash}` });
    expect(body.data).toEqual([
      {
        ...{ attempt: 1, status: 'replaced', ...of(first), ...offer('20.5') },
        ...{ fee_paid: null, block_height: null, sent_at },
      },
      {
        ...{ attempt: 2, status: 'mined', ...of(second), ...offer('30') },
        ...{ fee_paid: '0.00052', block_height: 8, sent_at: null },
      },
    ]);
    expect(Object.keys(body)).toEqual(['data']);
  });

  it('shows no fee rate of a transaction that a former release has signed', async () => {
    const id = await aPayout();
    await storeAttempts(id, [{ state: 'broadcast' }]);
    expect((await attemptsOf(id)).body).toMatchObject({ data: [{ status: 'sent', fee_rate: null }] });
  });

  it('shows nothing of the payouts of another account, and takes no parameters', async () => {
    const id = await aPayout();
    await storeAttempts(id, [{ state: 'signed' }]);
    expect(await attemptsOf(id, fixture.newClient())).toMatchObject({ status: 403 });
    expect(await attemptsOf(1)).toMatchObject({ status: 404 });
    expect(await attemptsOf('none')).toMatchObject({ status: 404 });
    expect(await fixture.shop.get(`/api/payouts/${id}/attempts?page=1`)).toMatchObject({ status: 422 });
  });
});
