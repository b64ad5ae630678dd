import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { humanePace, startChainNodes } from '../src/chain-nodes.ts';
import { processes } from '../src/parts.ts';
import { portsFrom } from '../src/ports.ts';

/** Blocks, and the past states that anvil keeps of them: 21 MB with 64 of those, a quarter of that with 16. */
const BLOCKS = 2_000;
const STATE_BYTES_MAX = 8 * 1024 * 1024;

const dir = mkdtempSync(join(tmpdir(), 'quittance-nodes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('the sandbox’s Ethereum node keeps no more of its past than its readers ask for', async () => {
  const { ethereum } = await startChainNodes({
    dir,
    ports: portsFrom(await freePort()),
    pace: humanePace,
    parts: processes,
    chains: [],
    keep: (engine) => engine,
    onUnexpectedExit: (error) => {
      throw error;
    },
    say: () => undefined,
  });
  const ask = async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    return JSON.parse(await (await fetch(ethereum.rpcUrl, { method: 'POST', headers, body })).text());
  };
  try {
    for (let mined = 0; mined < BLOCKS; mined += 500) await ask('anvil_mine', '0x1f4');
    const { result } = await ask('eth_getBlockByNumber', 'finalized', false);
    const [account] = (await ask('eth_accounts')).result;
    expect((await ask('eth_getBalance', account, result.number)).result).toMatch(/^0x[1-9a-f]/);
    expect((await ask('anvil_reorg', 10, [])).error).toBeUndefined();
  } finally {
    await ethereum.stop();
  }
  expect(statSync(join(dir, 'ethereum.json')).size).toBeLessThan(STATE_BYTES_MAX);
});
