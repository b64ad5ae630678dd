import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { HDKey } from '@scure/bip32';
import { z } from 'zod';
import { openBitcoinWallet } from './bitcoin/wallet.ts';
import { openWallet } from './evm/wallet.ts';
import { type ChainSettings, configuredAssets, withChains } from './settings.ts';
import { chainSettings } from './settings-schema.ts';

const phrase = 'test test test test test test test test test test test junk';
const tpub = openBitcoinWallet('regtest', phrase).accountXpub;
const xpub = openBitcoinWallet('mainnet', phrase).accountXpub;
const evmXpub = openWallet(phrase).accountXpub;
const usdc = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const mint = 'EPjFWdd5AufqSSqeM2qNRswuDk3gyJyrCbuoXjUkyUAz';

const bitcoin = {
  BITCOIN_RPC_URL: 'http://user:secret@localhost:18443',
  BITCOIN_NETWORK: 'regtest',
  BITCOIN_XPUB: tpub,
};
const ethereum = {
  ETHEREUM_RPC_URL: 'http://localhost:8545',
  ETHEREUM_CHAIN_ID: '1',
  ETHEREUM_USDC_ADDRESS: usdc,
  ETHEREUM_XPUB: evmXpub,
};
const solana = { SOLANA_RPC_URL: 'http://localhost:8899', SOLANA_NETWORK: 'local', SOLANA_USDC_MINT: mint };

/** The problems of a chain that has a URL and lacks these settings. */
const lacks = (chain: string, ...names: string[]) =>
  names.map((name) => `${chain}_${name}: is required with ${chain}_RPC_URL`);
const NO_URL = 'must be an http or https URL, or several separated by commas';

type Env = Record<string, string | undefined>;
const schema = withChains(z.object({ ...chainSettings, WALLET_SEED: z.string() }), { xpubs: true });
const chainsOf = (env: Env) => loadConfig('a service', schema, { WALLET_SEED: phrase, ...env }).chains;

