import type { RuleCase } from './rule-case.ts';

type Limit = {
  alert: string;
  /** With its labels. */
  series: string;
  labels?: Readonly<Record<string, string>>;
  /** At this it is silent for ever, at the other it fires. */
  limit: number;
  beyond: number;
  /** `for` of the rule, in minutes. */
  minutes?: number;
  summary: string;
};

const SAMPLES_A_MINUTE = 4;
const samples = (value: number, minutes: number) => `${value}x${minutes * SAMPLES_A_MINUTE - 1}`;
const at = (minutes: number, seconds = 0) => `${minutes * 60 + seconds}s`;

/** A rule that only compares one gauge with a limit: a minute at the limit, beyond it for as long as the rule waits, and back. */
const limitCase = ({ alert, series, labels = {}, limit, beyond, minutes = 0, summary }: Limit): RuleCase => ({
  alert,
  series: {
    [series]: `${samples(limit, 1)} ${samples(beyond, minutes + 1)} ${samples(limit, 1)}`,
  },
  turns: { before: at(minutes + 1, -15), fires: at(minutes + 1), healed: at(minutes + 2) },
  labels,
  summary,
});

const limits: readonly Limit[] = [
  {
    alert: 'HaltAsked',
    ...{ series: 'quittance_asset_halt_asked{job="auditor",asset="ETH"}', labels: { asset: 'ETH' } },
    ...{ limit: 0, beyond: 1 },
    summary:
      'Payouts of ETH are paused, by the auditor or an operator: quittance payouts paused shows the reason.',
  },
  {
    alert: 'DiscrepanciesFound',
    series: 'quittance_reconciliation_discrepancies{job="auditor",invariant="I6",asset="ETH"}',
    labels: { invariant: 'I6', asset: 'ETH' },
    ...{ limit: 0, beyond: 2, minutes: 5 },
    summary: 'Invariant I6 has 2 discrepancies (ETH): quittance verify-books lists them.',
  },
  {
    alert: 'ChainNotCompared',
    series: 'quittance_reconciliation_chain_compared{job="auditor",chain="bitcoin"}',
    labels: { chain: 'bitcoin' },
    ...{ limit: 1, beyond: 0, minutes: 15 },
    summary: 'The records cannot be compared with bitcoin: its nodes do not answer, or lag.',
  },
  {
    alert: 'ChainWithoutLeader',
    series: 'quittance_payouts_leader{job="payouts",chain="solana"}',
    labels: { chain: 'solana' },
    ...{ limit: 1, beyond: 0, minutes: 1 },
    summary: 'No replica pays on solana: its node does not answer, or serves another network.',
  },
  ...(
    [
      ['requested', 60],
      ['planned', 60],
      ['reserved', 600],
      ['broadcast', 10_800],
    ] as const
  ).map(([status, limit]) => ({
    alert: 'PayoutsWait',
    series: `quittance_payouts_oldest_open_seconds{job="payouts",status="${status}"}`,
    labels: { status },
    limit,
    beyond: limit + 1,
    summary: `The oldest payout that is ${status} is ${{ 60: '1m 1s', 600: '10m 1s', 10800: '3h 0m 1s' }[limit]} old.`,
  })),
  {
    alert: 'PayoutsStalled',
    series: 'quittance_payouts_stalled{job="payouts",chain="bitcoin"}',
    labels: { chain: 'bitcoin' },
    ...{ limit: 0, beyond: 2, minutes: 1 },
    summary: '2 payouts on bitcoin are pending for longer than usual: quittance payouts stalled lists them.',
  },
  {
    alert: 'TransactionsMissing',
    series: 'quittance_transactions_missing{job="payouts",chain="ethereum"}',
    labels: { chain: 'ethereum' },
    ...{ limit: 0, beyond: 1, minutes: 1 },
    summary:
      'A reorganisation of ethereum dropped 1 settled transactions of ours: the log of payouts names them.',
  },
  {
    alert: 'PayoutsHalted',
    ...{ series: 'quittance_payouts_halted{job="payouts",asset="BTC"}', labels: { asset: 'BTC' } },
    ...{ limit: 0, beyond: 1 },
    summary: 'Nothing new is signed for BTC.',
  },
  {
    alert: 'ChainLags',
    series: 'quittance_chain_lag_seconds{job="invoices",chain="solana"}',
    labels: { chain: 'solana' },
    ...{ limit: 120, beyond: 121, minutes: 1 },
    summary: 'The latest block of solana was not reached for 2m 1s: payments are not seen.',
  },
  {
    alert: 'ChainNodeLeftOut',
    series: 'quittance_chain_nodes_left_out{job="invoices",chain="ethereum"}',
    labels: { chain: 'ethereum' },
    ...{ limit: 0, beyond: 1, minutes: 60 },
    summary: '1 nodes of ethereum are left out of the quorum: the log of invoices names them.',
  },
  {
    alert: 'PaymentContradicted',
    series: 'quittance_payments_contradicted{job="invoices",chain="ethereum"}',
    labels: { chain: 'ethereum' },
    ...{ limit: 0, beyond: 1, minutes: 10 },
    summary:
      'The node of ethereum contradicts itself about 1 payments: the log and /readyz of invoices name them.',
  },
  {
    alert: 'QuoteOld',
    ...{ series: 'quittance_quote_age_seconds{job="ledger",asset="BTC"}', labels: { asset: 'BTC' } },
    ...{ limit: 60, beyond: 61, minutes: 1 },
    summary: 'The rate of BTC is 1m 1s old: no invoice can be created in it.',
  },
  {
    alert: 'FiatRateOld',
    series: 'quittance_fiat_rate_age_seconds{job="ledger",currency="EUR"}',
    labels: { currency: 'EUR' },
    ...{ limit: 60, beyond: 61, minutes: 5 },
    summary: 'The rate of EUR is 1m 1s old: no invoice can be priced in it.',
  },
  {
    alert: 'OutboxStuck',
    series: 'quittance_outbox_oldest_unsent_seconds{job="invoices"}',
    labels: { job: 'invoices' },
    ...{ limit: 60, beyond: 61, minutes: 1 },
    summary: 'Events of invoices do not reach NATS.',
  },
  {
    alert: 'EventsNotProcessed',
    series: 'quittance_outbox_oldest_unconfirmed_seconds{job="ledger"}',
    labels: { job: 'ledger' },
    ...{ limit: 300, beyond: 301 },
    summary: 'An event of ledger has not been processed by all its receivers.',
  },
  {
    alert: 'DeadLetters',
    ...{ series: 'quittance_dead_letters{job="webhooks"}', labels: { job: 'webhooks' } },
    ...{ limit: 0, beyond: 3 },
    summary: 'webhooks has 3 dead letters: quittance dead-letters list shows them.',
  },
  {
    alert: 'WebhooksLate',
    series: 'quittance_deliveries_oldest_due_seconds{job="webhooks",queue="new"}',
    labels: { queue: 'new' },
    ...{ limit: 60, beyond: 61, minutes: 2 },
    summary: 'A webhook delivery is 1m 1s late.',
  },
  {
    alert: 'MailsLate',
    series: 'quittance_mails_oldest_due_seconds{job="webhooks"}',
    ...{ limit: 300, beyond: 301, minutes: 2 },
    summary: 'An e-mail to a merchant is 5m 1s late.',
  },
  {
    alert: 'EventLoopLags',
    series: 'nodejs_eventloop_lag_p99_seconds{job="gateway",instance="10.0.0.7:9464"}',
    labels: { job: 'gateway', instance: '10.0.0.7:9464' },
    ...{ limit: 0.1, beyond: 0.2, minutes: 10 },
    summary: 'gateway at 10.0.0.7:9464 is overloaded: add replicas.',
  },
  {
    alert: 'RedisDown',
    series: 'quittance_rate_limit_redis_up{job="gateway"}',
    ...{ limit: 1, beyond: 0, minutes: 5 },
    summary: 'Redis does not answer: each gateway counts rate limits alone.',
  },
];

export const limitCases: readonly RuleCase[] = limits.map(limitCase);
