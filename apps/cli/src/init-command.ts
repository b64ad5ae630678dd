import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isRecoveryPhrase } from '@quittance/chains/keys';
import { openKeystore, readPassphrase } from '@quittance/chains/keystore';
import { newGatewayKeys, publicKeyOf } from '@quittance/shared/gateway-keys';
import { reason } from '@quittance/shared/logger';
import type { Outcome } from './outcome.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { USUAL_KEYSTORE, USUAL_PASSPHRASE_FILE } from './wallet-files.ts';
import {
  KEYSTORE,
  PASSPHRASE_FILE,
  strangeTo,
  type WalletKeys,
  walletFile,
  walletKeysOf,
} from './wallet-keys.ts';

const SETTING = /^([A-Z][A-Z0-9_]*)=(.*)$/;
const SECRET_NAME = /(?:_PASSWORD|^CLAIM_LINKS_SECRET|^WEBHOOK_SECRETS_KEY|^TOTP_SECRETS_KEY)$/;
const SECRET_BYTES = 32;
const SIGNING_KEY = 'WEBHOOKS_SIGNING_KEY';
const GATEWAY_KEY = 'GATEWAY_PRIVATE_KEY';
const GATEWAY_PUBLIC_KEYS = 'GATEWAY_PUBLIC_KEY';
const CLAIM_LINKS = 'CLAIM_LINKS_SECRET';
/** Its name in a former release. With another value, repeated requests would be answered without their claim link. */
const FORMER_CLAIM_LINKS = 'IDENTITY_SECRET';
const PHRASE = 'WALLET_SEED';
/** What former releases wrote of the hot wallets, whose addresses are settings now. */
const FORMER_ADDRESSES = /^# The hot wallets of (?:the recovery phrase|these words), which pay out:/;

const PROXIES = 'TRUSTED_PROXIES';
/** What one writes into that setting; whether it is an address the gateway says when it starts. */
const PROXIES_FORM = /^[\w.:/, -]+$/;
const PROXY_QUESTION = `${PROXIES} is empty. Is a proxy or load balancer in front of the gateway? All customers behind one that is not named count as one client.
Say which by --proxy: uniquelocal (on this machine, or in a private network beside it), its addresses or networks such as 203.0.113.7,10.0.0.0/8, or none.
`;

/**
 * A compose .env with what it lacks and can be made: secrets, where the keystore is, and what is derived from its recovery
 * phrase. What has a value keeps it, and public keys of another phrase end it: nobody could spend what is paid to them.
 */
export async function initEnv({ input, err, cwd }: Surroundings, proxy?: string): Promise<Outcome> {
  const given = await input?.();
  if (given === undefined || given.trim() === '')
    throw new CommandError('Which settings? Give it a file: quittance init < .env.example > .env');
  const lines = given.replaceAll('\r\n', '\n').trimEnd().split('\n');
  const values = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = SETTING.exec(line) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, unquoted(value));
  }

  const phrase = phraseFor(values, cwd);
  const wallet = phrase && withoutKms(walletKeysOf(phrase.text, values.get('BITCOIN_NETWORK')), values);
  if (wallet !== undefined) refuseStrangeKeys(values, wallet, phrase?.from ?? '');
  const made = madeFor(values, wallet);
  if (proxy !== undefined) made.set(PROXIES, proxyFor(values, proxy));
  const filled: string[] = [];
  const text = lines
    .filter((line) => !FORMER_ADDRESSES.test(line))
    .map((line) => {
      const name = SETTING.exec(line)?.[1];
      const value = name !== undefined && values.get(name) === '' ? made.get(name) : undefined;
      if (name !== undefined && value !== undefined) filled.push(name);
      return value === undefined ? line : `${name}=${value}`;
    })
    .join('\n');
  err(filled.length === 0 ? 'Nothing was empty that could be filled.\n' : `Filled: ${filled.join(', ')}.\n`);
  if (values.get(PROXIES) === '' && proxy === undefined) err(PROXY_QUESTION);
  return { text: `${text}\n`, json: { filled, env: `${text}\n` } };
}

/** Without the hot wallets whose keys are in a KMS: their addresses are not of the phrase. */
function withoutKms(wallet: WalletKeys, values: ReadonlyMap<string, string>): WalletKeys {
  const hotAddresses = [...wallet.hotAddresses].filter(
    ([name]) => !values.get(name.replace('_HOT_ADDRESS', '_HOT_KEY')),
  );
  return { ...wallet, hotAddresses: new Map(hotAddresses) };
}

/** What was said on the command line is not dropped in silence. */
function proxyFor(values: ReadonlyMap<string, string>, proxy: string): string {
  const given = values.get(PROXIES);
  if (!PROXIES_FORM.test(proxy))
    throw new CommandError(
      '--proxy: must be addresses or networks, such as 10.0.0.0/8, uniquelocal, or none.',
    );
  if (given === undefined) throw new CommandError(`--proxy: the file has no line ${PROXIES}= to put it in.`);
  if (given !== '' && given !== proxy)
    throw new CommandError(`--proxy: ${PROXIES} is ${given} already. Change it in the file.`);
  return proxy;
}

