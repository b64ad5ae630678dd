import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { AccountId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';

/** Tells payouts what the pages of claim links show of the shop. */
export async function describeShop(
  { shopOf }: Pick<Ports, 'shopOf'>,
  { account_id }: RequestOf<'shop.describe'>,
): Promise<ReplyOf<'shop.describe'>> {
  const { name, logo, language } = await shopOf(account_id as AccountId);
  return { name, logo, language };
}
