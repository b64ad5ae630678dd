import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { type BitcoindHandle, type BitcoindOptions, startBitcoind } from '../src/bitcoind.ts';
import { failureOf, scratchFolder, until } from './scratch.ts';

const scratch = scratchFolder();
const someone = 'bcrt1qquv9lg5g2r4jkr0ahun0ddfg5xntxjelwjpnuw';
const running: BitcoindHandle[] = [];
let folders = 0;

const newFolder = () => path.join(scratch.folder, `bitcoin-${++folders}`);

async function start(options: Partial<BitcoindOptions> = {}): Promise<BitcoindHandle> {
  const node = await startBitcoind({
    dataDir: newFolder(),
    port: 0,
    flags: ['-unsafesqlitesync'],
    ...options,
  });
  running.push(node);
  return node;
}

const height = (node: BitcoindHandle) => node.rpc<number>('getblockcount');

async function confirmations(node: BitcoindHandle, txid: string): Promise<number | undefined> {
  const found = await node.rpc<{ confirmations?: number }>('getrawtransaction', txid, 1);
  return found.confirmations;
}

afterEach(async () => {
  delete process.env['BITCOIND_PATH'];
  await Promise.all(running.splice(0).map((node) => node.stop()));
});

afterAll(() => scratch.remove());

test('blocks and payments survive a restart and a kill, and no log grows for as long as it runs', async () => {
  const dataDir = newFolder();
  const node = await start({ dataDir });
  const txid = await node.pay(someone, '1.5');
  await node.mine(3);
  const before = await height(node);
  const password = new URL(node.rpcUrl).password;
  await node.restart();
  expect(await height(node)).toBe(before);
  await node.mine(2);
  node.kill();
  await node.restart();
  expect(await height(node)).toBe(before + 2);
  expect(await confirmations(node, txid)).toBe(5);
  expect(new URL(node.rpcUrl).password).toBe(password);
  await node.pay(someone, '0.1');
  expect(readdirSync(path.join(dataDir, 'regtest')).filter((name) => /^0$|\.log$/.test(name))).toEqual([]);
});

test('a reorganisation takes payments out of the chain, or puts them into other blocks', async () => {
  const node = await start();
  const txid = await node.pay(someone, '1.5');
  await node.mine(3);
  const before = await height(node);
  await node.reorganise(3);
  expect(await height(node)).toBe(before + 1);
  expect(await node.rpc('getrawmempool')).toEqual([txid]);
  expect(await node.reorganise(2, [[], [txid]])).toHaveLength(3);
  expect(await height(node)).toBe(before + 2);
  expect(await confirmations(node, txid)).toBe(2);
});

test('it mines by the clock, also after it was killed, until it is stopped', async () => {
  const node = await start({ blockEverySeconds: 0.2 });
  const before = await height(node);
  await until(async () => (await height(node)) > before + 1, 15_000);
  node.kill();
  await node.restart();
  const after = await height(node);
  await until(async () => (await height(node)) > after, 15_000);
  await node.stop();
  expect(node.pid).toBeUndefined();
});

test('another binary may be chosen, and a choice that is none is named', async () => {
  process.env['BITCOIND_PATH'] = path.join(scratch.folder, 'nowhere');
  expect(await failureOf(startBitcoind({ dataDir: newFolder(), port: 0 }))).toContain('BITCOIND_PATH is ');
  const chosen = path.join(scratch.folder, 'bitcoind');
  writeFileSync(chosen, '#!/bin/sh\necho this is another one; exit 3\n', { mode: 0o755 });
  process.env['BITCOIND_PATH'] = chosen;
  expect(await failureOf(startBitcoind({ dataDir: newFolder(), port: 0 }))).toContain('this is another one');
});
