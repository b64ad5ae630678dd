import { describe, expect, jest, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import {
  type Block,
  type Broadcast,
  LacksToken,
  NoQuorum,
  type TransactionStatus,
  WrongNetwork,
} from './chain.ts';
import { RpcUnavailable } from './json-rpc.ts';
import { commonPrefix, Panel, quorumOf, reached, same, sufficient, unopposed } from './quorum.ts';
import { commonBlocks, sameBlock } from './quorum-reader.ts';
import { broadcastOf, statusOf } from './quorum-sender.ts';

const noQuorum = { name: 'NoQuorum' };

describe('the answers of several nodes', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])('need of %i nodes a quorum of %i', (nodes, quorum) => {
    expect(quorumOf(nodes)).toBe(quorum);
  });

  test('are one answer when a quorum says the same, whatever it is', () => {
    expect(same('x')([undefined, undefined], 2)).toBeUndefined();
    const balances = () => new Map([['a', 1n]]);
    expect(same('x')([balances(), balances()], 2)).toEqual(balances());
    expect(same('x')([1n, 2n, 1n], 3)).toBe(1n);
    expect(same('x')([1n, 1n], 3)).toBe(1n);
    expect(same('x')([2n, 1n, 1n, 1n], 4)).toBe(1n);
    expect(() => same('x')([1n, 2n], 2)).toThrow('x: no 2 of 2 nodes say the same');
    expect(() => same('x')([1n, 1n, 2n, 2n], 4)).toThrow('x: no 3 of 4 nodes say the same');
    expect(() => same('x')([undefined, null], 2)).toThrow(expect.objectContaining(noQuorum));
    expect(() => same('x')([1n], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test('are no proof when one node contradicts a quorum', () => {
    expect(unopposed('x')([1n, 1n], 3)).toBe(1n);
    expect(() => unopposed('x')([1n, 1n, 2n], 3)).toThrow('x: a node contradicts the others');
    expect(() => unopposed('x')([1n], 3)).toThrow(expect.objectContaining(noQuorum));
  });

  test('give the height that a quorum has reached, and the fee that suffices for one', () => {
    expect([reached([7], 1), reached([3, 9], 2), reached([3, 9, 5], 3), reached([3, 9, 5, 1], 4)]).toEqual([
      7, 3, 5, 3,
    ]);
    expect([sufficient([7n], 1), sufficient([3n, 9n], 2), sufficient([3n, 9n, 5n], 3)]).toEqual([7n, 9n, 5n]);
    expect(reached([3, 9], 3)).toBe(3);
    expect(() => reached([3], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test('give what a quorum has in the same order', () => {
    expect(commonPrefix('x')([['a', 'b', 'c'], ['a', 'b'], ['a']], 3)).toEqual(['a', 'b']);
    // Who has left the others is heard no more, also where it says the same again.
    expect(commonPrefix('x')([[...'abc'], [...'axc'], [...'ab']], 3)).toEqual(['a', 'b']);
    expect(commonPrefix('x')([['a'], [], []], 3)).toEqual([]);
    expect(() => commonPrefix('x')([['a'], ['b']], 2)).toThrow(expect.objectContaining(noQuorum));
  });

  test.each<[Broadcast[], Broadcast]>([
    [['accepted', 'accepted'], 'accepted'],
    [['accepted', 'rejected'], 'accepted'],
    [['unknown', 'accepted'], 'accepted'],
    [['rejected', 'rejected'], 'rejected'],
    // It may have reached the network by the one of which nothing is known.
    [['rejected', 'unknown'], 'unknown'],
    [['rejected', 'rejected', 'unknown'], 'unknown'],
    [['unknown', 'unknown'], 'unknown'],
  ])('make %j of a broadcast to all %s', (answers, outcome) => {
    expect(broadcastOf(answers, answers.length)).toBe(outcome);
  });

  test('do not tell of a broadcast while one may still accept it', () => {
    expect(() => broadcastOf(['rejected', 'rejected'], 3)).toThrow(expect.objectContaining(noQuorum));
    expect(broadcastOf(['rejected', 'accepted'], 3)).toBe('accepted');
  });

  const mined = (given: Partial<Extract<TransactionStatus, { state: 'mined' }>> = {}): TransactionStatus => ({
    state: 'mined',
    height: 7,
    blockHash: 'a',
    confirmations: 3,
    succeeded: true,
    feePaid: units(5n),
    ...given,
  });
  const [absent, pending] = [{ state: 'absent' }, { state: 'pending' }] as const;
  const [behind, elsewhere] = [mined({ confirmations: 1 }), mined({ blockHash: 'b' })];
  const liar = mined({ confirmations: 99 });

  test.each<[string, TransactionStatus[], TransactionStatus | 'wait', number?]>([
    ['absent on all', [absent, absent], absent],
    ['waiting on all', [pending, pending], pending],
    ['waiting on one', [absent, pending], pending],
    ['mined on all', [mined(), mined()], mined()],
    ['mined, and one is behind', [mined(), behind], behind],
    ['mined on one, and waiting on another', [mined(), pending], 'wait'],
    ['mined on one, and absent on another', [absent, mined()], 'wait'],
    ['mined in two blocks', [mined(), elsewhere], 'wait'],
    ['mined at two heights', [mined(), mined({ height: 8 })], 'wait'],
    ['mined with two outcomes', [mined(), mined({ succeeded: false })], 'wait'],
    ['mined for two fees', [mined(), mined({ feePaid: units(6n) })], 'wait'],
    ['mined on two of three, and one is away', [mined(), mined()], mined(), 3],
    ['mined on two of three, and one is behind', [mined(), absent, behind], behind],
    ['mined on two of three, and one lies of its depth', [mined(), liar, absent], mined()],
    ['mined on two of three, and one tells of another block', [mined(), elsewhere, mined()], mined()],
    ['mined on one of three, and the others wait for it', [mined(), pending, absent], pending, 3],
    ['mined on one of three, and the others do not have it', [mined(), absent, absent], absent, 3],
    ['mined on one of three, absent on another, and one is away', [mined(), absent], 'wait', 3],
    ['waiting on one of three, and the others do not have it', [pending, absent, absent], absent, 3],
    ['absent on two of four, and one is away', [absent, absent, mined()], 'wait', 4],
    ['absent on two of four', [absent, absent, mined(), mined()], 'wait', 4],
  ])('tell of a transaction that is %s', (_what, answers, outcome, nodes = answers.length) => {
    if (outcome === 'wait') {
      expect(() => statusOf(answers, nodes)).toThrow(expect.objectContaining(noQuorum));
    } else expect(statusOf(answers, nodes)).toEqual(outcome);
  });

  const block = (height: number, hash = `${height}`): Block => ({
    height,
    hash,
    parentHash: `${height - 1}`,
    time: new Date(height),
    payments: [],
    spends: [],
  });

  test('give a block the earliest time that is told, but for as many as may err', () => {
    const [early, late] = [block(7), { ...block(7), time: new Date(8) }];
    for (const [one, other] of [
      [early, late],
      [late, early],
    ] as const) {
      expect(sameBlock(7, [one, other], 2)).toEqual(early);
      expect(commonBlocks([[one], [other]], 2)).toEqual([early]);
    }
    const absurd = { ...block(7), time: new Date(-1) };
    expect(sameBlock(7, [late, absurd, early], 3)).toEqual(early);
    expect(sameBlock(7, [undefined, undefined], 2)).toBeUndefined();
    expect(() => sameBlock(7, [early, undefined], 2)).toThrow(expect.objectContaining(noQuorum));
    expect(() => sameBlock(7, [early, { ...late, hash: 'b' }], 2)).toThrow('block 7');
  });

  const to = (...heights: number[]) => heights.map((height) => block(height));

  test.each<[string, Block[], Block[], number[] | 'wait']>([
    ['the same', to(1, 2), to(1, 2), [1, 2]],
    ['one has seen less', to(1, 2), to(1), [1]],
    ['one has seen nothing', to(1), [], []],
    ['another block later on', to(1, 2), [block(1), block(2, 'b')], [1]],
    ['another block at once', to(1), [block(1, 'b')], 'wait'],
    ['one lacks a height that another has', to(1), to(2), 'wait'],
    ['other contents under one hash', to(1), [{ ...block(1), payments: [{} as never] }], 'wait'],
  ])('give of the next blocks those in common: %s', (_what, one, other, heights) => {
    const common = () => commonBlocks([one, other], 2);
    if (heights === 'wait') expect(common).toThrow(expect.objectContaining(noQuorum));
    else expect(common().map(({ height }) => height)).toEqual(heights);
  });
});

describe('a panel of nodes', () => {
  const panelOf = (...answers: (() => Promise<string>)[]) =>
    new Panel(answers, { chain: 'ethereum', graceMs: 10 });
  const says = (text: string) => () => Promise.resolve(text);
  const never = () => new Promise<string>(() => {});
  const fails = (error: Error) => () => Promise.reject(error);
  const ask = (node: () => Promise<string>) => node();
  const agreed = same('x');

  test('concludes without a node that hangs, and without one that throws anything', async () => {
    expect(await panelOf(says('a'), says('a'), never).ask(ask, agreed)).toBe('a');
    expect(await panelOf(fails(new Error('strange')), says('a'), says('a')).ask(ask, agreed)).toBe('a');
  });

  test('waits for a late node that decides between two answers', async () => {
    const late = () => new Promise<string>((resolve) => setTimeout(() => resolve('b'), 50));
    expect(await panelOf(says('a'), says('b'), late).ask(ask, agreed)).toBe('b');
  });

  test('throws what a node threw when fewer than a quorum answer', async () => {
    await expect(
      panelOf(says('a'), fails(new Error('first')), fails(new Error('second'))).ask(ask, agreed),
    ).rejects.toThrow('first');
  });

  test('does not wait for a silent node to decide between two answers', async () => {
    let hangs: (() => void) | undefined;
    const silent = jest
      .fn<() => Promise<string>>()
      .mockImplementationOnce(
        () => new Promise((_, reject) => setTimeout(() => reject(new RpcUnavailable('x', 'timeout')), 30)),
      )
      .mockImplementation(() => new Promise((resolve) => (hangs = () => resolve('a'))));
    let other = 'a';
    const panel = panelOf(says('a'), async () => other, silent);
    expect(await panel.ask(ask, agreed)).toBe('a');
    await new Promise((resolve) => setTimeout(resolve, 50));
    other = 'b';
    await expect(panel.ask(ask, agreed)).rejects.toBeInstanceOf(NoQuorum);
    hangs?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
    // It has answered since: the others wait for it again when they differ.
    const later = panel.ask(ask, agreed);
    await new Promise((resolve) => setTimeout(resolve, 30));
    hangs?.();
    expect(await later).toBe('a');
  });

  test('leaves a late node alone while eight of its answers are missing', async () => {
    let asked = 0;
    const hanging = () => {
      asked += 1;
      return never();
    };
    const panel = panelOf(says('a'), says('a'), hanging);
    for (let i = 0; i < 20; i++) expect(await panel.ask(ask, agreed)).toBe('a');
    expect(asked).toBe(8);
  });

  test('checks what a quorum answers in time, and throws when one node contradicts', async () => {
    const panel = (...answers: (() => Promise<void>)[]) =>
      new Panel(answers, { chain: 'ethereum', graceMs: 10 });
    const check = (node: () => Promise<void>) => node();
    const right = () => Promise.resolve();
    await panel(right, right, () => new Promise<void>(() => {})).check(check);
    await panel(right, right, () => Promise.reject(new LacksToken('it syncs'))).check(check);
    await expect(
      panel(right, right, () => Promise.reject(new WrongNetwork('chain 2'))).check(check),
    ).rejects.toThrow('chain 2');
    const lacking = () => Promise.reject(new LacksToken('no contract'));
    await expect(panel(right, lacking, lacking).check(check)).rejects.toThrow('no contract');
  });

  test('hears every node before a proof, and throws what contradicts it', async () => {
    let heard = false;
    const late = () =>
      new Promise<string>((_, reject) => {
        setTimeout(() => {
          heard = true;
          reject(new Error('it is in my block'));
        }, 50);
      });
    await expect(panelOf(says('a'), says('a'), late).askEvery(ask, agreed)).rejects.toThrow('in my block');
    expect(heard).toBe(true);
    const silent = fails(new RpcUnavailable('x', 'away'));
    expect(await panelOf(says('a'), silent, says('a')).askEvery(ask, agreed)).toBe('a');
  });
});
