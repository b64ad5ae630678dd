import { expect, test } from '@jest/globals';
import { NoQuorum } from '@quittance/chains/chain';
import { RpcUnavailable } from '@quittance/chains/json-rpc';
import { StatusMissing } from '@quittance/chains/solana/non-inclusion';
import type { Chain } from '@quittance/shared/assets';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { reportSilence } from './report-silence.ts';

/** Reports a failure of each transaction, in one minute. @returns the lines, and whether each is an error */
function reported(failures: readonly { chain: Chain; id: string; error: Error }[]): object[] {
  const lines: object[] = [];
  const write = (line: string) => {
    const { level, chain, transaction } = JSON.parse(line);
    lines.push({ level, chain, transaction });
  };
  const log = throttledLog(createLogger('test', 'info', { write }), () => 0);
  for (const { chain, id, error } of failures)
    reportSilence({ chain, throttledLog: log }, { id, txHash: `hash of ${id}` }, error);
  return lines;
}

const away = new RpcUnavailable('getTransaction', 'no answer');

test('a node that is away is one warning for each chain', () => {
  const failures = (['ethereum', 'bitcoin'] as const).flatMap((chain) => [
    { chain, id: `a on ${chain}`, error: away },
    { chain, id: `b on ${chain}`, error: away },
  ]);
  expect(reported(failures)).toEqual([
    { level: 'warn', chain: 'ethereum', transaction: 'hash of a on ethereum' },
    { level: 'warn', chain: 'bitcoin', transaction: 'hash of a on bitcoin' },
  ]);
});

test('nodes that disagree are a warning beside that of one that is away', () => {
  const disagreement = new NoQuorum('no two nodes say the same');
  const of = { chain: 'ethereum', id: 'a' } as const;
  expect(reported([away, disagreement, away].map((error) => ({ ...of, error })))).toHaveLength(2);
});

test('a node that lacks the status of what is in its blocks is an error for each transaction', () => {
  const failures = ['a', 'b', 'a'].map((id) => {
    const error = new StatusMissing(`hash of ${id}`, 7);
    return { chain: 'solana', id, error } as const;
  });
  expect(reported(failures)).toEqual([
    { level: 'error', chain: 'solana', transaction: 'hash of a' },
    { level: 'error', chain: 'solana', transaction: 'hash of b' },
  ]);
});
