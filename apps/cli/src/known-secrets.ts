import { readFileSync } from 'node:fs';
import { openKeystore, readPassphrase } from '@quittance/chains/keystore';
import { reason } from '@quittance/shared/logger';
import { findOperator, type Where } from './operator-file.ts';
import { CommandError } from './surroundings.ts';
import { KEYSTORE, PASSPHRASE_FILE, walletFile } from './wallet-keys.ts';

const NODE_URL = '_RPC_URL';
/** Shorter parts of a path are words. */
const KEY_LENGTH_MIN = 16;
const SECRET_NAME = /(?:SECRET|PASSWORD|SEED|(?<!PUBLIC_)KEY(?!STORE)|TOKEN)/i;

/** What no log may hold: settings that are secrets, passwords within URLs, and what the sandbox made for itself. */
export function knownSecrets(where: Where): Record<string, string> {
  const secrets: Record<string, string> = {};
  const operator = findOperator(where);
  if (operator?.secretsFile !== undefined) {
    for (const [name, value] of textsIn(JSON.parse(readFileSync(operator.secretsFile, 'utf8')))) {
      secrets[name] = value;
    }
  }
  const sandbox = { adminDatabaseUrl: operator?.adminDatabaseUrl, ...operator?.chains };
  for (const [name, value] of Object.entries({ ...sandbox, ...where.env })) {
    if (value === undefined || value === '') continue;
    if (SECRET_NAME.test(name)) secrets[name] = value;
    const urls = value.split(',').filter((url) => URL.canParse(url));
    const inUrls = {
      password: urls.map((url) => decodeURIComponent(new URL(url).password)).filter(Boolean),
      key: name.endsWith(NODE_URL) ? urls.flatMap(keysIn) : [],
    };
    for (const [what, found] of Object.entries(inUrls)) {
      for (const [i, secret] of found.entries()) secrets[`${what} ${i + 1} in ${name}`] = secret;
    }
  }
  return { ...secrets, ...secretsOfWallet(where) };
}

/** The recovery phrase and the passphrase of the keystore that the settings name. */
function secretsOfWallet({ env, cwd }: Where): Record<string, string> {
  const [keystore, passphraseFile] = [env[KEYSTORE], env[PASSPHRASE_FILE]];
  if (!keystore || !passphraseFile) return {};
  try {
    const passphrase = readPassphrase(walletFile({ cwd }, passphraseFile));
    const phrase = openKeystore(walletFile({ cwd }, keystore), passphrase).reveal();
    return { [`the recovery phrase in ${KEYSTORE}`]: phrase, [PASSPHRASE_FILE]: passphrase };
  } catch (error) {
    // Logs that were searched for less than they should would count as right.
    throw new CommandError(`${KEYSTORE}: ${reason(error)}.`);
  }
}

/** What in a node's URL may be the key of an account: providers put it into the path or the query. */
function keysIn(url: string): string[] {
  const { pathname, searchParams } = new URL(url);
  return [...pathname.split('/'), ...searchParams.values()].filter(({ length }) => length >= KEY_LENGTH_MIN);
}

/** Every text in a value, however deep, by the name it stands under. */
function textsIn(value: unknown, name = 'secret'): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    textsIn(inner, name === 'secret' ? key : `${name}.${key}`),
  );
}
