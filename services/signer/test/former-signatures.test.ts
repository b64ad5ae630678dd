import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { migrateService } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import { formerRelease } from '@quittance/testkit/former-release';

it('what payouts had signed and no block had decided is known, and the wallets that it paid from', async () => {
  const { db, adminUrl, drop } = await formerRelease('payouts', '9999');
  const logger = createLogger('test', 'silent');
  const signer = openDb({ url: adminUrl, schema: 'signer', pool: 1, logger });
  try {
    await db.rows(
      `insert into wallets (chain, address, role, next_nonce)
       values ('ethereum', '0xhot', 'hot', 3), ('bitcoin', 'bc1hot', 'hot', null)`,
    );
    await db.rows(
      `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status, tx_hash, completed_at)
       overriding system value
       values (1, 71, 'acc_1', 'ETH', 5, 1, '0xto', 3, 'broadcast', '0x1', null),
         (2, 72, 'acc_1', 'ETH', 6, 1, '0xto', 3, 'mined', '0x3', now()),
         (3, 73, 'acc_2', 'BTC', 7000, 1, 'bc1to', 3, 'signed', null, null),
         (4, 74, 'acc_2', 'ETH', 8, 1, '0xwaits', 3, 'reserved', null, null)`,
    );
    const utxos = JSON.stringify({ utxos: [{ outpoint: 'aa:1', branch: 'hot', index: 0, amount: '9000' }] });
    await db.rows(
      `insert into transactions (id, replacement_group, attempt, chain, wallet, nonce, purpose, asset, amount, max_cost,
         min_confirmations, raw, tx_hash, state, fence, block_height, block_hash, terms)
       overriding system value
       values (1, 1, 1, 'ethereum', '0xhot', 1, 'payout', 'ETH', 5, 1, 3, '0x', '0x1', 'broadcast', 1, null, null, null),
         (2, 1, 2, 'ethereum', '0xhot', 1, 'payout', 'ETH', 5, 2, 3, '0x', '0x2', 'signed', 1, null, null, null),
         (3, 3, 1, 'ethereum', '0xhot', 2, 'payout', 'ETH', 6, 1, 3, '0x', '0x3', 'mined', 1, 9, '0xb', null),
         (4, 4, 1, 'bitcoin', 'bc1hot', null, 'payout', 'BTC', 7000, 50, 3, '00', 'bb', 'signed', 1, null, null, $1)`,
      [utxos],
    );
    await db.rows(
      `insert into payments (payout_id, replacement_group, address, amount, output_index)
       values (71, 1, '0xto', 5, null), (72, 3, '0xto', 6, null), (73, 4, 'bc1to', 7000, 0)`,
    );
    const folder = fileURLToPath(new URL('../migrations/', import.meta.url));
    await migrateService({ adminUrl, service: 'signer', folder, password: TEST_PASSWORD });
    expect(await signer.rows('select chain, hot_address from wallets order by chain')).toEqual([
      { chain: 'bitcoin', hot_address: 'bc1hot' },
      { chain: 'ethereum', hot_address: '0xhot' },
    ]);
    expect(await signer.rows('select payout_id, destination from former_destinations')).toEqual([
      { payout_id: '74', destination: '0xwaits' },
    ]);
    const signed = await signer.rows(
      `select payout_id, destination, c.amount, s.wallet, s.nonce, o.outpoint, s.tx_hash
       from cleared_payouts c join signed_payouts using (payout_id) join signatures s on s.id = signature
         left join spent_outpoints o on o.signature = s.id
       order by s.id`,
    );
    const ofEther = {
      payout_id: '71',
      destination: '0xto',
      amount: '5',
      wallet: '0xhot',
      nonce: '1',
      outpoint: null,
    };
    expect(signed).toEqual([
      { ...ofEther, tx_hash: '0x1' },
      { ...ofEther, tx_hash: '0x2' },
      {
        ...{ payout_id: '73', destination: 'bc1to', amount: '7000', wallet: null, nonce: null },
        ...{ outpoint: 'aa:1', tx_hash: 'bb' },
      },
    ]);
  } finally {
    await signer.close();
    await drop();
  }
});
