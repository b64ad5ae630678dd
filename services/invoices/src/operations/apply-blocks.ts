import type { Block } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import type { InvoiceId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { ourAddresses } from '../address-filter.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { contradictedAbove, endContradictionsAbove } from '../store/contradictions.ts';
import {
  dropBlocks,
  type KnownBlock,
  lockCursor,
  moveCursor,
  pruneBlocksBelow,
  saveBlocks,
} from '../store/cursors.ts';
import { dropDeposits, invoicesAbove, invoicesDue } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import type { ViewPorts } from '../views.ts';
import { recomputeInvoices } from './recompute-invoices.ts';
import {
  addressesIn,
  logContradictions,
  paymentsTo,
  recordPayments,
  recordSpends,
  spendsFrom,
} from './record-payments.ts';

/** Deeper than any reorganisation that is not an attack; what is deeper stops the scanner. */
export const BLOCKS_KEPT = 1_000;

export type BlockStep = {
  watched: Pick<WatchedChain, 'chain' | 'filter'>;
  lease: Lease;
  /** Where the chain was followed to. */
  from: KnownBlock;
  /** The last block that stays; the same as `from` when the chain only grew. */
  base: KnownBlock;
  /** The blocks that follow it, at least one. */
  blocks: readonly Block[];
};

export type ChainPorts = Pick<Ports, 'db' | 'clock' | 'random' | 'logger'> & ViewPorts;

/**
 * Follows the chain one step in one transaction: the blocks after `base` leave, the new ones come, and every
 * invoice that feels it is brought up to date. A payment that only moved to another block never looks lost.
 */
export async function applyBlocks(ports: ChainPorts, move: BlockStep): Promise<void> {
  const { watched, from, base, blocks } = move;
  const { chain } = watched;
  const tip = blocks.at(-1);
  invariant(tip !== undefined, 'a chain moves by blocks');
  invariant(isLinked(base, blocks), 'the new blocks follow each other');
  const contradicted = await ports.db.transaction(async (trx) => {
    await assertLease(trx, move.lease);
    const cursor = await lockCursor(trx, chain);
    invariant(cursor.hash === from.hash, 'only the holder of the lease moves the cursor');

    const ours = await ourAddresses(trx, watched, addressesIn(blocks));
    const paid = blocks.flatMap((block) => paymentsTo(ours, block));
    const left =
      base.height < from.height
        ? [
            ...(await invoicesAbove(trx, chain, base.height)),
            ...(await contradictedAbove(trx, chain, base.height)),
          ]
        : [];
    // What was due before and is left is settled beside the chain: thousands of deposits hold up no block.
    const due = await invoicesDue(trx, chain, base.height, tip.height);
    const touched = new Set<InvoiceId>([...left, ...due, ...paid.map(({ owner }) => owner.invoiceId)]);
    await lockInvoices(trx, touched);

    if (base.height < from.height) {
      await endContradictionsAbove(trx, chain, base.height, ports.clock.now());
      await dropDeposits(trx, chain, base.height, from.height);
      await dropBlocks(trx, chain, base.height);
      crashPoint('invoices.branch_dropped');
    }
    const told = await recordPayments(trx, chain, paid, ports);
    if (paid.length > 0) crashPoint('invoices.deposits_written');
    told.push(...(await recordSpends(trx, chain, spendsFrom(ours, blocks), ports)));
    await saveBlocks(trx, chain, blocks);
    await pruneBlocksBelow(trx, chain, tip.height - BLOCKS_KEPT);
    await moveCursor(trx, chain, tip);
    await recomputeInvoices(
      trx,
      [...touched, ...told.flatMap(({ deposit }) => deposit?.invoiceId ?? [])],
      ports,
    );
    crashPoint('invoices.block_written');
    return told;
  });
  crashPoint('invoices.block_committed');
  logContradictions(ports, chain, contradicted);
}

export function isLinked(base: KnownBlock, blocks: readonly Block[]): boolean {
  return blocks.every((block, i) => {
    const before = blocks[i - 1] ?? base;
    // On Solana, where heights are slots, some have no block.
    return block.parentHash === before.hash && block.height > before.height;
  });
}
