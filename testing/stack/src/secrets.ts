import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newRecoveryPhrase } from '@quittance/chains/keys';
import type { BusUser } from '@quittance/shared/bus-connection';
import { busUsers } from '@quittance/shared/bus-permissions';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { z } from 'zod';

const newSecret = (): string => randomBytes(32).toString('hex');
const newSigningKey = (): string => `whsk_${randomBytes(32).toString('base64')}`;

const schema = z.object({
  /** The words every key of the sandbox's wallet comes from. */
  walletSeed: z.string(),
  webhookSecretsKey: z.string(),
  /** A sandbox of a former release has none of these. */
  gatewayPrivateKey: z.string().default(() => newGatewayKeys().privateKey),
  claimLinksSecret: z.string().default(newSecret),
  webhooksSigningKey: z.string().default(newSigningKey),
  databasePassword: z.string(),
  /** By NATS user. */
  busPasswords: z.record(z.string(), z.string()).default({}),
});
type Stored = z.infer<typeof schema>;
export type Secrets = Omit<Stored, 'busPasswords'> & { busPasswords: Record<BusUser, string> };

/** The sandbox's own secrets: made at the first start, kept beside its data, readable by its owner only. */
export function sandboxSecrets(dir: string): Secrets {
  const path = join(dir, 'secrets.json');
  const secrets = existsSync(path)
    ? completed(schema.parse(JSON.parse(readFileSync(path, 'utf8'))))
    : newSecrets();
  writeFileSync(path, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}

/** For a stack that keeps nothing. */
const newSecrets = (): Secrets =>
  completed({
    walletSeed: newRecoveryPhrase(12),
    gatewayPrivateKey: newGatewayKeys().privateKey,
    claimLinksSecret: newSecret(),
    webhookSecretsKey: newSecret(),
    webhooksSigningKey: newSigningKey(),
    databasePassword: randomBytes(24).toString('hex'),
    busPasswords: {},
  });

/** A newer version may know NATS users that the file does not. */
function completed(stored: Stored): Secrets {
  const passwords = busUsers.map((user) => [
    user,
    stored.busPasswords[user] ?? randomBytes(24).toString('hex'),
  ]);
  return { ...stored, busPasswords: Object.fromEntries(passwords) as Record<BusUser, string> };
}
