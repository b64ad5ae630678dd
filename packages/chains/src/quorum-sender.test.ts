import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type FakeNode, type FakeSender, someNodes } from '@quittance/testkit/fake-chain';
import type { TokenDomain } from './chain.ts';
import { same } from './quorum.ts';
import {
  bitcoinRules,
  evmRules,
  type QuorumRules,
  quorumSender,
  senderRules,
  solanaRules,
} from './quorum-sender.ts';
import type { NonInclusion } from './solana/sender.ts';

const noQuorum = { name: 'NoQuorum' };
const expectNoQuorum = (ask: () => unknown) => expect(ask).toThrow(expect.objectContaining(noQuorum));
const away = { name: 'RpcUnavailable' };

describe('a sender of several nodes', () => {
  const rules: QuorumRules<FakeSender> = { ...senderRules, sign: same('a signature') };
  const build = (count = 2) => {
    const { network, nodes } = someNodes(count);
    network.mine();
    const sender = quorumSender(
      nodes.map((node) => node.sender()),
      rules,
    );
    const order = { to: 'them', amount: units(5n), nonce: 0 };
    return { network, nodes, sender, order };
  };

  test('sends to both, and tells what both tell', async () => {
    const { network, nodes, sender, order } = build();
    const signed = await sender.sign(order);
    expect(sender.hotAddress).toBe('hot');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    nodes[1].forget(signed.txHash);
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    network.mine(3);
    nodes[1].lag(1);
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', confirmations: 2 });
    nodes[1].lag(3);
    await expect(sender.status(signed.txHash)).rejects.toMatchObject(noQuorum);
    expect(await sender.finalizedHeight()).toBe(5);
    await expect(sender.balance('ETH', 'them')).rejects.toMatchObject(noQuorum);
    nodes[1].recover();
    expect(await sender.balance('ETH', 'them')).toBe(5n);
    await sender.close();
  });

  test('sends through the other node while one is away, and concludes nothing else', async () => {
    const { network, nodes, sender, order } = build();
    const signed = await sender.sign(order);
    nodes[0].away();
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    for (const ask of [
      () => sender.status(signed.txHash),
      () => sender.balance('ETH', 'them'),
      () => sender.estimatedFee('ETH'),
      () => sender.finalizedHeight(),
      () => sender.check(),
    ]) {
      await expect(ask()).rejects.toMatchObject(away);
    }
    nodes[1].away();
    expect(await sender.broadcast(signed.raw)).toBe('unknown');
    nodes[0].recover();
    nodes[1].recover();
    expect(network.pool()).toHaveLength(1);
  });

  test('goes on with two of three while one is away, behind or on a branch of its own', async () => {
    for (const strike of [
      (node: FakeNode) => node.away(),
      (node: FakeNode) => node.lag(9),
      (node: FakeNode) => node.branchOff(9, 20),
    ]) {
      const { network, nodes, sender, order } = build(3);
      const signed = await sender.sign(order);
      strike(nodes[0]);
      expect(await sender.broadcast(signed.raw)).toBe('accepted');
      expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
      network.mine(3);
      expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', confirmations: 3 });
      expect(await sender.finalizedHeight()).toBe(8);
      expect(await sender.balance('ETH', 'them')).toBe(5n);
      await sender.check();
    }
  });

  test('refuses to start when either node is on another network', async () => {
    const { nodes } = build();
    const sender = quorumSender([nodes[0].sender(), nodes[1].sender('another')], rules);
    await expect(sender.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
  });

  test('needs a rule for everything that asks a node', () => {
    // @ts-expect-error: how two nodes' signatures become one answer is not said
    const incomplete: QuorumRules<FakeSender> = { ...senderRules };
    expect(incomplete).not.toHaveProperty('sign');
  });
});

describe('several EVM nodes', () => {
  test('give the fees that suffice for a quorum of them', () => {
    const [low, high, absurd] = [
      { maxFeePerGas: 10n, maxPriorityFeePerGas: 2n },
      { maxFeePerGas: 12n, maxPriorityFeePerGas: 1n },
      { maxFeePerGas: 10n ** 18n, maxPriorityFeePerGas: 10n ** 18n },
    ];
    expect(evmRules.fees([low, high], 2, [])).toEqual({ maxFeePerGas: 12n, maxPriorityFeePerGas: 2n });
    expect(evmRules.fees([low, high, absurd], 3, [])).toEqual({
      maxFeePerGas: 12n,
      maxPriorityFeePerGas: 2n,
    });
  });

  test('decide by a quorum what a transfer needs, and whether it reverts', () => {
    const asked = ['ETH', '0x', units(1n)] as ['ETH', string, ReturnType<typeof units>];
    expect(evmRules.estimateTransfer([21_000n, 30_000n], 2, asked)).toBe(30_000n);
    expect(evmRules.estimateTransfer(['reverts', 'reverts'], 2, asked)).toBe('reverts');
    expectNoQuorum(() => evmRules.estimateTransfer([21_000n, 'reverts'], 2, asked));
    expect(evmRules.estimateTransfer(['reverts', 21_000n, 'reverts'], 3, asked)).toBe('reverts');
    expect(evmRules.estimateTransfer([21_000n, 'reverts', 30_000n], 3, asked)).toBe(30_000n);
  });

  test('have one nonce now, and of what is final the nonce that a quorum has reached', () => {
    expect(evmRules.nonce([3, 3], 2, ['0x', 'latest'])).toBe(3);
    expectNoQuorum(() => evmRules.nonce([3, 4], 2, ['0x', 'latest']));
    expect(evmRules.nonce([3, 4, 4], 3, ['0x', 'latest'])).toBe(4);
    expect(evmRules.nonce([3, 4], 2, ['0x', 'finalized'])).toBe(3);
    expect(evmRules.nonce([3, 4, 900], 3, ['0x', 'finalized'])).toBe(4);
    expect(evmRules.nonce([3, 4, 3], 3, ['0x', 'pending'])).toBe(4);
  });

  test('prove who used a nonce only when none of them contradicts', () => {
    const found = { txHash: 'a', height: 1, blockHash: 'b' };
    const who = (...answers: Parameters<typeof evmRules.findByNonce>[0]) =>
      evmRules.findByNonce(answers, 3, ['0x', 1, 1, 2]);
    expect(who(found, { ...found }, { ...found })).toEqual(found);
    // The third could not be asked, or lacks one of the blocks.
    expect(who(found, { ...found })).toEqual(found);
    expect(who(undefined, undefined)).toBeUndefined();
    expectNoQuorum(() => who(found, { ...found }, undefined));
    expectNoQuorum(() => who(undefined, undefined, found));
    expectNoQuorum(() => who(found));
  });

  test('have to tell the same of what a token’s signatures are bound to', () => {
    const domain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: '0x' } as const;
    const told = (...answers: TokenDomain[]) => evmRules.tokenDomain(answers, 3, ['USDC_ERC20']);
    expect(told(domain, { ...domain, version: '1' }, { ...domain })).toEqual(domain);
    expectNoQuorum(() => told(domain, { ...domain, version: '1' }));
  });
});

