import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { type Payment, WrongNetwork } from '../chain.ts';
import type { FakeBlock, FakeNetwork, FakeTransaction } from './network.ts';

export type View = {
  network: FakeNetwork;
  blocks(): readonly FakeBlock[];
  pool(): readonly FakeTransaction[];
  losesAnswers(): boolean;
};

export function paymentsOf({ txHash, outputs, succeeds }: FakeTransaction): Payment[] {
  if (!succeeds) return [];
  return outputs.flatMap(({ asset, address, amount, traceless }, outputIndex) =>
    traceless === true
      ? []
      : [{ outpoint: `${txHash}:${outputIndex}`, txHash, outputIndex, asset, address, amount }],
  );
}

export const paymentsIn = (blocks: readonly FakeBlock[]): Payment[] =>
  blocks.flatMap((block) => block.transactions.flatMap(paymentsOf));

export function balanceOf(blocks: readonly FakeBlock[], asset: AssetSymbol, address: string): Units {
  const isIt = (one: { asset: AssetSymbol; address: string }) =>
    one.asset === asset && one.address === address;
  let balance = 0n;
  for (const { succeeds, outputs, debits } of blocks.flatMap((block) => block.transactions)) {
    if (succeeds) for (const output of outputs.filter(isIt)) balance += output.amount;
    for (const debit of debits.filter(isIt)) balance -= debit.amount;
  }
  return balance as Units;
}

export const newest = (blocks: readonly FakeBlock[]): FakeBlock => blocks[blocks.length - 1] as FakeBlock;

export function checkName(network: FakeNetwork, blocks: View['blocks'], named: string): void {
  newest(blocks());
  if (network.name !== named)
    throw new WrongNetwork(`the node is on ${network.name}, configured is ${named}`);
}
