import { formatUnits, units } from '@quittance/shared/money';
import { bitcoinChain, outpointOf, wallet } from '../bitcoin-chain.ts';
import { contract } from './contract.ts';
import { connections, type Fixture } from './fixture.ts';

const DECIMALS = 8;
const AMOUNT = units(123_456_789n);
/** As many as orders are given; none of them is spent twice. */
const UTXO_COUNT = 15;
const UTXO_AMOUNT = units(300_000_000n);
const FEE_MAX = units(100_000n);

contract({
  name: 'Bitcoin (bitcoind)',
  cannot: { fail: 'a transaction that fails is in no block', balances: 'money leaves a trace' },
  open: openBitcoind,
});

async function openBitcoind(): Promise<Fixture> {
  const chain = await bitcoinChain();
  const { node } = chain;
  const connected = connections<'bitcoin'>(
    node.rpcUrl,
    { kind: 'bitcoin', chain: 'bitcoin', network: 'regtest' },
    { network: 'signet' },
  );
  const { sender } = connected;
  let addresses = 0;
  let orders = 0;

  const utxos: string[] = [];
  for (let i = 0; i < UTXO_COUNT; i++) {
    const txid = await node.pay(sender.hotAddress, formatUnits(UTXO_AMOUNT, DECIMALS));
    utxos.push(await outpointOf(node, txid, sender.hotAddress));
  }
  await node.mine(1);

  /** Without the coinbases: they are gone with their blocks. */
  async function transactions(depth: number): Promise<string[]> {
    const height = await node.rpc<number>('getblockcount');
    const found: string[] = [];
    for (let at = height - depth + 1; at <= height; at++) {
      const { tx } = await node.rpc<{ tx: string[] }>('getblock', await node.rpc('getblockhash', at), 1);
      found.push(...tx.slice(1));
    }
    return found;
  }

  return {
    assets: ['BTC'],
    manyOf: 'BTC',
    ...connected,
    newAddress() {
      addresses += 1;
      return wallet.address('deposit', 1_000_000 + addresses);
    },
    amount: () => AMOUNT,
    pay: (payments) =>
      node.rpc(
        'sendmany',
        '',
        Object.fromEntries(payments.map(({ address, amount }) => [address, formatUnits(amount, DECIMALS)])),
      ),
    mine: async (blocks) => {
      await node.mine(blocks);
    },
    async reorg(depth, fate) {
      await node.reorganise(depth, fate === 'again' ? [await transactions(depth)] : []);
    },
    async order(to, amount) {
      const outpoint = utxos[orders];
      if (outpoint === undefined) throw new Error('all coins are used');
      const order = {
        available: [{ outpoint, branch: 'hot', index: 0, amount: UTXO_AMOUNT }],
        recipients: [{ to, amount }],
        changeIndex: orders,
        feeRate: 3n,
        feeMax: FEE_MAX,
      } as const;
      orders += 1;
      return () =>
        connected.signAgain(async (fresh) => {
          const spend = sender.selectUtxos(order);
          if (typeof spend === 'string') throw new Error(spend);
          return fresh.signSpend(spend);
        });
    },
    async wealth() {
      const ours = [
        sender.hotAddress,
        ...Array.from({ length: orders }, (_, i) => wallet.address('change', i)),
      ];
      let sum = 0n;
      for (const address of ours) sum += await sender.balance('BTC', address);
      return sum;
    },
    async stop() {
      await connected.close();
      await chain.stop();
    },
  };
}
