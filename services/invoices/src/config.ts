import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { milliseconds, serviceSettings, wholeNumber } from '@quittance/shared/config';
import { z } from 'zod';

export const configSchema = withChains(
  z.object({
    ...serviceSettings,
    ...chainSettings,
    SCAN_EVERY_MS: milliseconds.default(1_000).describe('How often the nodes are asked for new blocks.'),
    SCAN_IDLE_EVERY_MS: milliseconds
      .default(5_000)
      .describe(
        'How often the node of a chain is asked while no invoice on it waits for a payment; never later than an outage begins, nor more often than `SCAN_EVERY_MS`.',
      ),
    LEASE_MS: milliseconds
      .default(5_000)
      .describe('How long after a replica died another replica continues scanning its chain.'),
    ADDRESSES_AHEAD: z.coerce
      .number()
      .int()
      .min(1)
      .max(100_000)
      .default(512)
      .describe(
        'How many unused addresses are kept ready for new invoices, on each chain. Where they are derived from a public key, the most: a replica begins with 32 and keeps more ready as they are taken.',
      ),
    PAGE_STREAMS_MAX: wholeNumber(0, 1_000_000)
      .default(50_000)
      .describe(
        'How many open payment pages each replica tells of changes at once. Further pages reload by themselves instead. Each takes a connection and about 30 kB here, and two connections and about 50 kB in the gateway, so the limits of file descriptors must allow for them. A gateway has one port for each at its end: above 28,000 it needs a wider `net.ipv4.ip_local_port_range` or a second replica of invoices.',
      ),
    TOLERANCE_BPS: z.coerce
      .number()
      .int()
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'How much less than the amount due still makes an invoice paid, in basis points. It allows for exchanges that deduct their fee from the payment. It applies to invoices that are created afterwards, of accounts that have not set their own.',
      ),
  }),
  { xpubs: true },
);

export type InvoicesConfig = z.infer<typeof configSchema>;
