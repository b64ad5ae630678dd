import { randomBytes } from 'node:crypto';
import { bitcoinNetworks } from '@quittance/chains/bitcoin/network';
import { depositAddresses as bitcoinAddresses, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { depositAddresses as evmAddresses, openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { isRecoveryPhrase, newRecoveryPhrase } from '@quittance/chains/keys';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { newGatewayKeys, publicKeyOf } from '@quittance/shared/gateway-keys';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import type { Outcome } from './outcome.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

const SETTING = /^([A-Z][A-Z0-9_]*)=(.*)$/;
const SECRET_NAME = /(?:_PASSWORD|^CLAIM_LINKS_SECRET|^WEBHOOK_SECRETS_KEY)$/;
const SECRET_BYTES = 32;
const SIGNING_KEY = 'WEBHOOKS_SIGNING_KEY';
const GATEWAY_KEY = 'GATEWAY_PRIVATE_KEY';
const GATEWAY_PUBLIC_KEYS = 'GATEWAY_PUBLIC_KEY';
const CLAIM_LINKS = 'CLAIM_LINKS_SECRET';
/** Its name in a former release. With another value, repeated requests would be answered without their claim link. */
const FORMER_CLAIM_LINKS = 'IDENTITY_SECRET';
const PHRASE = 'WALLET_SEED';
const BITCOIN_XPUB = 'BITCOIN_XPUB';
const EVM_XPUBS = ['ETHEREUM_XPUB', 'BASE_XPUB', 'POLYGON_XPUB'];
const ADDRESSES = '# The hot wallets of these words, which pay out:';

const PROXIES = 'TRUSTED_PROXIES';
/** What one writes into that setting; whether it is an address the gateway says when it starts. */
const PROXIES_FORM = /^[\w.:/, -]+$/;
const PROXY_QUESTION = `${PROXIES} is empty. Is a proxy or load balancer in front of the gateway? All customers behind one that is not named count as one client.
Say which by --proxy: uniquelocal (on this machine, or in a private network beside it), its addresses or networks such as 203.0.113.7,10.0.0.0/8, or none.
`;

/** As docker-compose.yml has it where none is given. */
const USUAL_NETWORK = 'mainnet';
const networkSchema = z.enum(bitcoinNetworks);

/**
 * A compose .env with what it lacks and can be made: secrets, the words of the wallet, and what is derived from those.
 * What has a value keeps it, and public keys that are not of the words end it: nobody could spend what is paid to them.
 */
export async function initEnv({ input, err }: Surroundings, proxy?: string): Promise<Outcome> {
  const given = await input?.();
  if (given === undefined || given.trim() === '')
    throw new CommandError('Which settings? Give it a file: quittance init < .env.example > .env');
  const lines = given.replaceAll('\r\n', '\n').trimEnd().split('\n');
  const values = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = SETTING.exec(line) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, unquoted(value));
  }

  const wallets = walletsOf(values);
  if (wallets !== undefined) refuseStrangeKeys(values, wallets);
  const made = madeFor(values, wallets);
  if (proxy !== undefined) made.set(PROXIES, proxyFor(values, proxy));
  const filled: string[] = [];
  const text = lines
    .filter((line) => !line.startsWith(ADDRESSES))
    .flatMap((line) => {
      const name = SETTING.exec(line)?.[1];
      const value = name !== undefined && values.get(name) === '' ? made.get(name) : undefined;
      if (name !== undefined && value !== undefined) filled.push(name);
      const settled = value === undefined ? line : `${name}=${value}`;
      return name === PHRASE && wallets !== undefined ? [hotWallets(wallets), settled] : [settled];
    })
    .join('\n');
  err(filled.length === 0 ? 'Nothing was empty that could be filled.\n' : `Filled: ${filled.join(', ')}.\n`);
  if (values.get(PROXIES) === '' && proxy === undefined) err(PROXY_QUESTION);
  return { text: `${text}\n`, json: { filled, env: `${text}\n` } };
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

type Wallets = NonNullable<ReturnType<typeof walletsOf>>;

/** Those of the words in the file, or of new ones; none where it has no place for words. */
function walletsOf(values: ReadonlyMap<string, string>) {
  const given = values.get(PHRASE);
  if (given === undefined) return undefined;
  const phrase = given || newRecoveryPhrase(24);
  // Without them: they are every key.
  if (!isRecoveryPhrase(phrase))
    throw new CommandError(`${PHRASE}: this is not a BIP-39 recovery phrase of 12 or 24 words.`);
  const network = networkSchema.safeParse(values.get('BITCOIN_NETWORK') || USUAL_NETWORK);
  // The keys of another network than is meant would be given out as addresses.
  if (!network.success)
    throw new CommandError(`BITCOIN_NETWORK: must be one of ${bitcoinNetworks.join(', ')}.`);
  return {
    phrase,
    isNew: given === '',
    network: network.data,
    bitcoin: openBitcoinWallet(network.data, phrase),
    evm: openEvmWallet(phrase),
    solana: openSolanaWallet(phrase),
  };
}

/** Throws when a public key in the file is not of these words: its addresses would be given out, and never spent from. */
function refuseStrangeKeys(values: ReadonlyMap<string, string>, wallets: Wallets): void {
  const given = [BITCOIN_XPUB, ...EVM_XPUBS].filter((name) => values.get(name));
  const strange = given.filter((name) => !isOfWords(name, values.get(name) ?? '', wallets));
  if (strange.length === 0) return;
  const names = strange.join(' and ');
  const why = wallets.isNew
    ? `${PHRASE} is empty, and new words cannot be those of ${names}.`
    : `${names}: not of the words in ${PHRASE}, which could not spend what is paid there.`;
  throw new CommandError(
    `${why} Put in the words they are of, or empty these lines and they are filled anew; addresses already given out need the old words.`,
  );
}

/** By the addresses: the same key can be written in more than one way. */
function isOfWords(name: string, xpub: string, { network, bitcoin, evm }: Wallets): boolean {
  try {
    return name === BITCOIN_XPUB
      ? bitcoinAddresses(network, xpub).at(0) === bitcoin.address('deposit', 0)
      : evmAddresses(xpub).at(0) === evm.depositAddress(0);
  } catch (error) {
    throw new CommandError(`${name}: ${reason(error)}`);
  }
}

/** By setting, what it would be if it were empty. */
function madeFor(values: ReadonlyMap<string, string>, wallets: Wallets | undefined): Map<string, string> {
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
  if (wallets === undefined) return made;
  made.set(PHRASE, wallets.phrase);
  made.set(BITCOIN_XPUB, wallets.bitcoin.accountXpub);
  for (const name of EVM_XPUBS) made.set(name, wallets.evm.accountXpub);
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

const hotWallets = ({ bitcoin, evm, solana }: Wallets): string =>
  `${ADDRESSES} Bitcoin ${bitcoin.hotAddress}, Ethereum and its kin ${evm.hotAddress}, Solana ${solana.hotAddress}`;
