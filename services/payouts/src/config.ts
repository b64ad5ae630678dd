import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { chains } from '@quittance/shared/assets';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';

const settings = z.object({
  ...serviceSettings,
  ...chainSettings,
  CLAIM_LINKS_SECRET: z.string().min(32, 'must have at least 32 characters').transform(toSecret).meta({
    format: 'string, secret',
    description:
      'The tokens of claim links are derived from it. When it changes, links that were sent stay valid, and a repeated request is answered without its link.',
  }),
  PAYOUTS_EVERY_MS: milliseconds
    .default(1_000)
    .describe(
      'How often pending payouts are processed. Only the replica that leads a chain asks its node, and while no payout is pending only every fifteenth time.',
    ),
  LEASE_MS: milliseconds
    .default(5_000)
    .describe('How long after a replica died another replica takes over the payouts of its chains.'),
});

/** `chains` are the chains on which payouts are sent. Each is switched on by its `<CHAIN>_RPC_URL`. */
export const configSchema = withChains(settings, { hotAddresses: true }).superRefine((config, context) => {
  const names = chains.map((chain) => `${chain.toUpperCase()}_RPC_URL`).join(' or ');
  if (config.chains.length === 0) context.addIssue({ code: 'custom', path: [names], message: 'is required' });
});

export type PayoutsConfig = z.infer<typeof configSchema>;
