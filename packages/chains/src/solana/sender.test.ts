import { describe, expect, test } from '@jest/globals';
import { scriptedRpc } from '@quittance/testkit/scripted-node';
import { network, transfer, wallet } from '@quittance/testkit/solana-orders';
import { RpcRefused, RpcUnavailable } from '../json-rpc.ts';
import { createSolanaSender, priorityFeeFor } from './sender.ts';

/** A node that answers each method with what is given, in turn; the last answer stays. */
const answering = (given: Record<string, unknown[]>) =>
  scriptedRpc((method) => {
    const answers = given[method] ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer === undefined ? new Error(`nobody expected ${method}`) : answer;
  });

const senderOn = (given: Record<string, unknown[]>) =>
  createSolanaSender({ rpc: answering(given), network, wallet });
const offline = senderOn({});
const statusAt = (slot: number, found: object | null) => ({ context: { slot }, value: [found] });
const known = { slot: 9, err: null, confirmationStatus: 'processed' };

describe('a broadcast', () => {
  const refusal = (code: number) => new RpcRefused('sendTransaction', code, 'no');

  test.each([
    ['taken', [], 'accepted'],
    ['refused because the node has it', [refusal(-32_002), statusAt(9, known)], 'accepted'],
    ['refused, and not known', [refusal(-32_002), statusAt(9, null)], 'unknown'],
    ['refused as no transaction, but known', [refusal(-32_602), statusAt(9, known)], 'accepted'],
    ['refused as no transaction, and not known', [refusal(-32_602), statusAt(9, null)], 'rejected'],
    [
      'refused, and then silence',
      [refusal(-32_602), new RpcUnavailable('getSignatureStatuses', 'cut')],
      'unknown',
    ],
    ['no answer', [new RpcUnavailable('sendTransaction', 'cut')], 'unknown'],
    ['another hash', ['3'.repeat(88)], 'unknown'],
  ] as const)('that is %s', async (_, [sent, status], outcome) => {
    const { raw, txHash } = await transfer();
    const sender = senderOn({ sendTransaction: [sent ?? txHash], getSignatureStatuses: [status] });
    expect(await sender.broadcast(raw)).toBe(outcome);
  });

  test('of bytes that are none asks nobody', async () => {
    expect(await offline.broadcast('AAAA')).toBe('rejected');
  });
});

describe('the proof that a transaction is dead', () => {
  const blockAbove = (height: number) => ({
    blockhash: 'B'.repeat(44),
    previousBlockhash: 'A'.repeat(44),
    parentSlot: 299,
    blockHeight: height + 1,
    signatures: ['5'.repeat(88)],
  });
  const asked = (height: number, status: object | null, statusSlot: number, atOnce = height) =>
    senderOn({
      getEpochInfo: [{ absoluteSlot: 500, blockHeight: atOnce }],
      getBlockHeight: [height],
      getSignatureStatuses: [statusAt(statusSlot, status)],
      getBlocksWithLimit: [[300]],
      getBlock: [blockAbove(150)],
    }).nonInclusion('3'.repeat(88), 150, 300);

  test.each([
    ['a finalized block above its last height, and no status', 151, null, 500, 'proven'],
    ['the last height itself is finalized', 150, null, 500, 'unproven'],
    ['it has a status', 151, known, 500, 'included'],
    ['it failed, which is a status', 151, { ...known, err: 'AccountInUse' }, 500, 'included'],
    ['the node that was asked for the status is behind', 151, null, 499, 'unproven'],
  ])('%s', async (_, height, status, slot, outcome) => {
    expect(await asked(height, status, slot)).toBe(outcome);
  });

  test('needs the height in both answers, which may be of two nodes', async () => {
    expect(await asked(151, null, 500, 150)).toBe('unproven');
    expect(await asked(150, null, 500, 151)).toBe('unproven');
  });

  test('is not given by a node that keeps no history', async () => {
    const sender = senderOn({
      getEpochInfo: [{ absoluteSlot: 500, blockHeight: 151 }],
      getBlockHeight: [151],
      getSignatureStatuses: [new RpcRefused('getSignatureStatuses', -32_011, 'history is not available')],
    });
    await expect(sender.nonInclusion('3'.repeat(88), 150, 300)).rejects.toThrow('history');
  });
});

test.each([
  [[], 10_000n],
  [[0, 0, 0, 0], 10_000n],
  [[0, 40_000, 20_000, 30_000], 40_000n],
  [[9_999_999_999], 1_000_000n],
])('the price of a place among %p', (recent, price) => {
  expect(priorityFeeFor(recent)).toBe(price);
});

test('what was only simulated was signed by nobody, and is no transaction of the hot wallet', async () => {
  const listed = (signature: string) => ({ signature, confirmationStatus: 'finalized' });
  const sender = senderOn({
    getSignaturesForAddress: [
      [
        listed('5'.repeat(88)),
        listed('1'.repeat(64)),
        { signature: '4'.repeat(88), confirmationStatus: 'confirmed' },
      ],
    ],
  });
  expect(await sender.signatures(null, 10)).toEqual(['5'.repeat(88)]);
});
