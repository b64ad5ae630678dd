import type { PayoutPolicy } from '@quittance/client';

/** The limits of an asset as texts of a form: an empty one is none. */
export type LimitValues = {
  asset: string;
  per_payout: string;
  per_24h: string;
  approval_above: string;
  approvals: string;
};
export type PolicyValues = { allow_list: boolean; delay_hours: number | string; limits: LimitValues[] };

type Limits = { asset: string } & Partial<Omit<PayoutPolicy['limits'][number], 'asset'>>;

export const limitsOf = ({ asset, per_payout, per_24h, approval_above, approvals }: Limits): LimitValues => ({
  asset,
  per_payout: per_payout ?? '',
  per_24h: per_24h ?? '',
  approval_above: approval_above ?? '',
  approvals: String(approvals ?? 1),
});

/** What is sent. Amounts stay texts; without a threshold of approvals there is no number of them. */
export const policyFrom = ({ allow_list, delay_hours, limits }: PolicyValues) => ({
  allow_list,
  delay_hours,
  limits: limits.map((limit) => {
    const above = given(limit.approval_above);
    return {
      asset: limit.asset,
      per_payout: given(limit.per_payout),
      per_24h: given(limit.per_24h),
      approval_above: above,
      approvals: above === null ? null : limit.approvals === '2' ? 2 : 1,
    };
  }),
});

const given = (text: string): string | null => (text.trim() === '' ? null : text.trim());
