type Name = `quittance_${string}`;

type FormerMetric = {
  name: Name;
  /** By the label's present name, its former one. */
  labels?: Readonly<Record<string, string>>;
  value?: (present: number) => number;
};

/**
 * By the present name of a gauge, what it was called in the former release. Both are exported for one release, so that alerts
 * and dashboards of operators keep working. docs/glossary.md lists them.
 */
export const formerMetrics: { readonly [name: Name]: FormerMetric } = {
  quittance_chain_lag_seconds: { name: 'quittance_chain_behind_seconds' },
  quittance_dead_letters: { name: 'quittance_messages_parked' },
  quittance_payouts_leader: { name: 'quittance_engine_led' },
  quittance_rate_limit_redis_up: { name: 'quittance_redis_away', value: (up) => 1 - up },
  quittance_reconciliation_chain_compared: { name: 'quittance_books_chain_compared' },
  quittance_reconciliation_checked_timestamp_seconds: {
    name: 'quittance_books_checked_timestamp_seconds',
    labels: { scope: 'extent' },
  },
  quittance_reconciliation_discrepancies: { name: 'quittance_books_breaches' },
  quittance_signing_paused: { name: 'quittance_engine_barred' },
};
