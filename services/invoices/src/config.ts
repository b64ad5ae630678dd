import { checkAddress, depositAddresses } from '@quittance/chains/evm/address';
import { httpUrl, milliseconds, serviceSettings } from '@quittance/shared/config';
import { z } from 'zod';

/** Chains for development, whose nodes make no block while nobody asks for one. */
const DEVELOPMENT_CHAINS = [1_337, 31_337];
const DEVELOPMENT_QUIET_MS = 5_000;

export const configSchema = z
  .object({
    ...serviceSettings,
    ETHEREUM_RPC_URL: httpUrl,
    ETHEREUM_CHAIN_ID: z.coerce.number().int().min(1),
    ETHEREUM_USDC_ADDRESS: z
      .string()
      .refine(
        (text) => checkAddress(text) !== undefined,
        'must be an Ethereum address with a right checksum',
      ),
    /** The account's extended public key, m/44'/60'/0': enough to give out addresses, not to spend. */
    ETHEREUM_XPUB: z.string().check((context) => {
      const problem = problemOf(context.value);
      // Never with the value: it may be a private key given by mistake.
      if (problem !== undefined) context.issues.push({ code: 'custom', input: undefined, message: problem });
    }),
    /** The first block to look at; where the node is at the first start, when not given. */
    ETHEREUM_START_HEIGHT: z.coerce.number().int().min(0).optional(),
    /**
     * Development chains only (5 seconds there): so long after the head was reached, time counts as having
     * passed on a chain that makes no blocks. On a public chain a head that does not move is a node that lags,
     * and nothing expires until it moves again.
     */
    ETHEREUM_QUIET_MS: milliseconds.optional(),
    SCAN_EVERY_MS: milliseconds.default(1_000),
    /** How many addresses are kept ready for new invoices. */
    ADDRESSES_AHEAD: z.coerce.number().int().min(1).max(100_000).default(512),
  })
  .transform((given) => ({
    ...given,
    ETHEREUM_QUIET_MS:
      given.ETHEREUM_QUIET_MS ??
      (DEVELOPMENT_CHAINS.includes(given.ETHEREUM_CHAIN_ID) ? DEVELOPMENT_QUIET_MS : undefined),
  }));

export type InvoicesConfig = z.infer<typeof configSchema>;

function problemOf(xpub: string): string | undefined {
  try {
    depositAddresses(xpub);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
