import {
  feesAt,
  type Lifetime,
  type SolanaSigned,
  type SolanaTransferOrder,
} from '@quittance/chains/solana/transaction';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { hashOf, type SolTransaction } from './solana-net.ts';

export type Unsigned = { transaction: Omit<SolTransaction, 'hash'>; rentMax: bigint };

export function transferOf(
  hot: string,
  order: SolanaTransferOrder,
): Unsigned & { transaction: SolTransaction } {
  const { asset, to, amount, tokenAccountRent, lifetime, priorityFee } = order;
  const { type } = assets[asset];
  return {
    transaction: {
      hash: '',
      signers: [hot],
      blockhash: lifetime.blockhash,
      moves: [{ asset, from: hot, to, amount }],
      opens: type === 'token' ? [{ asset, owner: to }] : [],
      fee: feesAt(priorityFee).transfer[type],
      priorityFee,
    },
    rentMax: type === 'token' ? tokenAccountRent : 0n,
  };
}

type Bytes = Omit<SolTransaction, 'hash' | 'fee' | 'priorityFee' | 'moves'> & {
  moves: { asset: AssetSymbol; from: string; to: string; amount: string }[];
  fee: string;
  priorityFee: string;
};

export function signed({ transaction, rentMax }: Unsigned, lifetime: Lifetime): SolanaSigned {
  const { signers, blockhash, moves, opens, fee, priorityFee } = transaction;
  const bytes: Bytes = {
    signers,
    blockhash,
    moves: moves.map((move) => ({ ...move, amount: move.amount.toString() })),
    opens,
    fee: fee.toString(),
    priorityFee: priorityFee.toString(),
  };
  const raw = JSON.stringify(bytes);
  return {
    raw,
    txHash: hashOf(raw),
    maxCost: units(fee + rentMax) as Units,
    rentMax: units(rentMax) as Units,
    validToHeight: lifetime.lastValidBlockHeight,
  };
}

export function readBytes(raw: string): SolTransaction {
  const { signers, blockhash, moves, opens, fee, priorityFee } = JSON.parse(raw) as Bytes;
  return {
    hash: hashOf(raw),
    signers,
    blockhash,
    moves: moves.map((move) => ({ ...move, amount: BigInt(move.amount) })),
    opens,
    fee: BigInt(fee),
    priorityFee: BigInt(priorityFee),
  };
}
