import { describe, expect, test } from '@jest/globals';
import { RpcRefused } from '@quittance/chains/json-rpc';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { clockFinding } from './clock-check.ts';
import { connectionFindings } from './database-checks.ts';
import { whySyncing } from './node-checks.ts';

/** Where the doctor draws its lines. */

describe('a clock', () => {
  const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
  const read = (time: number, before: number, after: number) =>
    clockFinding({ subject: 'database', time: at(time), before: at(before), after: at(after) });

  test.each([
    [0, 0, 0, 'ok'],
    [2_000, 0, 0, 'ok'],
    [2_001, 0, 0, 'problem'],
    [-2_001, 0, 0, 'problem'],
    // Somewhere within a question that took long it was right.
    [5_000, 0, 6_000, 'ok'],
    [8_001, 0, 6_000, 'problem'],
  ])('that says %i ms to a question from %i to %i ms is %s', (time, before, after, state) => {
    expect(read(time, before, after).state).toBe(state);
  });
});

describe('connections', () => {
  const all = { role: 'all', used: '90', allowed: '300' };

  test('are right while each role and the server have some left', () => {
    const roles = [all, { role: 'quittance_ledger', used: '48', allowed: '60' }];
    expect(connectionFindings(roles)).toEqual([
      { check: 'database', subject: 'connections', state: 'ok', found: '90 of 300 are used' },
    ]);
  });

  test('of a service with more replicas than it may have are a warning that names its role', () => {
    const roles = [all, { role: 'quittance_ledger', used: '54', allowed: '60' }];
    expect(connectionFindings(roles)).toEqual([
      expect.objectContaining({
        state: 'warning',
        found: '54 of the 60 of quittance_ledger are used',
        remedy: expect.stringMatching(/^Run fewer replicas, or .* DATABASE_CONNECTIONS_MAX\.$/),
      }),
    ]);
  });

  test('of a server that has hardly any left are a warning too', () => {
    expect(connectionFindings([{ ...all, used: '290' }])).toEqual([
      expect.objectContaining({
        state: 'warning',
        found: '290 of the 300 of the server are used',
        remedy: expect.stringContaining('max_connections'),
      }),
    ]);
  });
});

describe('a node', () => {
  const unhealthy = new RpcRefused('getHealth', -32_005, 'Node is behind by 42 slots');
  const bitcoin = (initialblockdownload: boolean, blocks: number, headers: number) => ({
    initialblockdownload,
    blocks,
    headers,
  });

  test.each([
    ['bitcoin', bitcoin(false, 900_000, 900_000), undefined],
    ['bitcoin', bitcoin(true, 12, 900_000), 'it downloads blocks: 12 of 900000'],
    // A development chain that nobody has mined on for a day.
    ['bitcoin', bitcoin(true, 150, 150), undefined],
    ['evm', false, undefined],
    ['evm', { currentBlock: '0x7', highestBlock: '0x5a' }, 'it downloads blocks: 7 of 90'],
    ['evm', { startingBlock: '0x0' }, 'it downloads blocks: ? of ?'],
    ['solana', 'ok', undefined],
    ['solana', unhealthy, 'it says that it is not healthy (getHealth: Node is behind by 42 slots (-32005))'],
  ] as const)('of %s that answers %j is told so', async (kind, answer, told) => {
    expect(
      await whySyncing(
        kind,
        scriptedRpc(() => answer),
      ),
    ).toBe(told);
  });
});
