import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { type AnvilHandle, type AnvilOptions, startAnvil } from '../src/anvil.ts';
import { rpc, scratchFolder, until } from './scratch.ts';

const scratch = scratchFolder();
const recipient = '0x00000000000000000000000000000000000000aa';
// Init code of a contract whose only act is to log the number 42 under the topic 11…11.
const topic = '11'.repeat(32);
const runtime = `602a6000527f${topic}60206000a100`;
const logger = `0x60${(runtime.length / 2).toString(16)}600c60003960${(runtime.length / 2).toString(16)}6000f3${runtime}`;

const running: AnvilHandle[] = [];
let states = 0;

async function start(options: Partial<AnvilOptions> = {}): Promise<AnvilHandle> {
  const anvil = await startAnvil({ port: 0, ...options });
  running.push(anvil);
  return anvil;
}

const newState = () => path.join(scratch.folder, `state-${++states}.json`);

afterEach(async () => {
  await Promise.all(running.splice(0).map((anvil) => anvil.stop()));
});

afterAll(() => scratch.remove());

/** Sends from the first dev account and waits for the block. */
async function mined(anvil: AnvilHandle, transaction: object): Promise<{ hash: string; contract: string }> {
  const [from] = await rpc(anvil, 'eth_accounts');
  const hash = await rpc(anvil, 'eth_sendTransaction', { from, gas: '0x30d40', ...transaction });
  await until(async () => (await rpc(anvil, 'eth_getTransactionReceipt', hash)) !== null, 10_000);
  const { contractAddress } = await rpc(anvil, 'eth_getTransactionReceipt', hash);
  return { hash, contract: contractAddress };
}

const sendEther = (anvil: AnvilHandle) => mined(anvil, { to: recipient, value: '0x5' });

/** What a scanner and a wallet read of a chain. */
async function picture(anvil: AnvilHandle, transactions: string[], contract: string) {
  const [sender] = await rpc(anvil, 'eth_accounts');
  const receipts = await Promise.all(
    transactions.map((hash) => rpc(anvil, 'eth_getTransactionReceipt', hash)),
  );
  return {
    head: await rpc(anvil, 'eth_blockNumber'),
    firstBlock: await rpc(anvil, 'eth_getBlockByNumber', '0x1', true),
    balance: await rpc(anvil, 'eth_getBalance', recipient, 'latest'),
    nonce: await rpc(anvil, 'eth_getTransactionCount', sender, 'latest'),
    receipts: receipts.map((receipt) => [receipt.status, receipt.blockHash, receipt.logs.length]),
    logs: await rpc(anvil, 'eth_getLogs', { address: contract, fromBlock: '0x0' }),
    code: await rpc(anvil, 'eth_getCode', contract, 'latest'),
  };
}

async function history(anvil: AnvilHandle): Promise<{ transactions: string[]; contract: string }> {
  const deployed = await mined(anvil, { data: logger });
  const called = await mined(anvil, { to: deployed.contract });
  const paid = await sendEther(anvil);
  return { transactions: [deployed.hash, called.hash, paid.hash], contract: deployed.contract };
}

test('blocks, balances, receipts and logs survive a restart', async () => {
  const anvil = await start({ statePath: newState(), chainId: 1_234 });
  const { transactions, contract } = await history(anvil);
  const before = await picture(anvil, transactions, contract);
  await anvil.restart();
  expect(await picture(anvil, transactions, contract)).toEqual(before);
  expect(before.logs).toHaveLength(1);
  expect(await rpc(anvil, 'eth_chainId')).toBe('0x4d2');
});

test('a kill loses no more than the seconds since the state was written', async () => {
  const statePath = newState();
  const anvil = await start({ statePath, stateEverySeconds: 1 });
  const { transactions, contract } = await history(anvil);
  const before = await picture(anvil, transactions, contract);
  // While it runs it writes its whole state, and a copy is kept of that.
  await until(() => existsSync(`${statePath}.copy`), 15_000);
  expect(statSync(`${statePath}.copy`).size).toBe(statSync(statePath).size);
  anvil.kill();
  await anvil.restart();
  expect(await picture(anvil, transactions, contract)).toEqual(before);
});

test('half a state file, left by a kill in the middle of writing, is replaced by the last whole one', async () => {
  const statePath = newState();
  const anvil = await start({ statePath });
  await sendEther(anvil);
  await anvil.restart();
  anvil.kill();
  await anvil.stop();
  const whole = readFileSync(statePath);
  writeFileSync(statePath, whole.subarray(0, whole.length / 2));
  await anvil.restart();
  expect(await rpc(anvil, 'eth_blockNumber')).toBe('0x1');
});

test('past states make balances before the restart readable and reorganisations across it possible', async () => {
  const anvil = await start({ statePath: newState(), pastStates: 64 });
  await sendEther(anvil);
  await rpc(anvil, 'anvil_mine', '0x5');
  await sendEther(anvil);
  await anvil.restart();
  expect(await rpc(anvil, 'eth_getBalance', recipient, '0x3')).toBe('0x5');
  await rpc(anvil, 'anvil_reorg', 3, []);
  expect(await rpc(anvil, 'eth_getBalance', recipient, 'latest')).toBe('0x5');
});

test('it mines when it is told to: by the clock, by hand', async () => {
  const clock = await start({ blockTimeSeconds: 0.1, slotsInAnEpoch: 2 });
  const hand = await start({ mining: 'manual' });
  await until(async () => (await rpc(clock, 'eth_blockNumber')) >= '0x5', 10_000);
  const finalized = await rpc(clock, 'eth_getBlockByNumber', 'finalized', false);
  // eslint-disable-next-line no-restricted-syntax -- a height
  expect(Number(finalized.number)).toBeGreaterThan(0);
  const [from] = await rpc(hand, 'eth_accounts');
  const hash = await rpc(hand, 'eth_sendTransaction', { from, to: recipient, value: '0x5' });
  await sleep(100);
  expect(await rpc(hand, 'eth_getTransactionReceipt', hash)).toBeNull();
  await rpc(hand, 'anvil_mine', '0x1');
  expect(await rpc(hand, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x1' });
});
