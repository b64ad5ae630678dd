import { limitCases } from './limit-cases.ts';
import type { RuleCase } from './rule-case.ts';
import {
  APPROVAL,
  ATTEMPTS,
  buckets,
  CHECKED,
  everyJob,
  FUNDS,
  HOLD,
  PAYOUTS,
  REQUESTS,
  ROUTE,
  upBut,
} from './series.ts';

export const ruleCases: readonly RuleCase[] = [
  ...limitCases,
  {
    alert: 'HaltNotAcknowledged',
    series: {
      'quittance_asset_halt_asked{job="auditor",asset="ETH"}': '0x3 1x15',
      'quittance_asset_halted{job="auditor",asset="ETH"}': '0x11 1x7',
    },
    turns: { before: '105s', fires: '2m', healed: '3m' },
    labels: { asset: 'ETH' },
    summary: "Payouts does not follow the auditor's instruction about ETH.",
  },
  {
    // Of the last minute: only the replica that leads knows it, and another one may lead at the next scrape.
    alert: 'SigningPaused',
    series: { 'quittance_signing_paused{job="payouts",chain="ethereum"}': '0x3 1x3 0x11' },
    turns: { before: '45s', fires: '1m', healed: '180s' },
    labels: { chain: 'ethereum' },
    summary: 'Signing is stopped on ethereum: the log and /readyz of payouts show the reason.',
  },
  {
    alert: 'HoldsNotAskedFor',
    series: { 'quittance_holds_not_asked_for_total{job="ledger",problem="no_request"}': '0x3 1x100' },
    turns: { before: '45s', fires: '1m', healed: '16m' },
    labels: { problem: 'no_request' },
    summary: 'The ledger refused holds that no merchant has asked for (no_request).',
  },
  {
    alert: 'ReservesShort',
    series: {
      'quittance_reserves{job="auditor",asset="ETH"}': '10x3 9.999x23 10x7',
      'quittance_liabilities{job="auditor",asset="ETH"}': '10x40',
    },
    turns: { before: '345s', fires: '6m', healed: '7m' },
    labels: { asset: 'ETH' },
    summary: 'The chain holds less ETH than merchants are owed.',
  },
  {
    alert: 'OperatorFundsGrew',
    series: { [FUNDS]: '1x79 1.5x100' },
    turns: { before: '1185s', fires: '20m', healed: '35m' },
    labels: { asset: 'ETH' },
    summary: 'ETH has come to a hot wallet that is not booked: quittance funds list names it.',
  },
  {
    alert: 'RecordsNotChecked',
    when: 'new rows are not checked',
    series: { [`${CHECKED}{job="auditor",scope="recent"}`]: '0+15x4 60x60 960+15x10' },
    turns: { before: '11m', fires: '675s', healed: '17m' },
    labels: { scope: 'recent' },
    summary: 'The auditor has completed no check (recent): it halts nothing.',
  },
  {
    alert: 'RecordsNotChecked',
    when: 'not every row is checked',
    series: { [`${CHECKED}{job="auditor",scope="whole"}`]: '0x310' },
    everySeconds: 300,
    turns: { before: '25h', fires: '90300s' },
    labels: { scope: 'whole' },
    summary: 'The auditor has completed no check (whole): it halts nothing.',
  },
  {
    alert: 'HoldOld',
    series: { [HOLD]: '21600x3 21601x3 30x3', [APPROVAL]: '21600x40' },
    turns: { before: '45s', fires: '1m', healed: '2m' },
    labels: { asset: 'ETH' },
    summary: 'A hold of ETH has been open for 6h 0m 1s.',
  },
  {
    alert: 'ChainLagsFar',
    series: {
      'quittance_chain_node_height{job="invoices",chain="solana"}': '100x3 201x23 201x7',
      'quittance_chain_height{job="invoices",chain="solana"}': '100x3 100x23 101x7',
    },
    turns: { before: '345s', fires: '6m', healed: '7m' },
    labels: { chain: 'solana' },
    summary: 'Invoices is 101 blocks behind the node of solana.',
  },
  {
    alert: 'WebhooksFail',
    series: {
      [`${ATTEMPTS}{job="webhooks",outcome="failed"}`]: '0+2x80 160x100',
      [`${ATTEMPTS}{job="webhooks",outcome="delivered"}`]: '0+1x180',
    },
    turns: { before: '15m', fires: '915s', healed: '32m' },
    labels: {},
    summary: 'More than half of all webhook attempts fail: check our own network.',
  },
  {
    alert: 'MailsFail',
    series: {
      'quittance_mails_total{job="webhooks",outcome="retried"}': '0+1x80 80x100',
      'quittance_mails_total{job="webhooks",outcome="failed"}': '0+1x80 80x100',
      'quittance_mails_total{job="webhooks",outcome="sent"}': '0+1x180',
    },
    turns: { before: '15m', fires: '915s', healed: '32m' },
    labels: {},
    summary: 'More than half of all e-mails are not sent: check SMTP_URL.',
  },
  ...everyJob.map((job) => ({
    alert: 'ServiceDown',
    when: `${job} does not answer`,
    series: upBut({ [`up{job="${job}",instance="1"}`]: '1x3 0x7 1x7' }),
    turns: { before: '105s', fires: '2m', healed: '3m' },
    labels: { job },
    summary: `No replica of ${job} can be scraped.`,
  })),
  {
    alert: 'ServiceDown',
    when: 'no webhooks was found at all',
    series: Object.fromEntries(Object.entries(upBut({})).filter(([name]) => !name.includes('webhooks'))),
    turns: { before: '45s', fires: '1m' },
    labels: { job: 'webhooks' },
    summary: 'No replica of webhooks can be scraped.',
  },
  {
    alert: 'Errors',
    series: {
      [`${REQUESTS}_count{${PAYOUTS},status="2xx"}`]: '0+97x100',
      [`${REQUESTS}_count{${PAYOUTS},status="5xx"}`]: '0+3x40 120x60',
    },
    turns: { before: '5m', fires: '315s', healed: '16m' },
    labels: ROUTE,
    summary: '3% of /api/payouts in payouts are answered 5xx.',
  },
  {
    alert: 'Slow',
    series: buckets(PAYOUTS, 90, 100),
    turns: { before: '10m', fires: '615s' },
    labels: ROUTE,
    summary: 'One in a hundred of /api/payouts in payouts takes 2.35s.',
  },
  {
    alert: 'TokensGuessed',
    series: {
      'quittance_rate_limited_total{job="gateway",instance="1",limit="failure"}': '0+8x60 480x60',
      'quittance_rate_limited_total{job="gateway",instance="2",limit="unknown_token"}': '0+8x60 480x60',
    },
    turns: { before: '5m', fires: '11m', healed: '21m' },
    labels: {},
    summary: 'Somebody is guessing API tokens.',
  },
];
