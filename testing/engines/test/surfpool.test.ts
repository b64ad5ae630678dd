import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SurfpoolHandle, startSurfpool } from '../src/surfpool.ts';
import { rpc, until } from './scratch.ts';

let node: SurfpoolHandle;

beforeAll(async () => {
  node = await startSurfpool({ port: 0, wsPort: 0, slotMs: 50 });
});

afterAll(() => node?.stop());

const someone = '7EeV8eiRuGoR8bFHCjdCRGQd1RM5sR2dAkdiTEtC9ko7';
const finalized = { commitment: 'finalized' };

test('it stands on the given ports, has a finalized block at once, and serves its websocket', async () => {
  const head = await rpc(node, 'getSlot', finalized);
  expect(await rpc(node, 'getBlock', head, { ...finalized, transactionDetails: 'none' })).not.toBeNull();
  const socket = new WebSocket(node.wsUrl);
  const heard = new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).result);
  });
  socket.onopen = () => socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
  expect(typeof (await heard)).toBe('number');
  socket.close();
});

test('its finalized blocks follow each other, with and without transactions, and have today’s time', async () => {
  const hash = await rpc(node, 'requestAirdrop', someone, 1_000_000_000);
  const status = async () => (await rpc(node, 'getSignatureStatuses', [hash])).value[0];
  await until(async () => (await status())?.confirmationStatus === 'finalized', 20_000);
  const { slot } = await status();
  await until(async () => (await rpc(node, 'getSlot', finalized)) > slot, 15_000);
  const slots = await rpc(node, 'getBlocks', slot - 2, slot + 1, finalized);
  expect(slots).toEqual([slot - 2, slot - 1, slot, slot + 1]);
  const options = { ...finalized, transactionDetails: 'signatures', rewards: false };
  const blocks = await Promise.all(slots.map((one: number) => rpc(node, 'getBlock', one, options)));
  expect(blocks.map((block) => block.signatures.includes(hash))).toEqual([false, false, true, false]);
  for (const [i, block] of blocks.slice(1).entries()) {
    expect(block.previousBlockhash).toBe(blocks[i].blockhash);
    expect(Math.abs(block.blockTime * 1000 - Date.now())).toBeLessThan(20_000);
  }
});

test('every start is a new chain', async () => {
  const blockHash = async () =>
    (await rpc(node, 'getBlock', 32, { ...finalized, transactionDetails: 'none' })).blockhash;
  const before = await blockHash();
  await node.restart();
  expect(await blockHash()).not.toBe(before);
});

test('a kill leaves nothing behind', async () => {
  node.kill();
  await node.stop();
  await expect(rpc(node, 'getHealth')).rejects.toThrow();
});
