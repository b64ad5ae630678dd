import { type AssetSymbol, assets } from '@quittance/shared/assets';

/** SQL of an invoice of acc_1 that is paid by a settled deposit, which is booked. It is right where no trigger runs. */
export function creditedDeposit({
  n = 1,
  asset = 'ETH' as AssetSymbol,
  amount = 100,
  address = '0xa',
  txHash = '0xt',
  height = 1,
  booked = 'now()',
} = {}): string {
  const { chain } = assets[asset];
  return `
  insert into ledger.balances (account_id, asset, available) values ('acc_1', '${asset}', ${amount});
  insert into ledger.transfers (op, kind, account_id, asset, amount, created_at)
    values ('deposit:dep_${n}', 'deposit', 'acc_1', '${asset}', ${amount}, ${booked});
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, account, bucket, asset, by from ledger.transfers,
      (values ('acc_1', 'available', ${amount}), (null, 'custody', -${amount})) as parts(account, bucket, by)
    where op = 'deposit:dep_${n}';
  insert into invoices.invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due,
      min_confirmations, dust, status, created_at, paid_at, address, derivation_index)
    values ('inv_${n}', 'acc_1', '${asset}', '${chain}', 1000, 10, '{}', ${amount}, 3, 1, 'paid', now(), now(),
      '${address}', 0);
  insert into invoices.deposits (id, chain, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
      output_index, block_height, block_hash, first_seen_at, min_confirmations, state, settled_at, disposition, credited_at)
    values ('dep_${n}', '${chain}', '${txHash}:0', 'inv_${n}', '${asset}', '${address}', 0, ${amount}, '${txHash}',
      0, ${height}, '0xb', now(), 3, 'settled', now(), 'credit', now())`;
}
