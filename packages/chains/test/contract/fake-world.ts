import type { AssetSymbol } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { type Flavour, fakeNetwork } from '../../src/fake/network.ts';
import { fakeNode } from '../../src/fake/node.ts';
import type { Candidate, World } from './world.ts';

const AMOUNT = units(1_000_000_001n);
const FORTUNE = 10n ** 15n;
const COINS = 20;

export const fakeCandidate = (flavour: Flavour): Candidate => ({
  name: `a fake chain of ${flavour === 'utxo' ? 'outputs' : 'accounts'}`,
  cannot:
    flavour === 'utxo'
      ? { fail: 'a transaction that fails is in no block', balances: 'money leaves a trace' }
      : { pending: 'what waits is not watched' },
  open: () => openFake(flavour),
});

async function openFake(flavour: Flavour): Promise<World> {
  const network = fakeNetwork({ flavour });
  const node = fakeNode(network);
  const sender = node.sender();
  const { native } = network;
  const token: AssetSymbol[] = flavour === 'account' ? ['USDC_ERC20'] : [];
  let addresses = 0;
  let orders = 0;
  for (let i = 0; i < COINS; i++) {
    network.pay([{ asset: native, address: sender.hotAddress, amount: units(FORTUNE) }]);
  }
  network.mine(10);

  async function inputs(amount: Units): Promise<{ nonce: number } | { inputs: string[] }> {
    orders += 1;
    if (flavour === 'account') return { nonce: orders };
    const coins = await sender.coins();
    const coin = coins[orders % coins.length];
    if (coin === undefined || amount > FORTUNE) throw new Error('there is no coin for that');
    return { inputs: [coin] };
  }

  return {
    assets: [native, ...token],
    manyOf: native,
    reader: node.reader(),
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
      return () => node.sender().sign(order);
    },
    wealth: () => sender.balance(native, sender.hotAddress),
    elsewhere: () => ({ reader: node.reader('another'), sender: node.sender('seed', 'another') }),
    nobody() {
      const gone = fakeNode(network);
      gone.away();
      return { reader: gone.reader(), sender: gone.sender() };
    },
    async stop() {},
  };
}
