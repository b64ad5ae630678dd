import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { watchedChains } from './chain-settings.ts';
import { adminDatabase } from './database-settings.ts';
import { findOperator } from './operator-file.ts';

const SANDBOX = {
  gatewayDatabaseUrl: 'postgres://sandbox/gateway',
  adminDatabaseUrl: 'postgres://sandbox/admin',
};
const CHAINS = {
  ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
  ETHEREUM_CHAIN_ID: '31337',
};
const folder = mkdtempSync(join(tmpdir(), 'quittance-operator-'));
const sandbox = join(folder, 'checkout', 'data');
mkdirSync(sandbox, { recursive: true });
writeFileSync(join(sandbox, 'operator.json'), JSON.stringify({ ...SANDBOX, chains: CHAINS }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the checkout’s sandbox is found only by a process that was given its folder', () => {
  expect(findOperator({ env: {}, cwd: '/', sandbox })).toMatchObject(SANDBOX);
  expect(findOperator({ env: {}, cwd: '/' })).toBeUndefined();
  expect(() => adminDatabase({ env: {}, cwd: '/' })).toThrow(
    /no operator\.json was found in a \.sandbox here or above/,
  );
});

test.each(['OPERATOR_DATABASE_URL', 'DATABASE_URL_ADMIN', 'GATEWAY_DATABASE_URL'])(
  'the chains of a sandbox are not compared with the records of the database in %s',
  (name) => {
    expect(watchedChains({ env: {}, cwd: '/', sandbox })).toHaveLength(1);
    expect(watchedChains({ env: { [name]: 'postgres://own/books' }, cwd: '/', sandbox })).toEqual([]);
  },
);
