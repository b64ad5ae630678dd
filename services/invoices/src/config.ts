import { chainSettings, withChains } from '@quittance/chains/settings';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { z } from 'zod';

export const configSchema = withChains(
  z.object({
    ...serviceSettings,
    ...chainSettings,
    SCAN_EVERY_MS: milliseconds.default(1_000),
    /** A process that died is followed by another one after this long. */
    LEASE_MS: milliseconds.default(5_000),
    /** How many addresses are kept ready for new invoices, on each chain. */
    ADDRESSES_AHEAD: z.coerce.number().int().min(1).max(100_000).default(512),
    /**
     * How much less than its amount due still makes an invoice paid, in basis points: exchanges that take their fee
     * out of what is sent. New invoices keep what is set when they are made.
     */
    TOLERANCE_BPS: z.coerce.number().int().min(0).max(1_000).default(0),
  }),
  { xpubs: true },
);

export type InvoicesConfig = z.infer<typeof configSchema>;
