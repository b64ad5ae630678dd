import { checkAddress } from '@quittance/chains/evm/address';
import { isWalletPhrase } from '@quittance/chains/evm/wallet';
import { httpUrl, milliseconds, serviceSettings } from '@quittance/shared/config';
import { z } from 'zod';

export const configSchema = z.object({
  ...serviceSettings,
  ETHEREUM_RPC_URL: httpUrl,
  ETHEREUM_CHAIN_ID: z.coerce.number().int().min(1),
  ETHEREUM_USDC_ADDRESS: z
    .string()
    .refine((text) => checkAddress(text) !== undefined, 'must be an Ethereum address with a right checksum'),
  /** The words that every key derives from: the hot wallet's and those of all deposit addresses. Never printed. */
  WALLET_SEED: z.string().refine(isWalletPhrase, 'must be the words of a BIP-39 wallet'),
  ENGINE_EVERY_MS: milliseconds.default(1_000),
});

export type PayoutsConfig = z.infer<typeof configSchema>;
