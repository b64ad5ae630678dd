-- The refunds of an invoice, as payouts has told of them last: the invoice shows them.
create table refunds (
  id text collate "C" primary key,
  invoice_id text collate "C" not null,
  status text not null constraint refunds_status_known check (
    status in ('claimable', 'pending', 'completed', 'failed', 'expired', 'cancelled')),
  amount numeric(78, 0) not null constraint refunds_amount_positive check (amount > 0),
  -- what it takes of the invoice's paid amount
  share numeric(78, 0) not null constraint refunds_share_positive check (share > 0),
  payout_id text,
  -- of the refund: an event that is older than this arrived late
  version int not null,
  created_at timestamptz not null
);
create index refunds_of_invoice on refunds (invoice_id, created_at);
revoke delete on refunds from quittance_invoices;