function problemsOf(env: Env): readonly string[] {
  try {
    chainsOf(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the chains of a configuration', () => {
  test('are those that have an RPC URL', () => {
    const names = (env: Env) => chainsOf(env).map(({ chain }) => chain);
    expect(names({})).toEqual([]);
    expect(names({ ...ethereum, ETHEREUM_RPC_URL: '' })).toEqual([]);
    expect(names(ethereum)).toEqual(['ethereum']);
    expect(names({ ...solana, ...bitcoin })).toEqual(['bitcoin', 'solana']);
  });

  test('come with all that was said of them, beside the other settings', () => {
    const given = {
      ...bitcoin,
      ...ethereum,
      ...solana,
      ETHEREUM_START_HEIGHT: '17',
      POLYGON_RPC_URL: 'https://one.example/key, https://two.example/key',
      POLYGON_CHAIN_ID: '137',
      POLYGON_XPUB: evmXpub,
      POLYGON_QUIET_MS: '1000',
    };
    const config = loadConfig('a service', schema, { WALLET_SEED: phrase, ...given });
    expect(config).toMatchObject({ WALLET_SEED: phrase, BITCOIN_NETWORK: 'regtest' });
    expect(config.chains.map(({ rpcUrls }) => rpcUrls.map((url) => url.reveal()))).toEqual([
      ['http://user:secret@localhost:18443'],
      ['http://localhost:8545'],
      ['http://localhost:8899'],
      ['https://one.example/key', 'https://two.example/key'],
    ]);
    const rpcUrls = expect.any(Array);
    // A setting that is not said is undefined.
    expect(config.chains).toEqual([
      { kind: 'bitcoin', chain: 'bitcoin', rpcUrls, network: 'regtest', xpub: tpub, quietMs: 5_000 },
      {
        kind: 'evm',
        chain: 'ethereum',
        rpcUrls,
        chainId: 1,
        usdcAddress: usdc.toLowerCase(),
        xpub: evmXpub,
        startHeight: 17,
      },
      { kind: 'solana', chain: 'solana', rpcUrls, network: 'local', usdcMint: mint, quietMs: 5_000 },
      { kind: 'evm', chain: 'polygon', rpcUrls, chainId: 137, xpub: evmXpub, quietMs: 1_000 },
    ]);
    // Many nodes' URLs hold a key.
    expect(`${JSON.stringify(config.chains)}${inspect(config.chains)}`).not.toMatch(/http/);
  });

  test.each<[chain: string, Env, quietMs: number | undefined]>([
    ['a development EVM chain', { ...ethereum, ETHEREUM_CHAIN_ID: '31337' }, 5_000],
    ['a public EVM chain', ethereum, undefined],
    ['regtest', bitcoin, 5_000],
    ['the main network', { ...bitcoin, BITCOIN_NETWORK: 'mainnet', BITCOIN_XPUB: xpub }, undefined],
    ['a local Solana', solana, 5_000],
    ['devnet', { ...solana, SOLANA_NETWORK: 'devnet' }, undefined],
    ['whatever the operator says', { ...bitcoin, BITCOIN_QUIET_MS: '7' }, 7],
  ])('take %s for quiet after a time', (_chain, env, quietMs) => {
    expect(chainsOf(env)).toMatchObject([{ quietMs }]);
  });

  test.each<[what: string, Env, problems: string[]]>([
    ['nothing', {}, []],
    [
      'Bitcoin without its companions',
      { BITCOIN_RPC_URL: 'http://localhost:1' },
      lacks('BITCOIN', 'NETWORK', 'XPUB'),
    ],
    [
      'Ethereum and Base without their companions',
      { ETHEREUM_RPC_URL: 'http://localhost:1', BASE_RPC_URL: 'http://localhost:2', BASE_CHAIN_ID: '8453' },
      [...lacks('ETHEREUM', 'CHAIN_ID', 'XPUB'), ...lacks('BASE', 'XPUB')],
    ],
    ['Solana without its companion', { SOLANA_RPC_URL: 'http://localhost:1' }, lacks('SOLANA', 'NETWORK')],
    [
      'a URL that is none, another protocol, and none between commas',
      { BITCOIN_RPC_URL: 'localhost:1', SOLANA_RPC_URL: 'ws://localhost', BASE_RPC_URL: ', ,' },
      [
        ...['BITCOIN', 'SOLANA', 'BASE'].map((chain) => `${chain}_RPC_URL: ${NO_URL}`),
        ...lacks('BITCOIN', 'NETWORK', 'XPUB'),
        ...lacks('SOLANA', 'NETWORK'),
        ...lacks('BASE', 'CHAIN_ID', 'XPUB'),
      ],
    ],
    [
      'one node twice',
      { ...ethereum, ETHEREUM_RPC_URL: 'http://localhost:8545, http://LOCALHOST:8545/' },
      ['ETHEREUM_RPC_URL: names the same node twice: it would always agree with itself'],
    ],
    [
      'a second node that is none',
      { ...ethereum, ETHEREUM_RPC_URL: 'http://localhost:8545,geth' },
      [`ETHEREUM_RPC_URL: ${NO_URL}`],
    ],
    [
      'networks that do not exist',
      { ...bitcoin, BITCOIN_NETWORK: 'main', ...solana, SOLANA_NETWORK: 'mainnet-beta' },
      [
        'BITCOIN_NETWORK: Invalid option: expected one of "mainnet"|"testnet"|"signet"|"regtest"',
        'SOLANA_NETWORK: Invalid option: expected one of "mainnet"|"devnet"|"testnet"|"local"',
      ],
    ],
    [
      'a token with a typing error, and a mint of 31 bytes',
      {
        ...ethereum,
        ETHEREUM_USDC_ADDRESS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed',
        ...solana,
        SOLANA_USDC_MINT: '44aLB2AXRPXCkyeVpyU8kHr4p56Vhwfy8cdz1unGjHR',
      },
      [
        'ETHEREUM_USDC_ADDRESS: must be an Ethereum address with a right checksum',
        'SOLANA_USDC_MINT: must be the address of a mint',
      ],
    ],
    [
      'Bitcoin’s key for another network',
      { ...bitcoin, BITCOIN_NETWORK: 'mainnet' },
      ['BITCOIN_XPUB: an extended public key that begins with tpub is not one of mainnet'],
    ],
    [
      'another key for EVM, and for Bitcoin',
      { ...bitcoin, ...ethereum, BITCOIN_XPUB: evmXpub, ETHEREUM_XPUB: tpub },
      [
        'ETHEREUM_XPUB: this is not an extended public key',
        'BITCOIN_XPUB: an extended public key that begins with xpub is not one of regtest',
      ],
    ],
    [
      'a private key',
      { ...ethereum, ETHEREUM_XPUB: HDKey.fromMasterSeed(new Uint8Array(32)).privateExtendedKey },
      ['ETHEREUM_XPUB: this is a private key; give the extended public key, xpub…'],
    ],
    [
      'numbers that are none',
      { ...ethereum, ETHEREUM_CHAIN_ID: '0', ETHEREUM_START_HEIGHT: '-1', ETHEREUM_QUIET_MS: '0' },
      [
        'ETHEREUM_START_HEIGHT: Too small: expected number to be >=0',
        'ETHEREUM_QUIET_MS: Too small: expected number to be >=1',
        'ETHEREUM_CHAIN_ID: Too small: expected number to be >=1',
      ],
    ],
    [
      'a chain and something else',
      { WALLET_SEED: undefined, SOLANA_RPC_URL: 'http://localhost:1' },
      ['WALLET_SEED: is required', ...lacks('SOLANA', 'NETWORK')],
    ],
  ])('are refused with every problem by its name: %s', (_what, env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });

  test('are refused without a word of what is secret', () => {
    const secrets = {
      ETHEREUM_RPC_URL: 'https://user:hunter2@localhost:1, ftp://hunter2',
      BITCOIN_RPC_URL: 'http://localhost:1',
      BITCOIN_NETWORK: 'mainnet',
      BITCOIN_XPUB: 'xprvhunter2',
      BASE_RPC_URL: 'http://localhost:1',
      BASE_CHAIN_ID: '1',
      BASE_XPUB: 'xprvhunter2',
    };
    expect(problemsOf(secrets)).toHaveLength(5);
    expect(problemsOf(secrets).join()).not.toContain('hunter2');
  });

  test('need no public keys where no address is given out', () => {
    const keyless = withChains(z.object(chainSettings));
    const env = { ...bitcoin, BITCOIN_XPUB: undefined, ...ethereum, ETHEREUM_XPUB: undefined };
    expect(loadConfig('payouts', keyless, env).chains).toHaveLength(2);
  });
});

test('the assets of a chain are its own, the token only with its contract or mint', () => {
  const assetsOf = (env: Env) => chainsOf(env).flatMap((chain: ChainSettings) => configuredAssets(chain));
  expect(assetsOf({ ...bitcoin, ...ethereum, ...solana })).toEqual([
    'BTC',
    'ETH',
    'USDC_ERC20',
    'SOL',
    'USDC_SOL',
  ]);
  expect(
    assetsOf({ ...ethereum, ETHEREUM_USDC_ADDRESS: undefined, ...solana, SOLANA_USDC_MINT: undefined }),
  ).toEqual(['ETH', 'SOL']);
});