describe('several Bitcoin nodes', () => {
  test('give the fee that suffices for a quorum of those that have what is replaced', () => {
    expect(bitcoinRules.feeRate([3n, 5n], 2, [])).toBe(5n);
    expect(bitcoinRules.feeRate([3n, 900n, 5n], 3, [])).toBe(5n);
    const fee = (...answers: (bigint | undefined)[]) =>
      bitcoinRules.replacementFee(
        answers.map((one) => (one === undefined ? undefined : units(one))),
        answers.length,
        ['a', 1],
      );
    expect(fee(300n, undefined, 400n)).toBe(400n);
    expect(fee(300n, 900n, 400n)).toBe(400n);
    expect(fee(undefined, 300n)).toBe(300n);
    expect(fee(undefined, undefined)).toBeUndefined();
  });

  test('call an output unspent when a quorum does, as deep as a quorum knows', () => {
    const found = (confirmations: number, amount = 7n) => ({ confirmations, amount: units(amount) });
    const unspent = (...answers: Parameters<typeof bitcoinRules.unspent>[0]) =>
      bitcoinRules.unspent(answers, answers.length, [['a:0', 'b:0']]);
    expect(unspent([found(3), undefined], [found(2), undefined])).toEqual([found(2), undefined]);
    expectNoQuorum(() => unspent([found(3), undefined], [undefined, undefined]));
    expectNoQuorum(() => unspent([found(3), undefined], [found(3, 8n), undefined]));
    expect(unspent([found(3), undefined], [undefined, undefined], [found(9), found(1)])).toEqual([
      found(3),
      undefined,
    ]);
  });

  test('prove who spent an output only when none of them contradicts', () => {
    const spender = { outpoint: 'a:0', txHash: 'b', height: 1, blockHash: 'c' };
    const who = (...answers: Parameters<typeof bitcoinRules.findSpenders>[0]) =>
      bitcoinRules.findSpenders(answers, 3, [['a:0'], 1, 2]);
    expect(who([spender], [{ ...spender }])).toEqual([spender]);
    expectNoQuorum(() => who([spender], [{ ...spender }], []));
    expectNoQuorum(() => who([spender]));
  });

  test('give what an address has at the height that a quorum was at', () => {
    const outputs = [{ outpoint: 'a:0', amount: units(7n) }];
    const of = (height: number, given = outputs) => ({ height, outputs: given });
    expect(bitcoinRules.unspentOf([of(9), of(8)], 2, ['us'])).toEqual(of(8));
    expect(bitcoinRules.unspentOf([of(9), of(8), of(900, [])], 3, ['us'])).toEqual(of(9));
    expectNoQuorum(() => bitcoinRules.unspentOf([of(9), of(9, [])], 2, ['us']));
  });
});

