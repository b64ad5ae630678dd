import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { encryptPhrase, writeSecretFile } from '@quittance/chains/keystore';
import { knownSecrets } from './known-secrets.ts';

const nowhere = { cwd: '/' };

test('settings are secrets by their names, and passwords within URLs', () => {
  const env = {
    DATABASE_URL_ADMIN: 'postgres://me:pass%20word@host/db',
    GATEWAY_PRIVATE_KEY: 'who is asking',
    WALLET_SEED: 'twelve words',
    GATEWAY_PUBLIC_KEY: 'of that',
    LOG_LEVEL: 'info',
    GRAFANA_PASSWORD: '',
  };
  expect(knownSecrets({ env, ...nowhere })).toEqual({
    'password 1 in DATABASE_URL_ADMIN': 'pass word',
    GATEWAY_PRIVATE_KEY: 'who is asking',
    WALLET_SEED: 'twelve words',
  });
});

test('the recovery phrase of a keystore and its passphrase are secrets, and where they are is none', () => {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-secrets-'));
  const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  try {
    writeSecretFile(join(dir, 'keystore.json'), encryptPhrase(phrase, 'a passphrase', { n: 2 ** 14 }));
    writeSecretFile(join(dir, 'passphrase'), 'a passphrase\n');
    const env = {
      DATABASE_URL_ADMIN: 'postgres://host/db',
      WALLET_KEYSTORE: 'keystore.json',
      WALLET_PASSPHRASE_FILE: 'passphrase',
    };
    expect(knownSecrets({ env, cwd: dir })).toEqual({
      'the recovery phrase in WALLET_KEYSTORE': phrase,
      WALLET_PASSPHRASE_FILE: 'a passphrase',
    });
    // Not searched for would look like not found.
    expect(() => knownSecrets({ env, ...nowhere })).toThrow('WALLET_KEYSTORE: ENOENT');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('keys are looked for in the path and the query of each URL of a node, words are none', () => {
  const keys = ['0123456789abcdef', 'fedcba98765432100', 'abcdefabcdefabcdef'];
  const urls = [
    `https://mainnet.example.com/v3/${keys[0]}`,
    `https://example.com/rpc?project=${keys[1]}&network=main`,
    'http://127.0.0.1:8545/a-short-word',
    `https://user:${keys[2]}@example.com`,
    'no URL at all, though long enough for a key',
  ];
  const env = { DATABASE_URL_ADMIN: 'postgres://host/db', ETHEREUM_RPC_URL: urls.join(',') };
  expect(Object.values(knownSecrets({ env, ...nowhere })).toSorted()).toEqual(keys.toSorted());
  // What else is a URL has no such keys.
  const public_ = { DATABASE_URL_ADMIN: 'postgres://host/db', PUBLIC_URL: urls[0] };
  expect(knownSecrets({ env: public_, ...nowhere })).toEqual({});
});

test('the sandbox’s own secrets are known by its file, unless an operator’s database is asked for', () => {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-secrets-'));
  try {
    const secretsFile = join(dir, 'secrets.json');
    writeFileSync(
      secretsFile,
      JSON.stringify({ walletSeed: 'words', busPasswords: { ledger: 'of the bus' } }),
    );
    const operator = {
      gatewayDatabaseUrl: 'g',
      adminDatabaseUrl: 'postgres://a:of-the-admin@h/d',
      secretsFile,
    };
    writeFileSync(join(dir, 'operator.json'), JSON.stringify(operator));
    const env = { SANDBOX_DIR: dir };
    expect(knownSecrets({ env, ...nowhere })).toEqual({
      walletSeed: 'words',
      'busPasswords.ledger': 'of the bus',
      'password 1 in adminDatabaseUrl': 'of-the-admin',
    });
    const own = { ...env, DATABASE_URL_ADMIN: 'postgres://host/db' };
    expect(knownSecrets({ env: own, ...nowhere })).toEqual({});
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
