import type { AutomaticPayout, HaltedAsset, Refund, Webhook } from '@quittance/client';

/** Something that waits for a person. */
export type Attention = {
  id: string;
  tone: 'yellow' | 'red';
  text: string;
  to: string;
  search?: Record<string, string>;
};

/** What is known of the account. What the role may not read is missing. */
export type AttentionSources = {
  openFunds?: number | undefined;
  waitingPayouts?: number | undefined;
  webhooks?: readonly Webhook[] | undefined;
  claimableRefunds?: readonly Refund[] | undefined;
  automaticPayouts?: readonly AutomaticPayout[] | undefined;
  haltedAssets?: readonly HaltedAsset[] | undefined;
};

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? one : `${count} ${many}`;

/** What needs attention, the most urgent first. */
export function attentionOf({
  openFunds = 0,
  waitingPayouts = 0,
  webhooks = [],
  claimableRefunds = [],
  automaticPayouts = [],
  haltedAssets = [],
}: AttentionSources): Attention[] {
  const failing = webhooks.filter(({ enabled, failing_since }) => enabled && failing_since !== null);
  const stopped = webhooks.filter(({ enabled, failing_since }) => !enabled && failing_since !== null);
  const uncovered = claimableRefunds.filter(({ unfunded_since }) => unfunded_since !== null);
  const broken = automaticPayouts.filter(({ enabled, last_error }) => enabled && last_error !== null);
  const all: (Attention | false)[] = [
    haltedAssets.length > 0 && {
      id: 'halted-assets',
      tone: 'red',
      text: `Payouts of ${haltedAssets.map(({ asset }) => asset.name).join(', ')} are halted by the operator`,
      to: '/payouts',
      search: { status: 'pending' },
    },
    uncovered.length > 0 && {
      id: 'refunds',
      tone: 'red',
      text: counted(
        uncovered.length,
        'The balance does not cover a refund that was claimed',
        'claimed refunds are not covered by the balance',
      ),
      to: '/refunds',
      search: { status: 'claimable' },
    },
    stopped.length > 0 && {
      id: 'stopped-webhooks',
      tone: 'red',
      text: counted(stopped.length, 'A webhook that failed is disabled', 'webhooks that failed are disabled'),
      to: '/webhooks',
    },
    failing.length > 0 && {
      id: 'failing-webhooks',
      tone: 'red',
      text: counted(failing.length, 'A webhook is failing', 'webhooks are failing'),
      to: '/webhooks',
    },
    broken.length > 0 && {
      id: 'automatic-payouts',
      tone: 'red',
      text: counted(
        broken.length,
        'An automatic payout could not be made',
        'automatic payouts could not be made',
      ),
      to: '/automatic-payouts',
    },
    waitingPayouts > 0 && {
      id: 'payouts',
      tone: 'yellow',
      text: counted(waitingPayouts, 'A payout waits for approval', 'payouts wait for approval'),
      to: '/payouts',
      search: { approval: 'waiting' },
    },
    openFunds > 0 && {
      id: 'unresolved',
      tone: 'yellow',
      text: counted(
        openFunds,
        'Money is in no balance: accept or return it',
        'payments are in no balance: accept or return them',
      ),
      to: '/unresolved',
      search: { status: 'open' },
    },
  ];
  return all.filter((one) => one !== false);
}
