import { chainSettings, withChains } from '@quittance/chains/settings';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { z } from 'zod';

/** Nobody's request comes here: there is no gateway to believe, and no link to make. */
const { IDENTITY_SECRET: _secret, PUBLIC_URL: _url, ...settings } = serviceSettings;

const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

/** `chains`: those whose nodes are asked, each switched on by its `<CHAIN>_RPC_URL`; without one the books alone are checked. */
export const configSchema = withChains(
  z.object({
    ...settings,
    ...chainSettings,
    /** How often the books are compared with each other. */
    CHECK_EVERY_MS: milliseconds.default(60_000),
    /** How often they are compared with the chains: each time costs questions to the nodes. */
    CHAINS_EVERY_MS: milliseconds.default(60_000),
    /** Not only what is new, but every row there is. */
    WHOLE_CHECK_EVERY_HOURS: whole(1, 168).default(24),
    /** How far back a whole check looks payouts up in their chains. */
    CHAIN_DAYS: whole(1, 365).default(2),
    /** What is younger may still be on its way from one service to the next. */
    PATIENCE_SECONDS: whole(0, 3_600).default(60),
    /** Development only: Solana's chain is as new as that, and what was before is not on it. */
    SOLANA_BEGAN: z.iso.datetime().optional(),
  }),
);

export type AuditorConfig = z.infer<typeof configSchema>;
