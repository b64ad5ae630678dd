import { isRecoveryPhrase } from '@quittance/chains/keys';
import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { chains } from '@quittance/shared/assets';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';

const settings = z.object({
  ...serviceSettings,
  ...chainSettings,
  WALLET_KEYSTORE: z.string().optional().meta({
    format: 'path of a file',
    description:
      'The encrypted recovery phrase, as `quittance wallet init` writes it. All keys of all chains are derived from it: those of the hot wallets and those of every deposit address.',
  }),
  WALLET_PASSPHRASE_FILE: z.string().optional().meta({
    format: 'path of a file',
    description: 'The passphrase of the keystore. Required with `WALLET_KEYSTORE`.',
  }),
  WALLET_SEED: z
    .string()
    .refine(isRecoveryPhrase, 'must be a BIP-39 recovery phrase')
    .transform(toSecret)
    .optional()
    .meta({
      format: '12 or 24 words, secret',
      description: 'In place of a keystore, for tests and former installations: the recovery phrase itself.',
    }),
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

/** Where the recovery phrase comes from: one place, so that no other wallet than the meant one can be opened. */
const withWallet = settings.superRefine(
  ({ WALLET_KEYSTORE, WALLET_PASSPHRASE_FILE, WALLET_SEED }, context) => {
    const complain = (name: keyof typeof settings.shape, message: string) =>
      context.addIssue({ code: 'custom', input: undefined, path: [name], message });
    if (WALLET_KEYSTORE !== undefined && WALLET_SEED !== undefined)
      complain('WALLET_SEED', 'is given beside WALLET_KEYSTORE: remove it when the keystore holds its words');
    else if (WALLET_KEYSTORE !== undefined && WALLET_PASSPHRASE_FILE === undefined)
      complain('WALLET_PASSPHRASE_FILE', 'is required with WALLET_KEYSTORE');
    else if (WALLET_KEYSTORE === undefined && WALLET_PASSPHRASE_FILE !== undefined)
      complain('WALLET_KEYSTORE', 'is required with WALLET_PASSPHRASE_FILE');
    else if (WALLET_KEYSTORE === undefined && WALLET_SEED === undefined)
      complain(
        'WALLET_KEYSTORE',
        'is required, with WALLET_PASSPHRASE_FILE: `quittance wallet init` makes both',
      );
  },
  // Also when other settings are wrong.
  { when: () => true },
);

/** `chains` are the chains on which payouts are sent. Each is switched on by its `<CHAIN>_RPC_URL`. */
export const configSchema = withChains(withWallet).superRefine((config, context) => {
  const names = chains.map((chain) => `${chain.toUpperCase()}_RPC_URL`).join(' or ');
  if (config.chains.length === 0) context.addIssue({ code: 'custom', path: [names], message: 'is required' });
});

export type PayoutsConfig = z.infer<typeof configSchema>;
