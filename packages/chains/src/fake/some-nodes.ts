import { units } from '@quittance/shared/money';
import { quorumReader } from '../quorum-reader.ts';
import { type FakeNetworkOptions, fakeNetwork } from './network.ts';
import { fakeNode } from './node.ts';

export type FakeNode = ReturnType<typeof fakeNode>;

/** Nodes of one fake network that has ten blocks, and one reader of them all. */
export function someNodes(count: number, flavour: FakeNetworkOptions['flavour'] = 'account') {
  const network = fakeNetwork({ flavour });
  network.mine(10);
  const nodes = Array.from({ length: count }, () => fakeNode(network)) as [FakeNode, FakeNode, FakeNode];
  return { network, nodes, reader: quorumReader(nodes.map((node) => node.reader())) };
}

export const pay = (network: ReturnType<typeof fakeNetwork>, address = 'us', amount = 5n) =>
  network.pay([{ asset: network.native, address, amount: units(amount) }]);
