import type { AccountId } from '@quittance/shared/ids';
import { namelessShop, type Shop } from '@quittance/shared/shop-page';
import type { Ports } from '../ports.ts';

/**
 * Asks invoices what the pages of an account show. Without an answer a claim is paid all the same, on a page without name and
 * logo. No page of a claim is ever shown in a frame: its button moves money.
 */
export async function describeShop(
  { bus, throttledLog }: Pick<Ports, 'bus' | 'throttledLog'>,
  account: AccountId,
): Promise<Shop> {
  const asked = await bus.ask('shop.describe', { account_id: account });
  if (asked.known) return { ...asked.reply, frameAncestors: [] };
  throttledLog.log(
    'warn',
    'shop',
    { reason: asked.reason },
    'claim links are shown without the name of the shop',
  );
  return namelessShop;
}
