import type { Broadcast, ChainSender, SignedTransaction, TransactionStatus } from '@quittance/chains/chain';
import { RpcUnavailable } from '@quittance/chains/json-rpc';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import {
  balanceOf,
  checkName,
  type FakeBlock,
  type FakeNetwork,
  type FakeTransaction,
  hashOf,
  newest,
  paymentsIn,
  type View,
} from './network.ts';

/** What a transaction of the sender costs, succeed or not, in native units. */
const FAKE_FEE = 21_000n as Units;
const FINAL_DEPTH = 6;

/** The same order gives the same bytes. */
export type FakeOrder = {
  asset: AssetSymbol;
  to: string;
  amount: Units;
  /** Of the account flavour: its number among the hot wallet's transactions. */
  nonce?: number;
  /** Of the UTXO flavour: the outpoints it spends, all of them the hot wallet's; what is left comes back. */
  inputs?: readonly string[];
};

export type FakeSender = ChainSender & {
  sign(order: FakeOrder): Promise<SignedTransaction>;
  /** Outpoints of the hot wallet that nothing in the chain has spent. */
  utxos(): Promise<string[]>;
};

export function senderOf(view: View, seed: string, named: string): FakeSender {
  const { network, blocks, pool } = view;
  const hotAddress = `${seed}-hot`;

  return {
    chain: network.chain,
    check: async () => checkName(network, blocks, named),
    hotAddress,
    depositAddress: (index) => `${seed}-${index}`,
    balance: async (asset, address) => balanceOf(blocks(), asset, address),
    estimatedFee: async () => {
      newest(blocks());
      return FAKE_FEE;
    },

    async sign(order) {
      const raw = Buffer.from(
        JSON.stringify({ from: hotAddress, ...order }, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      ).toString('hex');
      return { raw, txHash: hashOf(raw), maxCost: FAKE_FEE };
    },

    async utxos() {
      const spent = new Set(blocks().flatMap((block) => block.transactions.flatMap(({ claims }) => claims)));
      return paymentsIn(blocks())
        .filter(({ address, outpoint }) => address === hotAddress && !spent.has(outpoint))
        .map(({ outpoint }) => outpoint);
    },

    async broadcast(raw): Promise<Broadcast> {
      try {
        return take(view, raw);
      } catch (error) {
        if (error instanceof RpcUnavailable) return 'unknown';
        throw error;
      }
    },

    async status(txHash): Promise<TransactionStatus> {
      const seen = blocks();
      for (const { height, hash, transactions } of seen) {
        const mined = transactions.find((one) => one.txHash === txHash);
        if (mined === undefined) continue;
        const confirmations = seen.length - height;
        const { succeeds: succeeded, fee: feePaid } = mined;
        return { state: 'mined', height, blockHash: hash, confirmations, succeeded, feePaid };
      }
      return { state: pool().some((one) => one.txHash === txHash) ? 'pending' : 'absent' };
    },

    finalizedHeight: async () => Math.max(0, newest(blocks()).height - FINAL_DEPTH),

    async close() {},
  };
}

/** What a node does with bytes it is sent. */
function take({ network, blocks, pool }: View, raw: string): Broadcast {
  const txHash = hashOf(raw);
  const mined = blocks().flatMap((block) => block.transactions);
  if ([...mined, ...pool()].some((one) => one.txHash === txHash)) return 'accepted';
  const transaction = decoded(network, blocks(), raw, txHash);
  if (transaction === undefined) return 'rejected';
  const claimed = new Set([...mined, ...pool()].flatMap(({ claims }) => claims));
  if (transaction.claims.some((claim) => claimed.has(claim))) return 'rejected';
  const poor = transaction.debits.some(({ asset, address }) => {
    const mine = transaction.debits.filter((debit) => debit.asset === asset && debit.address === address);
    return balanceOf(blocks(), asset, address) < mine.reduce((sum, debit) => sum + debit.amount, 0n);
  });
  if (poor) return 'rejected';
  network.send(transaction);
  return 'accepted';
}

type Sent = {
  from: string;
  asset: AssetSymbol;
  to: string;
  amount: string;
  nonce?: number;
  inputs?: string[];
};

/** Undefined when these are no bytes of ours, or spend what is not there. */
function decoded(
  network: FakeNetwork,
  blocks: readonly FakeBlock[],
  raw: string,
  txHash: string,
): FakeTransaction | undefined {
  let sent: Sent;
  try {
    sent = JSON.parse(Buffer.from(raw, 'hex').toString()) as Sent;
  } catch {
    return undefined;
  }
  const { from, asset, to, nonce, inputs = [] } = sent;
  const amount = BigInt(sent.amount) as Units;
  const fee = { asset: network.native, address: from, amount: FAKE_FEE };
  const paid = { asset, address: to, amount };
  if (network.flavour === 'account') {
    const debits = [{ asset, address: from, amount }, fee];
    return { txHash, claims: [`${from}'s ${nonce}`], outputs: [paid], debits, fee: FAKE_FEE, succeeds: true };
  }
  const utxos = paymentsIn(blocks).filter(
    ({ outpoint, address }) => address === from && inputs.includes(outpoint),
  );
  const total = utxos.reduce((sum, utxo) => sum + utxo.amount, 0n);
  const change = total - amount - FAKE_FEE;
  if (utxos.length !== inputs.length || change < 0n) return undefined;
  const outputs = change === 0n ? [paid] : [paid, { asset, address: from, amount: change as Units }];
  const debits = utxos.map((utxo) => ({ asset, address: from, amount: utxo.amount }));
  return { txHash, claims: inputs, outputs, debits, fee: FAKE_FEE, succeeds: true };
}
