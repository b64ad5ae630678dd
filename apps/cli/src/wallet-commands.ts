import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRecoveryPhrase, newRecoveryPhrase, normalizedPhrase } from '@quittance/chains/keys';
import { encryptPhrase, openKeystore, readPassphrase, writeSecretFile } from '@quittance/chains/keystore';
import { reason } from '@quittance/shared/logger';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { USUAL_KEYSTORE, USUAL_PASSPHRASE_FILE } from './wallet-files.ts';
import { KEYSTORE, PASSPHRASE_FILE, walletFile, walletKeysOf } from './wallet-keys.ts';

const PASSPHRASE_BYTES = 32;
/** Of a passphrase that a person makes up; one in a file is whatever the file has. */
const PASSPHRASE_LENGTH_MIN = 12;
const WORDS = 24;
const WORDS_IN_LINE = 4;
const WORD_WIDTH = 13;
const STANDARD_INPUT = '-';

export type WalletOptions = { keystore?: string; passphraseFile?: string; askPassphrase?: boolean };
export type WalletInitOptions = WalletOptions & { phraseFile?: string; restore?: boolean };

/**
 * Writes a keystore, of a new recovery phrase or of one that the operator has, and a passphrase file when there is none.
 * A new phrase is shown once, on a terminal alone.
 */
export async function walletInit(around: Surroundings, options: WalletInitOptions): Promise<SaidOutcome> {
  const { keystore, passphraseFile } = filesOf(around, options);
  if (existsSync(keystore.path))
    throw new CommandError(
      `There is a keystore at ${keystore.name}. It is not overwritten: give --keystore.`,
    );
  const show = around.showSecret;
  const own = await ownPhrase(around, options);
  if (own === undefined && show === undefined)
    throw new CommandError(
      'A new recovery phrase is shown on a terminal alone. Run this in one (with Docker: --interactive --tty), or give a phrase by --phrase-file.',
    );
  const phrase = own ?? newRecoveryPhrase(WORDS);
  const known = await passphraseOf(around, passphraseFile, options, 'new');
  const passphrase = known ?? randomBytes(PASSPHRASE_BYTES).toString('hex');
  written(passphraseFile.name, () => {
    mkdirSync(dirname(keystore.path), { recursive: true, mode: 0o700 });
    if (known === undefined) writeSecretFile(passphraseFile.path, `${passphrase}\n`);
  });
  const encrypted = encryptPhrase(phrase, passphrase, around.keystoreCost);
  written(keystore.name, () => writeSecretFile(keystore.path, encrypted));
  // What was written is what is kept, so that is what is read and shown.
  const kept = openKeystore(keystore.path, passphrase).reveal();
  if (own === undefined) show?.(`${inColumns(kept)}\n`);
  const made = known === undefined ? say`, and its passphrase to ${passphraseFile.name}` : say``;
  const next =
    own === undefined
      ? say`Write the ${WORDS} words above on paper, keep it offline, and compare it: quittance wallet backup-check\nThey are not shown again. Without them, or with a copy in wrong hands, the money is lost.\n`
      : say`Keep the paper with its words offline. Compare it: quittance wallet backup-check\n`;
  return {
    text: say`The recovery phrase is encrypted to ${keystore.name}${made}.\n${next}`,
    json: { keystore: keystore.name, passphrase_file: known === undefined ? passphraseFile.name : null },
  };
}

/** The settings of invoices and payouts that come from the wallet. */
export async function walletShowXpub(around: Surroundings, options: WalletOptions): Promise<SaidOutcome> {
  const { xpubs, hotAddresses } = walletKeysOf(await opened(around, options), around.env['BITCOIN_NETWORK']);
  const lines = [...xpubs, ...hotAddresses].map(([name, value]) => say`${name}=${value}\n`);
  return {
    text: say`${lines}`,
    json: { xpubs: Object.fromEntries(xpubs), hot_addresses: Object.fromEntries(hotAddresses) },
  };
}

