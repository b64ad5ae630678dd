import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { z } from 'zod';

const schema = z.object({
  /** The words every key of the sandbox's wallet comes from. */
  walletSeed: z.string(),
  identitySecret: z.string(),
  webhookSecretsKey: z.string(),
  databasePassword: z.string(),
});
export type Secrets = z.infer<typeof schema>;

/** The sandbox's own secrets: made at the first start, kept beside its data, readable by its owner only. */
export function sandboxSecrets(dir: string): Secrets {
  const path = join(dir, 'secrets.json');
  if (existsSync(path)) return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const secrets: Secrets = {
    walletSeed: generateMnemonic(wordlist),
    identitySecret: randomBytes(32).toString('hex'),
    webhookSecretsKey: randomBytes(32).toString('hex'),
    databasePassword: randomBytes(24).toString('hex'),
  };
  writeFileSync(path, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}
