import { beforeEach, expect, test } from '@jest/globals';
import { operatorSuite } from './quittance-in.ts';

const { database, quittance } = await operatorSuite();
const db = database.openAsAdmin('payouts');
const HOT = `0x${'a0'.repeat(20)}`;

beforeEach(async () => {
  for (const table of ['payments', 'transactions', 'payouts', 'wallets'])
    await db.rows(`delete from ${table}`);
});
/** A payout that was asked for so many minutes ago; with a nonce, one that is signed. */
async function payout(id: number, asset: string, status: string, minutes: number, nonce?: number) {
  await db.rows(
    `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status, tx_hash,
       created_at, completed_at)
     values ($1, $1, 'acc_1', $2, 5000000, 1, '0xrecipient', 3, $3, $4, now() - $5::int * interval '1 minute',
       case when $3 = 'mined' then now() end)`,
    [id, asset, status, nonce === undefined ? null : `0xhash${nonce}`, minutes],
  );
  if (nonce === undefined) return;
  const { group } = await db.one<{ group: string }>(
    `insert into transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost, min_confirmations, raw,
       tx_hash, fence, state, block_height, block_hash)
     overriding system value
     select drawn, drawn, 'ethereum', $1, $2, 'payout', $3, 5, 1, 3, '0xraw', $4, 1, $5, 1, '0xblock'
     from (select nextval(pg_get_serial_sequence('transactions', 'id')) as drawn) as id
     returning replacement_group as "group"`,
    [HOT, nonce, asset, `0xhash${nonce}`, status],
  );
  await db.rows(
    `insert into payments (payout_id, replacement_group, address, amount) values ($1, $2, '0xrecipient', 5)`,
    [id, group],
  );
}

test('payouts that are pending for longer than their chain takes are listed, the oldest first', async () => {
  expect(await quittance(['payouts', 'stalled'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^No payout/),
  });
  await payout(1, 'BTC', 'reserved', 170);
  await payout(2, 'ETH', 'broadcast', 31, 0);
  await payout(3, 'ETH', 'mined', 500, 1);
  await payout(4, 'SOL', 'reserved', 11);
  await payout(5, 'USDC_BASE', 'reserved', 29);
  const { code, out } = await quittance(['payouts', 'stalled']);
  expect(code).toBe(1);
  expect(out).toMatch(/^2 +ethereum +0\.000000000005 ETH +0xrecipient +broadcast /m);
  expect(out).toContain('2 payouts make no progress');
  expect((await quittance(['payouts', 'stalled', '--json'])).json()).toMatchObject([
    { id: '2', chain: 'ethereum', status: 'broadcast' },
    { id: '4', chain: 'solana', status: 'reserved' },
  ]);
});

test('a payout that the chain has dropped says so, and those that wait behind it name it', async () => {
  await db.rows(`insert into wallets (chain, address, role, next_nonce) values ('ethereum', $1, 'hot', 5)`, [
    HOT,
  ]);
  await payout(10, 'ETH', 'mined', 60, 3);
  await payout(11, 'ETH', 'broadcast', 1, 4);
  await payout(12, 'ETH', 'reserved', 1);
  await payout(13, 'ETH', 'mined', 90, 2);
  const waits = async (id: number) =>
    (await quittance(['payouts', 'show', String(id), '--json'])).json().waits_for;
  expect(await waits(11)).toBeNull();
  await db.rows('update transactions set missing_since = now() where nonce = 3');
  expect((await quittance(['payouts', 'show', '10'])).out).toMatch(/has DROPPED attempt 1 \(0xhash3\)/);
  const missing = { missing_nonce: '3', wallet: HOT, tx_hash: '0xhash3', payout_id: '10' };
  expect(await waits(11)).toMatchObject(missing);
  expect(await waits(12)).toMatchObject(missing);
  expect(await waits(13)).toBeNull();
  expect((await quittance(['payouts', 'show', '11'])).out).toMatch(
    /^Waits for +nonce 3 of 0xa0.*dropped 0xhash3 \(payout 10\)/m,
  );
});