/** Whether the words that the operator has written down are those of the keystore. Prints none. */
export async function walletBackupCheck(around: Surroundings, options: WalletOptions): Promise<SaidOutcome> {
  const kept = await opened(around, options);
  const typed = await around.ask?.('The words on your paper, in order (not shown): ', 'hidden');
  if (typed === undefined)
    throw new CommandError(
      'The words are typed on a terminal. Run this in one (with Docker: --interactive --tty).',
    );
  const matches = normalizedPhrase(typed.toLowerCase()) === kept;
  const counts = [normalizedPhrase(typed), kept].map((phrase) => phrase.split(' ').length);
  const why =
    counts[0] === counts[1]
      ? say`Look for a word that is misspelt or in another place.`
      : say`The keystore has ${counts[1] ?? 0} words, ${counts[0] ?? 0} were typed.`;
  return {
    text: matches
      ? say`The paper is right: these are the words of the keystore.\n`
      : say`The paper is WRONG: these are not the words of the keystore. ${why}\n`,
    json: { matches },
    bad: !matches,
  };
}

type WalletFile = { name: string; path: string };

function filesOf(
  around: Surroundings,
  given: WalletOptions,
): Record<'keystore' | 'passphraseFile', WalletFile> {
  const file = (name: string) => ({ name, path: walletFile(around, name) });
  return {
    keystore: file(given.keystore || around.env[KEYSTORE] || USUAL_KEYSTORE),
    passphraseFile: file(given.passphraseFile || around.env[PASSPHRASE_FILE] || USUAL_PASSPHRASE_FILE),
  };
}

async function opened(around: Surroundings, options: WalletOptions): Promise<string> {
  const { keystore, passphraseFile } = filesOf(around, options);
  if (!existsSync(keystore.path))
    throw new CommandError(
      `There is no keystore at ${keystore.name}: give --keystore, or make one by \`wallet init\`.`,
    );
  const passphrase = await passphraseOf(around, passphraseFile, options, 'known');
  if (passphrase === undefined)
    throw new CommandError(
      `There is no passphrase at ${passphraseFile.name}: give --passphrase-file, or type it.`,
    );
  try {
    return openKeystore(keystore.path, passphrase).reveal();
  } catch (error) {
    throw new CommandError(`The keystore does not open: ${reason(error)}.`);
  }
}

/** From its file, else typed by the operator. Undefined where there is neither, and where a new one is to be made. */
async function passphraseOf(
  around: Surroundings,
  file: WalletFile,
  { askPassphrase = false }: WalletOptions,
  kind: 'new' | 'known',
): Promise<string | undefined> {
  if (!askPassphrase && existsSync(file.path)) return readPassphrase(file.path);
  if (!askPassphrase && kind === 'new') return undefined;
  const typed = await around.ask?.('Passphrase of the keystore (not shown): ', 'hidden');
  if (typed === undefined || kind === 'known') return typed;
  if (typed.length < PASSPHRASE_LENGTH_MIN)
    throw new CommandError(`The passphrase must have at least ${PASSPHRASE_LENGTH_MIN} characters.`);
  if ((await around.ask?.('The same again: ', 'hidden')) !== typed)
    throw new CommandError('The two passphrases differ.');
  return typed;
}

/** Never from an argument, which other users of the machine can read. */
async function ownPhrase(
  around: Surroundings,
  { phraseFile, restore = false }: WalletInitOptions,
): Promise<string | undefined> {
  if (phraseFile === undefined && !restore) return undefined;
  const given = await (restore
    ? around.ask?.('Your recovery phrase (not shown): ', 'hidden')
    : phraseFile === STANDARD_INPUT
      ? around.input?.()
      : readFileSync(walletFile(around, phraseFile ?? ''), 'utf8'));
  if (given === undefined)
    throw new CommandError(
      restore ? '--restore asks for the words on a terminal.' : 'Standard input is empty.',
    );
  const phrase = normalizedPhrase(given.toLowerCase());
  // Without them: they are every key.
  if (!isRecoveryPhrase(phrase))
    throw new CommandError('This is not a BIP-39 recovery phrase of 12 or 24 words.');
  return phrase;
}

function written(name: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new CommandError(`${name} cannot be written: ${reason(error)}.`);
  }
}

/** Numbered, some in a line. */
function inColumns(phrase: string): string {
  const words = phrase.split(' ').map((word, i) => `${i + 1}. ${word}`.padEnd(WORD_WIDTH));
  const lines = Array.from({ length: Math.ceil(words.length / WORDS_IN_LINE) }, (_, line) =>
    words.slice(line * WORDS_IN_LINE, (line + 1) * WORDS_IN_LINE).join(''),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}
