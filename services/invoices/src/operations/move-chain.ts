import type { Block, Payment } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import { type InvoiceId, newDepositId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { earlier, type Mined, recognise } from '../domain/deposit.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { lockInvoices } from '../store.ts';
import {
  dropBlocks,
  forgetBlocksBelow,
  type KnownBlock,
  lockCursor,
  moveCursor,
  type OurAddress,
  ourAddresses,
  recordSpends,
  rememberBlocks,
} from '../store-chain.ts';
import {
  depositsByOutpoint,
  dropDeposits,
  insertDeposits,
  invoicesAbove,
  invoicesDue,
  type NewDeposit,
  returnDeposits,
} from '../store-deposits.ts';
import { endSightings } from '../store-sightings.ts';
import type { Shown } from '../views.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

/** Deeper than any reorganisation that is not an attack; what is deeper stops the scanner. */
export const BLOCKS_REMEMBERED = 1_000;

export type Move = {
  watched: Pick<WatchedChain, 'chain' | 'filter'>;
  lease: Lease;
  /** Where the chain was followed to. */
  from: KnownBlock;
  /** The last block that stays; the same as `from` when the chain only grew. */
  base: KnownBlock;
  /** The blocks that follow it, at least one. */
  blocks: readonly Block[];
};

export type MovingPorts = Pick<Ports, 'db' | 'clock' | 'random'> & Shown;

/**
 * Follows the chain one step in one transaction: the blocks after `base` leave, the new ones come, and every
 * invoice that feels it is brought up to date. A payment that only moved to another block never looks lost.
 */
export async function moveChain(ports: MovingPorts, move: Move): Promise<void> {
  const { watched, from, base, blocks } = move;
  const { chain } = watched;
  const tip = blocks.at(-1);
  invariant(tip !== undefined, 'a chain moves by blocks');
  invariant(isLinked(base, blocks), 'the new blocks follow each other');
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, move.lease);
    const cursor = await lockCursor(trx, chain);
    invariant(cursor.hash === from.hash, 'only the holder of the lease moves the cursor');

    const ours = await ourAddresses(trx, watched, mentioned(blocks));
    const paid = blocks.flatMap((block) => paymentsTo(ours, block));
    const left = base.height < from.height ? await invoicesAbove(trx, chain, base.height) : [];
    const due = await invoicesDue(trx, chain, tip.height);
    const touched = new Set<InvoiceId>([...left, ...due, ...paid.map(({ owner }) => owner.invoiceId)]);
    await lockInvoices(trx, touched);

    if (base.height < from.height) {
      await dropDeposits(trx, chain, base.height, from.height);
      await dropBlocks(trx, chain, base.height);
      crashPoint('invoices.branch_dropped');
    }
    await takeIn(trx, chain, paid, ports);
    if (paid.length > 0) crashPoint('invoices.deposits_written');
    await recordSpends(trx, chain, spendsFrom(ours, blocks));
    await rememberBlocks(trx, chain, blocks);
    await forgetBlocksBelow(trx, chain, tip.height - BLOCKS_REMEMBERED);
    await moveCursor(trx, chain, tip);
    await bringUpToDate(trx, touched, ports);
    crashPoint('invoices.block_written');
  });
  crashPoint('invoices.block_committed');
}

export function isLinked(base: KnownBlock, blocks: readonly Block[]): boolean {
  return blocks.every((block, i) => {
    const before = blocks[i - 1] ?? base;
    // On Solana, where heights are slots, some have no block.
    return block.parentHash === before.hash && block.height > before.height;
  });
}

export const mentioned = (blocks: readonly Block[]): string[] => [
  ...new Set(
    blocks.flatMap(({ payments, spends }) => [...payments, ...spends].map(({ address }) => address)),
  ),
];

export type Paid = { payment: Payment; owner: OurAddress; block: Block };

export function paymentsTo(ours: ReadonlyMap<string, OurAddress>, block: Block): Paid[] {
  return block.payments.flatMap((payment): Paid[] => {
    const owner = ours.get(payment.address);
    return owner === undefined || payment.amount <= 0n ? [] : [{ payment, owner, block }];
  });
}

const spendsFrom = (ours: ReadonlyMap<string, OurAddress>, blocks: readonly Block[]) =>
  blocks.flatMap(({ height, spends }) =>
    spends.filter(({ address }) => ours.has(address)).map((spend) => ({ ...spend, height })),
  );

/** Writes payments to our addresses down as deposits: new ones, and those that come back. */
export async function takeIn(
  trx: Trx,
  chain: Chain,
  paid: readonly (Omit<Paid, 'block'> & { block: KnownBlock })[],
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): Promise<void> {
  if (paid.length === 0) return;
  const now = clock.now();
  const outpoints = paid.map(({ payment }) => payment.outpoint);
  const known = await depositsByOutpoint(trx, chain, outpoints);
  const sighted = await endSightings(trx, chain, outpoints);
  const fresh: NewDeposit[] = [];
  const returned: Parameters<typeof returnDeposits>[1][number][] = [];
  for (const { payment, owner, block } of paid) {
    const { outpoint, asset, address, amount } = payment;
    const place = { blockHeight: block.height, blockHash: block.hash };
    // The earlier of its block's time and our sighting of it: neither clock alone makes a customer late.
    const seenAt = earlier(block.time, sighted.get(outpoint) ?? now);
    const mined: Mined = { outpoint, asset, address, amount, ...place, seenAt };
    const found = recognise(mined, known.get(outpoint) ?? []);
    switch (found.as) {
      case 'known':
        break;
      case 'returned':
        returned.push({ id: found.deposit, state: found.state, ...place, firstSeenAt: found.firstSeenAt });
        break;
      case 'new':
        fresh.push({
          id: newDepositId(now, random),
          outpoint,
          invoiceId: owner.invoiceId,
          asset,
          address,
          derivationIndex: owner.derivationIndex,
          amount,
          txHash: payment.txHash,
          outputIndex: payment.outputIndex,
          ...place,
          firstSeenAt: found.firstSeenAt,
          minConfirmations: Math.max(owner.minConfirmations, payment.confirmationsMin ?? 0),
        });
        break;
    }
  }
  await returnDeposits(trx, returned);
  await insertDeposits(trx, chain, fresh);
}
