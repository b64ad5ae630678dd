import { expect, it } from '@jest/globals';
import { formerRelease } from '@quittance/testkit/former-release';

it('payouts and sweeps in flight keep their transactions', async () => {
  const { db, upgrade, drop } = await formerRelease('payouts', '1005');
  try {
    await db.rows(
      `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status)
       values (1, 77, 'acc_1', 'ETH', 5, 1, '0xto', 3, 'broadcast')`,
    );
    await db.rows(
      `insert into transactions (chain, wallet, nonce, purpose, payout_id, swept_address, asset, amount, max_cost,
         min_confirmations, raw, tx_hash, state, fence)
       values ('ethereum', '0xhot', 0, 'sweep', null, '0xdep', 'ETH', 9, 1, 3, '0x01', '0x1', 'broadcast', 1),
         ('ethereum', '0xhot', 1, 'payout', 77, null, 'ETH', 5, 1, 3, '0x02', '0x2', 'broadcast', 1)`,
    );
    await upgrade();
    const transactions = await db.rows(
      `select id, replacement_group, attempt, nonce from transactions order by id`,
    );
    expect(transactions).toEqual([
      { id: '1', replacement_group: '1', attempt: 1, nonce: '0' },
      { id: '2', replacement_group: '2', attempt: 1, nonce: '1' },
    ]);
    expect(await db.rows('select payout_id, replacement_group, address, amount from payments')).toEqual([
      { payout_id: '77', replacement_group: '2', address: '0xto', amount: '5' },
    ]);
    // A nonce belongs to one group, and all attempts of a group have its nonce.
    const another = (replacement_group: string, attempt: number, nonce: number) =>
      db.rows(
        `insert into transactions (id, replacement_group, attempt, chain, wallet, nonce, purpose, asset, amount, max_cost,
           min_confirmations, raw, tx_hash, fence)
         overriding system value
         values (9, ${replacement_group}, ${attempt}, 'ethereum', '0xhot', ${nonce}, 'payout', 'ETH', 5, 1, 3, '0x', '0x9', 1)`,
      );
    await expect(another('9', 1, 1)).rejects.toThrow('transactions_one_group_of_nonce');
    await expect(another('2', 2, 3)).rejects.toThrow('transactions_attempts_share_nonce');
    await another('2', 2, 1);
    const mined = `update transactions set state = 'mined', block_height = 1, block_hash = '0xb' where replacement_group = 2`;
    await expect(db.rows(mined)).rejects.toThrow('transactions_one_mined_of_group');
  } finally {
    await drop();
  }
});
