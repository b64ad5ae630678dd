import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { deploySplitter, deployTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import { createPublicClient, http } from 'viem';

const contracts = new URL('../../../testing/stack/contracts/', import.meta.url);

describe('the test contracts', () => {
  test.each(['TestUsdc', 'Splitter'])('%s is compiled from the source beside it', (name) => {
    const source = readFileSync(new URL(`${name}.sol`, contracts));
    const artifact = JSON.parse(readFileSync(new URL(`${name}.json`, contracts), 'utf8')) as object;
    // Red? Run testing/stack/contracts/compile.ts and commit what it writes.
    expect(artifact).toMatchObject({ source_sha256: createHash('sha256').update(source).digest('hex') });
  });

  test.each<[string, Parameters<typeof testAnvil>[0]]>([
    ['mines when told to', { mining: 'manual' }],
    ['mines every transaction', { mining: 'auto' }],
    ['mines by the clock', { mining: undefined, blockTimeSeconds: 1 }],
  ])('are deployed once, on a node that %s', async (_how, options) => {
    const node = await testAnvil(options);
    try {
      const client = createPublicClient({ transport: http(node.rpcUrl), cacheTime: 0 });
      const deployed = [await deployTestUsdc(node.rpcUrl), await deploySplitter(node.rpcUrl)];
      const [payer] = (await client.request({ method: 'eth_accounts' } as never)) as [`0x${string}`];
      const sent = await client.getTransactionCount({ address: payer });
      expect([await deployTestUsdc(node.rpcUrl), await deploySplitter(node.rpcUrl)]).toEqual(deployed);
      expect(await client.getTransactionCount({ address: payer })).toBe(sent);
    } finally {
      await node.stop();
    }
  });
});
