import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type FakeNode, someNodes } from '@quittance/testkit/fake-chain/node';
import type { FakeSender } from '@quittance/testkit/fake-chain/sender';
import { same } from './quorum.ts';
import { type QuorumRules, quorumSender, senderRules } from './quorum-sender.ts';

const noQuorum = { name: 'NoQuorum' };
const away = { name: 'RpcUnavailable' };

describe('a sender of several nodes', () => {
  const rules: QuorumRules<FakeSender> = {
    ...senderRules,
    sign: same('a signature'),
    utxos: same('the coins'),
  };
  const build = (count = 2) => {
    const { network, nodes } = someNodes(count);
    network.pay([{ asset: 'ETH', address: 'seed-hot', amount: units(1_000_000n) }]);
    network.mine();
    const sender = quorumSender(
      nodes.map((node) => node.sender()),
      rules,
    );
    const order = { asset: 'ETH', to: 'them', amount: units(5n), nonce: 0 } as const;
    return { network, nodes, sender, order };
  };

  test('sends to both, and tells what both tell', async () => {
    const { network, nodes, sender, order } = build();
    const signed = await sender.sign(order);
    expect([sender.hotAddress, sender.depositAddress(3)]).toEqual(['seed-hot', 'seed-3']);
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
    const sender = quorumSender([nodes[0].sender(), nodes[1].sender('seed', 'another')], rules);
    await expect(sender.check()).rejects.toMatchObject({ name: 'WrongNetwork' });
  });

  test('needs a rule for everything that asks a node', () => {
    // @ts-expect-error: how two nodes' coins become one answer is not said
    const incomplete: QuorumRules<FakeSender> = {
      ...senderRules,
      sign: same('a signature'),
    };
    expect(incomplete).not.toHaveProperty('coins');
  });
});
