import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { reason } from '@quittance/shared/logger';
import { Decrypter, Encrypter } from 'age-encryption';
import { CommandError, type Surroundings } from '../surroundings.ts';

/** What encrypts for all of these public keys of age. */
export function encrypterFor(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    // The list of processes would show a private key, and each backup would need it.
    if (recipient.startsWith('AGE-SECRET-KEY-'))
      throw new CommandError('--recipient is the public key, age1…, and not the private one.');
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new CommandError(
        `--recipient ${recipient} is no public key of age: \`age-keygen\` prints one, age1….`,
      );
    }
  }
  return encrypter;
}

/** What decrypts with the private keys of a file that `age-keygen` has written. */
export async function decrypterWith(around: Surroundings, file: string): Promise<Decrypter> {
  const decrypter = new Decrypter();
  const text = await readFile(resolve(around.cwd, file), 'utf8').catch((error: unknown) => {
    throw new CommandError(`The private key cannot be read: ${reason(error)}.`);
  });
  const keys = text.split('\n').map((line) => line.trim());
  const given = keys.filter((line) => line !== '' && !line.startsWith('#'));
  try {
    if (given.length === 0) throw new Error('no key');
    for (const key of given) decrypter.addIdentity(key);
  } catch {
    // Without the reason: it could repeat the key.
    throw new CommandError(
      `${file} has no private key of age: \`age-keygen\` writes such a file, AGE-SECRET-KEY-1….`,
    );
  }
  return decrypter;
}