describe('several Solana nodes', () => {
  const lifetime = (lastValidBlockHeight: number) => ({
    blockhash: `${lastValidBlockHeight}`,
    lastValidBlockHeight,
  });
  const AHEAD = 32;

  test.each<[string, number[], number, number, number]>([
    ['two of two', [130, 100], 2, 100, 130],
    ['two of three, as one is older', [130, 90, 100], 3, 100, 130],
    ['two of three, as one names a height that cannot be', [100, 1_000_000, 130], 3, 100, 130],
    ['two of three, as one names an end in the past', [100, 130, 0], 3, 100, 130],
  ])(
    'give the blockhash that %s know, believed to live longer than any of theirs',
    (_, ends, nodes, hash, end) => {
      for (const answers of [ends.map(lifetime), ends.toReversed().map(lifetime)]) {
        expect(solanaRules.lifetime(answers, nodes, [])).toEqual({
          blockhash: `${hash}`,
          lastValidBlockHeight: end + AHEAD,
        });
      }
    },
  );

  test('give no blockhash when the only two that answer are too far apart', () => {
    expectNoQuorum(() => solanaRules.lifetime([lifetime(1_000), lifetime(0)], 3, []));
  });

  test.each<[NonInclusion[], number, NonInclusion]>([
    [['proven', 'proven'], 2, 'proven'],
    [['proven', 'unproven'], 2, 'unproven'],
    [['unproven', 'unproven'], 2, 'unproven'],
    // The third is behind, or away.
    [['proven', 'unproven', 'proven'], 3, 'proven'],
    [['proven', 'proven'], 3, 'proven'],
    [['proven', 'unproven', 'unproven'], 3, 'unproven'],
    [['proven', 'proven', 'included'], 3, 'included'],
    [['proven', 'proven', 'unproven', 'unproven'], 4, 'unproven'],
  ])('%j of %i nodes make the non-inclusion of a transaction %s', (answers, nodes, outcome) => {
    expect(solanaRules.nonInclusion(answers, nodes, ['a', 1, 1])).toBe(outcome);
  });

  test('give the transactions of the hot wallet up to the newest that a quorum knows', () => {
    const list = (...lists: string[][]) => solanaRules.signatures(lists, lists.length, [null, 9]);
    expect(list(['a', 'b'], ['a'])).toEqual(['a']);
    expect(list(['a', 'b'], ['a'], ['a', 'b', 'c'])).toEqual(['a', 'b']);
    expect(list(['a', 'b'], ['x', 'y'], ['a', 'b'])).toEqual(['a', 'b']);
    expectNoQuorum(() => list(['a'], ['b']));
  });

  test('have to say the same of rents, trials, signers and what is held', () => {
    const rents = { wallet: units(1n), tokenAccount: units(2n) };
    expect(solanaRules.rents([rents, { ...rents }], 2, [])).toEqual(rents);
    expectNoQuorum(() => solanaRules.tryTransfer(['works', 'refused'], 2, [{} as never]));
    expect(solanaRules.tryTransfer(['works', 'refused', 'works'], 3, [{} as never])).toBe('works');
    expect(solanaRules.isSignedByHot([true, false, true], 3, ['a'])).toBe(true);
    expectNoQuorum(() =>
      solanaRules.tokenAccounts([[{ address: 'a', amount: units(1n) }], []], 2, ['USDC_SOL', 'owner']),
    );
  });
});
