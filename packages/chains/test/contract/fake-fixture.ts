import type { AssetSymbol } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { type Flavour, fakeNetwork } from '@quittance/testkit/fake-chain/network';
import { fakeNode } from '@quittance/testkit/fake-chain/node';
import type { FakeSender } from '@quittance/testkit/fake-chain/sender';
import { same } from '../../src/quorum.ts';
import { quorumReader } from '../../src/quorum-reader.ts';
import { type QuorumRules, quorumSender, senderRules } from '../../src/quorum-sender.ts';
import type { Candidate, Fixture } from './fixture.ts';

const AMOUNT = units(1_000_000_001n);
const FORTUNE = 10n ** 15n;
const UTXO_COUNT = 20;

type FakeNode = ReturnType<typeof fakeNode>;

const rules: QuorumRules<FakeSender> = {
  ...senderRules,
  sign: same('a signature'),
  utxos: same('the coins'),
};

/** With several nodes they answer as one: what one node promises, several that agree do. */
export const fakeCandidate = (flavour: Flavour, nodes = 1): Candidate => ({
  name: `a fake chain of ${flavour === 'utxo' ? 'outputs' : 'accounts'}${nodes > 1 ? ` with ${nodes} nodes` : ''}`,
  cannot:
    flavour === 'utxo'
      ? { fail: 'a transaction that fails is in no block', balances: 'money leaves a trace' }
      : { pending: 'what waits is not watched' },
  open: () => openFake(flavour, nodes),
});

async function openFake(flavour: Flavour, count: number): Promise<Fixture> {
  const network = fakeNetwork({ flavour });
  const nodes = Array.from({ length: count }, () => fakeNode(network));
  const readerOf = (of: FakeNode[], named?: string) => quorumReader(of.map((node) => node.reader(named)));
  const senderOf = (of: FakeNode[], named?: string) =>
    quorumSender(
      of.map((node) => node.sender('seed', named)),
      rules,
    );
  const sender = senderOf(nodes);
  const { native } = network;
  const token: AssetSymbol[] = flavour === 'account' ? ['USDC_ERC20'] : [];
  let addresses = 0;
  let orders = 0;
  for (let i = 0; i < UTXO_COUNT; i++) {
    network.pay([{ asset: native, address: sender.hotAddress, amount: units(FORTUNE) }]);
  }
  network.mine(10);

  async function inputs(amount: Units): Promise<{ nonce: number } | { inputs: string[] }> {
    orders += 1;
    if (flavour === 'account') return { nonce: orders };
    const utxos = await sender.utxos();
    const utxo = utxos[orders % utxos.length];
    if (utxo === undefined || amount > FORTUNE) throw new Error('there is no coin for that');
    return { inputs: [utxo] };
  }

  return {
    assets: [native, ...token],
    manyOf: native,
    reader: readerOf(nodes),
    sender,
    newAddress() {
      addresses += 1;
      return `somebody-${addresses}`;
    },
    amount: () => AMOUNT,
    pay: async (payments) => network.pay(payments),
    ...(flavour === 'account'
      ? {
          payInVain: async (address: string) =>
            network.pay([{ asset: native, address, amount: AMOUNT }], { succeeds: false }),
        }
      : {}),
    mine: async (blocks) => network.mine(blocks),
    // As on real chains: what was in a block of outputs waits again, what was in one of accounts is forgotten.
    reorg: async (depth, fate) =>
      network.reorg(depth, fate === 'again' ? 'again' : flavour === 'utxo' ? 'wait' : 'drop'),
    async order(to, amount) {
      const order = { asset: native, to, amount, ...(await inputs(amount)) };
      return () => senderOf(nodes).sign(order);
    },
    wealth: () => sender.balance(native, sender.hotAddress),
    elsewhere: () => ({ reader: readerOf(nodes, 'another'), sender: senderOf(nodes, 'another') }),
    nobody() {
      const nodes = Array.from({ length: count }, () => fakeNode(network));
      for (const node of nodes) node.away();
      return { reader: readerOf(nodes), sender: senderOf(nodes) };
    },
    async stop() {},
  };
}