const unquoted = (value: string): string => value.trim().replace(/^(["'])(.*)\1$/, '$2');

/** The setting that the recovery phrase comes from. */
type Phrase = { from: string; text: string };

/** Of the keystore that the file names, or the words in a former one; undefined where it has no place for either. */
function phraseFor(values: ReadonlyMap<string, string>, cwd: string): Phrase | undefined {
  const words = values.get(PHRASE);
  if (words && values.get(KEYSTORE))
    throw new CommandError(
      `${PHRASE} and ${KEYSTORE}: remove ${PHRASE} when the keystore holds its words, otherwise empty ${KEYSTORE} and ${PASSPHRASE_FILE}.`,
    );
  if (words) {
    // Without them: they are every key.
    if (!isRecoveryPhrase(words))
      throw new CommandError(`${PHRASE}: this is not a BIP-39 recovery phrase of 12 or 24 words.`);
    return { from: PHRASE, text: words };
  }
  if (!values.has(KEYSTORE)) {
    if (words === undefined) return undefined;
    throw new CommandError(
      `${PHRASE} is empty and no longer filled: a keystore is in its place. Take the lines ${KEYSTORE}= and ${PASSPHRASE_FILE}= from .env.example.`,
    );
  }
  const keystore = values.get(KEYSTORE) || USUAL_KEYSTORE;
  const passphraseFile = values.get(PASSPHRASE_FILE) || USUAL_PASSPHRASE_FILE;
  const [path, passphrasePath] = [walletFile({ cwd }, keystore), walletFile({ cwd }, passphraseFile)];
  for (const [name, file, at] of [
    [KEYSTORE, keystore, path],
    [PASSPHRASE_FILE, passphraseFile, passphrasePath],
  ] as const)
    if (!existsSync(at))
      throw new CommandError(
        `${name}: there is no file ${file}. \`quittance wallet init\` makes it, run that first.`,
      );
  try {
    return { from: KEYSTORE, text: openKeystore(path, readPassphrase(passphrasePath)).reveal() };
  } catch (error) {
    throw new CommandError(`${KEYSTORE}: ${reason(error)}.`);
  }
}

/**
 * Throws when a public key or a hot wallet in the file is of another phrase: the addresses of that key would be given out, and
 * never spent from; and nothing would be signed for that hot wallet.
 */
function refuseStrangeKeys(values: ReadonlyMap<string, string>, wallet: WalletKeys, from: string): void {
  const strange = strangeTo(wallet, values);
  if (strange.length === 0) return;
  throw new CommandError(
    `${strange.join(' and ')}: not of the recovery phrase in ${from}, which could not spend what is paid there. Give the phrase they are of, or empty these lines and they are filled anew; addresses already given out need the old phrase.`,
  );
}

/** By setting, what it would be if it were empty. */
function madeFor(values: ReadonlyMap<string, string>, wallet: WalletKeys | undefined): Map<string, string> {
  const made = new Map<string, string>();
  for (const name of values.keys()) {
    if (SECRET_NAME.test(name)) made.set(name, randomBytes(SECRET_BYTES).toString('hex'));
  }
  const ofClaimLinks = values.get(FORMER_CLAIM_LINKS);
  if (ofClaimLinks) made.set(CLAIM_LINKS, ofClaimLinks);
  const { privateKey, publicKey } = gatewayKeysFor(values);
  made.set(GATEWAY_KEY, privateKey);
  made.set(GATEWAY_PUBLIC_KEYS, publicKey);
  made.set(SIGNING_KEY, `whsk_${randomBytes(SECRET_BYTES).toString('base64')}`);
  if (!values.get(PHRASE)) {
    made.set(KEYSTORE, USUAL_KEYSTORE);
    made.set(PASSPHRASE_FILE, USUAL_PASSPHRASE_FILE);
  }
  for (const [name, value] of [...(wallet?.xpubs ?? []), ...(wallet?.hotAddresses ?? [])])
    made.set(name, value);
  return made;
}

/** The keys in the file, or new ones. Throws when the services would not know the gateway by them. */
function gatewayKeysFor(values: ReadonlyMap<string, string>): { privateKey: string; publicKey: string } {
  const [privateKey, known] = [values.get(GATEWAY_KEY) ?? '', values.get(GATEWAY_PUBLIC_KEYS) ?? ''];
  if (privateKey === '' && known === '') return newGatewayKeys();
  if (privateKey === '')
    throw new CommandError(
      `${GATEWAY_KEY} is empty, and a new key cannot be that of ${GATEWAY_PUBLIC_KEYS}. Put in the key, or empty both lines and they are filled anew.`,
    );
  const publicKey = publicKeyOf(privateKey);
  if (publicKey === undefined)
    throw new CommandError(`${GATEWAY_KEY}: must be gwsk_ and 32 bytes in base64url.`);
  if (known !== '' && !known.split(',').some((key) => key.trim() === publicKey))
    throw new CommandError(
      `${GATEWAY_PUBLIC_KEYS}: has not the public key of ${GATEWAY_KEY}, so the services would refuse every request. Add ${publicKey}, or empty the line and it is filled anew.`,
    );
  return { privateKey, publicKey };
}
