import { expect, test } from '@jest/globals';
import { NoQuorum } from '@quittance/chains/chain';
import { RpcUnavailable } from '@quittance/chains/json-rpc';
import { StatusMissing } from '@quittance/chains/solana/non-inclusion';
import type { Chain } from '@quittance/shared/assets';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { reportSilence } from './report-silence.ts';

type Failure = { chain?: Chain; id: string; error: Error };

/** Reports failures, all in one minute. @returns what the lines say */
function reported(failures: readonly Failure[]): string[] {
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, chain, transaction, msg } = JSON.parse(line);
    lines.push(`${level} ${chain} ${transaction}: ${msg}`);
  };
  const log = throttledLog(createLogger('test', 'info', { write }), () => 0);
  for (const { chain = 'solana', id, error } of failures)
    reportSilence({ chain, throttledLog: log }, { id, txHash: `tx-${id}` }, error);
  return lines;
}

const away = (id: string) => ({ id, error: new RpcUnavailable('getTransaction', `no answer about ${id}`) });
const UNTOLD = 'the node does not tell of a transaction';

test('a node that is away is one warning for each chain', () => {
  const failures = (['ethereum', 'bitcoin'] as const).flatMap((chain) =>
    ['a', 'b'].map((id) => ({ chain, ...away(id) })),
  );
  expect(reported(failures)).toEqual([`warn ethereum tx-a: ${UNTOLD}`, `warn bitcoin tx-a: ${UNTOLD}`]);
});

test('nodes that disagree are a warning beside that of one that is away', () => {
  const disagree = (id: string) => ({ id, error: new NoQuorum(`two answers about ${id}`) });
  expect(reported([away('a'), disagree('b'), away('c'), disagree('d')])).toEqual([
    `warn solana tx-a: ${UNTOLD}`,
    'warn solana tx-b: the nodes do not agree about a transaction',
  ]);
});

test('a node that lacks the status of what is in its blocks is an error for each transaction', () => {
  const lacking = (id: string) => ({ id, error: new StatusMissing(`tx-${id}`, 7) });
  expect(reported(['a', 'b', 'a'].map(lacking))).toEqual([
    `error solana tx-a: ${UNTOLD}`,
    `error solana tx-b: ${UNTOLD}`,
  ]);
});
