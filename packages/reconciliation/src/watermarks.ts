/** How far a check has read everything. A watermark is older than any transaction that may still be open. */
export type Watermarks = {
  /** ledger.transfers.seq */
  transfers: string;
  /** invoices.outbox.seq */
  deposits: string;
  /** payouts.transactions.id */
  transactions: string;
};
