import { formatFiat } from '@quittance/shared/money';
import { type CountedLink, linkStatusOf } from './domain/payment-link.ts';
import { ALL } from './operations/offered-assets.ts';
import type { Settings } from './ports.ts';
import { iso } from './views.ts';

const fiat = (amount: CountedLink['amountFiat']): string | null =>
  amount === null ? null : formatFiat(amount);

/** A payment link of the API. */
export const linkView = (link: CountedLink, { publicUrl }: Pick<Settings, 'publicUrl'>, now: Date) => ({
  id: link.id,
  url: `${publicUrl}/link/${link.id}`,
  status: linkStatusOf(link, now),
  description: link.description,
  metadata: link.metadata,
  amount_fiat: fiat(link.amountFiat),
  amount_min: fiat(link.amountMin),
  amount_max: fiat(link.amountMax),
  currency: link.currency,
  asset: link.asset,
  assets: link.asset === null ? (link.assets ?? ALL) : null,
  expires_in: link.expiresIn,
  succeed_url: link.succeedUrl,
  timeout_url: link.timeoutUrl,
  valid_until: iso(link.validUntil),
  max_open: link.maxOpen,
  open_invoices: link.openInvoices,
  created_at: link.createdAt.toISOString(),
  deactivated_at: iso(link.deactivatedAt),
});
