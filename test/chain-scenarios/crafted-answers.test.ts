import { describe, expect, it } from '@jest/globals';
import { createEvmReader } from '@quittance/chains/evm/reader';
import { type Call, type Rpc, RpcUnavailable } from '@quittance/chains/json-rpc';

/**
 * What no honest node says of an Ethereum block, or says of one only: forged, withdrawn and mismatched answers. Each
 * row changes one thing in a block that pays 7 wei and 25 tokens to us; what is left is what may be believed.
 */
const OURS = `0x${'0a'.repeat(20)}`;
const OTHER = `0x${'0b'.repeat(20)}`;
const USDC = `0x${'0c'.repeat(20)}`;
const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const HEIGHT = 100;

type Log = { address: string; topics: string[]; data: string; removed?: boolean };
type Receipt = Record<string, unknown> & { logs: Log[] };
type Answers = {
  block: Record<string, unknown> & { transactions: Record<string, unknown>[] };
  receipts: Receipt[];
};

/** Two transactions: 7 wei, and 25 tokens. */
function honest(): Answers {
  const log = {
    address: USDC,
    topics: [TRANSFER, topic(OTHER), topic(OURS)],
    data: word(25n),
    removed: false,
  };
  const transaction = (digit: string, to: string, value: string) => ({
    hash: hash(digit),
    from: OTHER,
    to,
    value,
  });
  const receipt = (digit: string, logs: Log[]): Receipt => ({
    ...{ transactionHash: hash(digit), blockHash: hash('e'), status: '0x1' },
    ...{ gasUsed: '0x5208', effectiveGasPrice: '0x1', logs },
  });
  return {
    block: {
      ...{ number: '0x64', hash: hash('e'), parentHash: hash('d'), timestamp: '0x6553f100' },
      transactions: [transaction('1', OURS, '0x7'), transaction('2', USDC, '0x0')],
    },
    receipts: [receipt('1', []), receipt('2', [log])],
  };
}

function readerOf({ block, receipts }: Answers) {
  const answer = ({ method }: Call): unknown => (method === 'eth_getBlockReceipts' ? receipts : block);
  const rpc = {
    call: async (method: string, params: readonly unknown[]) => answer({ method, params }),
    batch: async (calls: readonly Call[]) => calls.map(answer),
    close: async () => undefined,
  } as Rpc;
  return createEvmReader({ rpc, chain: 'ethereum', chainId: 1, usdcAddress: USDC });
}

const ether = ['ETH', 7n] as const;
const tokens = ['USDC_ERC20', 25n] as const;
/** No block that can be used, or an answer that is as good as none: the scanner waits. */
type Wait = 'no block' | 'no answer';

type Row = [name: string, believed: (readonly [string, bigint])[] | Wait, forge: (answers: Answers) => void];
const first = <T>(of: T[]): T => of[0] as T;
const logOf = ({ receipts }: Answers): Log => first((receipts[1] as Receipt).logs);

const rows: Row[] = [
  ['nothing is forged', [ether, tokens], () => undefined],
  [
    'Ether in a transaction that failed',
    [tokens],
    (a) => Object.assign(first(a.receipts), { status: '0x0' }),
  ],
  [
    'a log in a transaction that failed',
    [ether],
    (a) => Object.assign(a.receipts[1] as Receipt, { status: '0x0' }),
  ],
  ['a receipt without a status', 'no answer', (a) => delete first(a.receipts)['status']],
  ['a status nobody knows', 'no answer', (a) => Object.assign(first(a.receipts), { status: '0x2' })],
  ['a log that was withdrawn', [ether], (a) => Object.assign(logOf(a), { removed: true })],
  ['a log of another contract', [ether], (a) => Object.assign(logOf(a), { address: OTHER })],
  [
    'the token’s name in capitals is the token',
    [ether, tokens],
    (a) => Object.assign(logOf(a), { address: `0x${USDC.slice(2).toUpperCase()}` }),
  ],
  ['an approval', [ether], (a) => logOf(a).topics.splice(0, 1, APPROVAL)],
  ['a thing with a number', [ether], (a) => logOf(a).topics.push(word(25n))],
  ['a log that does not say to whom', [ether], (a) => logOf(a).topics.pop()],
  ['a log without topics', [ether], (a) => logOf(a).topics.splice(0)],
  [
    'a recipient with something before its address',
    [ether],
    (a) => logOf(a).topics.splice(2, 1, `0x${'f'.repeat(24)}${OURS.slice(2)}`),
  ],
  ['an amount of nothing', [ether], (a) => Object.assign(logOf(a), { data: word(0n) })],
  ['an amount that is too long', [ether], (a) => Object.assign(logOf(a), { data: `${word(25n)}00` })],
  ['an amount that is too short', [ether], (a) => Object.assign(logOf(a), { data: '0x19' })],
  ['no amount', [ether], (a) => Object.assign(logOf(a), { data: '0x' })],
  ['an amount that is no number', 'no answer', (a) => Object.assign(logOf(a), { data: '0xgg' })],
  ['a negative value', 'no answer', (a) => Object.assign(first(a.block.transactions), { value: '-0x7' })],
  [
    'a value longer than any',
    'no answer',
    (a) => Object.assign(first(a.block.transactions), { value: `0x1${'0'.repeat(64)}` }),
  ],
  [
    'receipts of another block',
    'no block',
    (a) => {
      for (const one of a.receipts) Object.assign(one, { blockHash: hash('f') });
    },
  ],
  [
    'one receipt of another block',
    'no block',
    (a) => Object.assign(first(a.receipts), { blockHash: hash('f') }),
  ],
  ['a receipt too few', 'no block', (a) => a.receipts.pop()],
  ['a receipt too many', 'no block', (a) => a.receipts.push(first(a.receipts))],
  ['receipts in another order', 'no block', (a) => a.receipts.reverse()],
  ['another block than the one asked for', 'no block', (a) => Object.assign(a.block, { number: '0x65' })],
];

describe('answers that nobody honest gives', () => {
  it.each(rows)('%s', async (_name, believed, forge) => {
    const answers = honest();
    forge(answers);
    const reading = readerOf(answers).block(HEIGHT);
    if (believed === 'no answer') {
      await expect(reading).rejects.toThrow(RpcUnavailable);
      return;
    }
    const payments = (await reading)?.payments.filter(({ address }) => address === OURS);
    expect(payments?.map(({ asset, amount }) => [asset, amount])).toEqual(
      believed === 'no block' ? undefined : believed,
    );
  });
});
