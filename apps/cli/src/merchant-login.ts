import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { AuthenticationError, Quittance } from '@quittance/client';
import { z } from 'zod';
import type { SaidOutcome } from './outcome.ts';
import { inLine, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/* Who the merchant is: the URL and the API token that `quittance login` stores. */

const configSchema = z.object({ url: z.string(), token: z.string() });
type Config = z.infer<typeof configSchema>;

const fileOf = ({ env }: Surroundings): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'quittance', 'config.json');

/** QUITTANCE_URL and QUITTANCE_TOKEN, which override what `quittance login` has stored. */
export function merchantConfig(around: Surroundings): Config {
  const { QUITTANCE_URL: url, QUITTANCE_TOKEN: token } = around.env;
  // A token of one installation is never sent to another one.
  if (url && token) return { url, token };
  if (url || token) throw new CommandError('Set both QUITTANCE_URL and QUITTANCE_TOKEN, or neither of them.');
  const file = fileOf(around);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new CommandError(
      'Which account? Run `quittance login` first, or set QUITTANCE_URL and QUITTANCE_TOKEN.',
    );
  }
  try {
    return configSchema.parse(JSON.parse(text));
  } catch {
    throw new CommandError(`${file} is not what \`quittance login\` writes: run it again.`);
  }
}

export const merchantClient = (around: Surroundings): Quittance =>
  new Quittance({ ...merchantConfig(around), userAgent: 'quittance-cli' });

/** Asks for what is not given, tries it, and stores it for the commands of a merchant. */
export async function login(around: Surroundings, given: { url?: string }): Promise<SaidOutcome> {
  const piped = (await around.input?.())?.trim();
  const url = given.url ?? (await around.ask?.('URL of Quittance: ', 'shown'))?.trim();
  const token = piped || (await around.ask?.('API token (it is not shown): ', 'hidden'))?.trim();
  if (!url || !token) throw new CommandError('Give the URL with --url, and the API token on standard input.');
  let client: Quittance;
  try {
    client = new Quittance({ url, token, userAgent: 'quittance-cli' });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
  const assets = await client.assets.list().catch((error: unknown) => {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new CommandError(
      `${inLine(url)} does not take this API token. A token is qt_ and 49 letters and digits; it may have been revoked or have expired.`,
    );
  });
  const file = fileOf(around);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  store(file, `${JSON.stringify({ url, token }, null, 2)}\n`);
  const symbols = assets.map(({ symbol }) => symbol);
  return {
    json: { url, file, assets: symbols },
    text: say`The token is valid at ${url}, with the assets ${symbols.join(', ')}. It is stored in ${file}.\n`,
  };
}

/** Replaces a file by one that its owner alone can read, at every moment: a file that is there already may be open to others. */
function store(file: string, text: string): void {
  const replacement = `${file}.${randomUUID()}`;
  try {
    writeFileSync(replacement, text, { mode: 0o600, flag: 'wx' });
    renameSync(replacement, file);
  } finally {
    rmSync(replacement, { force: true });
  }
}
