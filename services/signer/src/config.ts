import { isRecoveryPhrase } from '@quittance/chains/keys';
import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { KEY_NAME_FORM, type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { assets, type Chain, chains, isAssetSymbol } from '@quittance/shared/assets';
import { httpUrl, serviceSettings, wholeNumber } from '@quittance/shared/config';
import { parseUnits, type Units } from '@quittance/shared/money';
import { toSecret } from '@quittance/shared/secret';
import { z } from 'zod';
import { type AssetSigningLimits, limitNames, type SigningLimits } from './domain/limits.ts';

/** The signer serves no HTTP, and loads nothing that sends traces: payouts records how long it was asked. */
const {
  HOST: _host,
  PORT: _port,
  PUBLIC_URL: _url,
  GATEWAY_PUBLIC_KEY: _key,
  OTEL_EXPORTER_OTLP_ENDPOINT: _collector,
  OTEL_EXPORTER_OTLP_HEADERS: _headers,
  ...common
} = serviceSettings;

const limitsText = z
  .string()
  .default('{}')
  .transform((text, context): SigningLimits => {
    const problems: string[] = [];
    const limits = readLimits(text, problems);
    for (const message of problems) context.addIssue({ code: 'custom', message });
    return limits;
  })
  .meta({
    format: 'JSON by asset',
    description:
      'The most that is signed for, in whole units as text: `{"ETH":{"per_payout":"10","per_account_24h":"20","per_hour":"30","per_24h":"50","fees_per_24h":"0.5"}}`. Each is optional. `fees_per_24h` is for the native assets of chains: the most that all transactions of 24 hours can cost. Without limits somebody who controls payouts can pay out all that merchants have asked for at once.',
  });

const hotKey = z
  .string()
  .transform((text, context): KmsKeyName => {
    const name = readKeyName(text);
    if (name !== undefined) return name;
    context.addIssue({ code: 'custom', message: KEY_NAME_FORM });
    return z.NEVER;
  })
  .optional()
  .meta({
    format: 'name of a key',
    description:
      'The key of the hot wallet, [in a KMS](keys-in-a-kms.md): `aws-kms:` and the ARN of a key, or `google-kms:` and the version of a key. Without it the key is derived from the recovery phrase.',
  });

const settings = z.object({
  ...common,
  ...chainSettings,
  BITCOIN_HOT_KEY: hotKey,
  ETHEREUM_HOT_KEY: hotKey,
  SOLANA_HOT_KEY: hotKey,
  BASE_HOT_KEY: hotKey,
  POLYGON_HOT_KEY: hotKey,
  GOOGLE_KMS_ENDPOINT: httpUrl.optional().meta({
    format: 'URL',
    description:
      'Where Google Cloud KMS is asked, in place of `https://cloudkms.googleapis.com`. For AWS KMS its own `AWS_ENDPOINT_URL_KMS` does the same.',
  }),
  WALLET_KEYSTORE: z.string().optional().meta({
    format: 'path of a file',
    description:
      'The encrypted recovery phrase, as `quittance wallet init` writes it. All keys of all chains are derived from it: those of the hot wallets, unless `<CHAIN>_HOT_KEY` names one, and those of every deposit address.',
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
  SIGNER_LIMITS: limitsText,
  RECONCILED_WITHIN_SECONDS: wholeNumber(0, 86_400)
    .default(0)
    .describe(
      'A payout is signed for the first time only when the auditor has found its asset right within this time, and its account does not need deposits since then. 0: the auditor is not asked.',
    ),
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

/** `chains` are the chains whose transactions are signed. Each is switched on by its `<CHAIN>_RPC_URL`. */
export const configSchema = withChains(withWallet).superRefine((config, context) => {
  const names = chains.map((chain) => `${chain.toUpperCase()}_RPC_URL`).join(' or ');
  if (config.chains.length === 0) context.addIssue({ code: 'custom', path: [names], message: 'is required' });
});

export type SignerConfig = z.infer<typeof configSchema>;

/** The setting that names the key of a chain's hot wallet. */
export const hotKeySetting = <C extends Chain>(chain: C) =>
  `${chain.toUpperCase() as Uppercase<C>}_HOT_KEY` as const;

const form = z.record(z.string(), z.record(z.string(), z.string()));

function readLimits(text: string, problems: string[]): SigningLimits {
  const parsed = form.safeParse(jsonOf(text));
  if (!parsed.success) {
    problems.push('must be JSON: by asset its limits, each a text such as "0.5"');
    return {};
  }
  const limits: { [asset: string]: AssetSigningLimits } = {};
  for (const [asset, given] of Object.entries(parsed.data)) {
    if (!isAssetSymbol(asset)) {
      problems.push(`knows no asset ${asset}`);
      continue;
    }
    const { decimals, type } = assets[asset];
    const read = Object.entries(given).flatMap(([name, amount]): [string, Units][] => {
      const value = parseUnits(amount, decimals);
      if (!limitNames.some((known) => known === name)) problems.push(`knows no limit ${name} of ${asset}`);
      else if (name === 'fees_per_24h' && type !== 'native')
        problems.push(`fees are not paid in ${asset}: give ${name} for the native asset`);
      else if (!value.ok || value.value < 0n) problems.push(`${name} of ${asset} is no amount of it`);
      else return [[name, value.value]];
      return [];
    });
    limits[asset] = Object.fromEntries(read);
  }
  return limits;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
