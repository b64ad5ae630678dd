import { APPROVAL, ATTEMPTS, buckets, CHECKED, FUNDS, HOLD, PAYOUTS, REQUESTS, upBut } from './series.ts';

/** What must not fire, however long it lasts. */
export type SilentCase = {
  alert: string;
  when: string;
  series: Readonly<Record<string, string>>;
  /** How long it is watched. */
  minutes: number;
  everySeconds?: number;
};

export const silentCases: readonly SilentCase[] = [
  {
    alert: 'HaltNotAcknowledged',
    when: 'payouts follows within a minute',
    series: {
      'quittance_asset_halt_asked{job="auditor",asset="ETH"}': '0x3 1x40',
      'quittance_asset_halted{job="auditor",asset="ETH"}': '0x7 1x40',
    },
    minutes: 10,
  },
  {
    alert: 'HoldsNotAskedFor',
    when: 'the ledger begins to count at zero again',
    series: { 'quittance_holds_not_asked_for_total{job="ledger",problem="too_old"}': '5x80 0x80' },
    minutes: 40,
  },
  {
    alert: 'ReservesShort',
    when: 'the chain holds what is owed',
    series: {
      'quittance_reserves{job="auditor",asset="ETH"}': '10x80',
      'quittance_liabilities{job="auditor",asset="ETH"}': '10x80',
    },
    minutes: 20,
  },
  {
    alert: 'OperatorFundsGrew',
    when: 'funds were measured for the first time, and then withdrawn',
    series: { [FUNDS]: '_x40 3x80 1x80' },
    minutes: 50,
  },
  {
    alert: 'RecordsNotChecked',
    when: 'new rows are checked every minute and all of them every day',
    series: {
      [`${CHECKED}{job="auditor",scope="recent"}`]: '0+300x310',
      [`${CHECKED}{job="auditor",scope="whole"}`]: '0x287 86400x30',
    },
    everySeconds: 300,
    minutes: 1500,
  },
  {
    alert: 'HoldOld',
    when: 'a payout waits as long for its approval',
    series: { [HOLD]: '30000x40', [APPROVAL]: '30000x40' },
    minutes: 10,
  },
  {
    alert: 'PayoutsWait',
    when: 'a payout waits for its approval',
    series: { [APPROVAL]: '300000x40' },
    minutes: 10,
  },
  {
    alert: 'ChainLagsFar',
    when: 'invoices is a hundred blocks behind',
    series: {
      'quittance_chain_node_height{job="invoices",chain="solana"}': '300x80',
      'quittance_chain_height{job="invoices",chain="solana"}': '200x80',
    },
    minutes: 20,
  },
  {
    alert: 'WebhooksFail',
    when: 'nothing is delivered at all',
    series: {
      [`${ATTEMPTS}{job="webhooks",outcome="failed"}`]: '7x180',
      [`${ATTEMPTS}{job="webhooks",outcome="delivered"}`]: '7x180',
    },
    minutes: 40,
  },
  {
    alert: 'WebhooksFail',
    when: 'less than half of the attempts fail',
    series: {
      [`${ATTEMPTS}{job="webhooks",outcome="failed"}`]: '0+9x180',
      [`${ATTEMPTS}{job="webhooks",outcome="delivered"}`]: '0+10x180',
    },
    minutes: 40,
  },
  {
    alert: 'MailsFail',
    when: 'less than half of the e-mails fail',
    series: {
      'quittance_mails_total{job="webhooks",outcome="failed"}': '0+9x180',
      'quittance_mails_total{job="webhooks",outcome="sent"}': '0+10x180',
    },
    minutes: 40,
  },
  {
    alert: 'ServiceDown',
    when: 'one of two replicas answers',
    series: upBut({ 'up{job="payouts",instance="2"}': '0x40' }),
    minutes: 10,
  },
  {
    alert: 'Errors',
    when: 'one answer in two hundred is 5xx',
    series: {
      [`${REQUESTS}_count{${PAYOUTS},status="2xx"}`]: '0+199x100',
      [`${REQUESTS}_count{${PAYOUTS},status="5xx"}`]: '0+1x100',
    },
    minutes: 20,
  },
  {
    alert: 'Errors',
    when: 'nobody asks',
    series: { [`${REQUESTS}_count{${PAYOUTS},status="5xx"}`]: '9x100' },
    minutes: 20,
  },
  { alert: 'Slow', when: 'two in a thousand are slow', series: buckets(PAYOUTS, 998, 1_000), minutes: 20 },
  {
    alert: 'Slow',
    when: 'streams are open for long',
    series: {
      ...buckets('job="gateway",route="/api/events/stream",method="GET"', 0, 10),
      ...buckets('job="invoices",route="/pay/:id/events",method="GET"', 0, 10),
    },
    minutes: 20,
  },
  {
    alert: 'TokensGuessed',
    when: 'less than one a second, and other limits',
    series: {
      'quittance_rate_limited_total{job="gateway",limit="failure"}': '0+14x100',
      'quittance_rate_limited_total{job="gateway",limit="token"}': '0+900x100',
    },
    minutes: 20,
  },
];
