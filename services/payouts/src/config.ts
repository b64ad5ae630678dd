import { chainSettings, withChains } from '@quittance/chains/settings';
import { isWalletPhrase } from '@quittance/chains/wallet-phrase';
import { chains } from '@quittance/shared/assets';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';

/** `chains`: those that payouts leave on, each switched on by its `<CHAIN>_RPC_URL`. */
export const configSchema = withChains(
  z.object({
    ...serviceSettings,
    ...chainSettings,
    /** The words that every key derives from: the hot wallets' and those of all deposit addresses. Never printed. */
    WALLET_SEED: z
      .string()
      .refine(isWalletPhrase, 'must be the words of a BIP-39 wallet')
      .transform(toSecret),
    ENGINE_EVERY_MS: milliseconds.default(1_000),
    /** A process that died is followed by another one after this long. */
    LEASE_MS: milliseconds.default(5_000),
  }),
).superRefine((config, context) => {
  const names = chains.map((chain) => `${chain.toUpperCase()}_RPC_URL`).join(' or ');
  if (config.chains.length === 0) context.addIssue({ code: 'custom', path: [names], message: 'is required' });
});

export type PayoutsConfig = z.infer<typeof configSchema>;
