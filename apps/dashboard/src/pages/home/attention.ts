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

/** What waits, when there is any of it: in the words for one, or for several. */
const waits = (
  count: number,
  [one, many]: [one: string, many: string],
  rest: Omit<Attention, 'text'>,
): Attention[] => (count === 0 ? [] : [{ ...rest, text: count === 1 ? one : `${count} ${many}` }]);

/** What needs attention, the most urgent first. */
export function attentionOf({
  openFunds = 0,
  waitingPayouts = 0,
  webhooks = [],
  claimableRefunds = [],
  automaticPayouts = [],
  haltedAssets = [],
}: AttentionSources): Attention[] {
  const failing = webhooks.filter(({ failing_since }) => failing_since !== null);
  const halted = `Payouts of ${haltedAssets.map(({ asset }) => asset.name).join(', ')} are halted by the operator`;
  return [
    ...(haltedAssets.length === 0
      ? []
      : [
          {
            id: 'halted-assets',
            tone: 'red',
            text: halted,
            to: '/payouts',
            search: { status: 'pending' },
          } as const,
        ]),
    ...waits(
      claimableRefunds.filter(({ unfunded_since }) => unfunded_since !== null).length,
      [
        'The balance does not cover a refund that was claimed',
        'claimed refunds are not covered by the balance',
      ],
      { id: 'refunds', tone: 'red', to: '/refunds', search: { status: 'claimable' } },
    ),
    ...waits(
      failing.filter(({ enabled }) => !enabled).length,
      ['A webhook that failed is disabled', 'webhooks that failed are disabled'],
      { id: 'stopped-webhooks', tone: 'red', to: '/webhooks' },
    ),
    ...waits(
      failing.filter(({ enabled }) => enabled).length,
      ['A webhook is failing', 'webhooks are failing'],
      { id: 'failing-webhooks', tone: 'red', to: '/webhooks' },
    ),
    ...waits(
      automaticPayouts.filter(({ enabled, last_error }) => enabled && last_error !== null).length,
      ['An automatic payout could not be made', 'automatic payouts could not be made'],
      { id: 'automatic-payouts', tone: 'red', to: '/automatic-payouts' },
    ),
    ...waits(waitingPayouts, ['A payout waits for approval', 'payouts wait for approval'], {
      id: 'payouts',
      tone: 'yellow',
      to: '/payouts',
      search: { approval: 'waiting' },
    }),
    ...waits(
      openFunds,
      ['Money is in no balance: accept or return it', 'payments are in no balance: accept or return them'],
      { id: 'unresolved', tone: 'yellow', to: '/unresolved', search: { status: 'open' } },
    ),
  ];
}
