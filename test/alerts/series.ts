/** Names of series with their labels, for the cases of the alerts. */
export const HOLD = 'quittance_holds_oldest_open_seconds{job="ledger",asset="ETH"}';
export const APPROVAL = 'quittance_payouts_oldest_open_seconds{job="payouts",status="awaiting_approval"}';
export const CHECKED = 'quittance_reconciliation_checked_timestamp_seconds';
export const ATTEMPTS = 'quittance_delivery_attempts_total';
export const REQUESTS = 'quittance_http_request_duration_seconds';
export const PAYOUTS = 'job="payouts",route="/api/payouts",method="POST"';
export const ROUTE = { job: 'payouts', route: '/api/payouts' };
export const FUNDS = 'quittance_operator_funds{job="auditor",asset="ETH"}';
export const everyJob = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'auditor'] as const;
export const upBut = (values: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(everyJob.map((job) => [`up{job="${job}",instance="1"}`, '1x40'])),
  ...values,
});
/** So many observations in each bucket every 15 seconds. */
export const buckets = (labels: string, within1s: number, all: number) => ({
  [`${REQUESTS}_bucket{${labels},status="2xx",le="1"}`]: `0+${within1s}x100`,
  [`${REQUESTS}_bucket{${labels},status="2xx",le="2.5"}`]: `0+${all}x100`,
  [`${REQUESTS}_bucket{${labels},status="2xx",le="+Inf"}`]: `0+${all}x100`,
});
