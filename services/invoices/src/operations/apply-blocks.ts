import type { Block } from '@quittance/chains/chain';
import { assets } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import type { Span } from '@quittance/shared/traces';
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
  type OwnedPayment,
  paymentsTo,
  recordPayments,
  recordSpends,
  spendsFrom,
} from './record-payments.ts';

/** Deeper than any reorganisation that is not an attack. A deeper one stops the scanner. */
export const BLOCKS_KEPT = 1_000;

export type BlockStep = {
  watched: Pick<WatchedChain, 'chain' | 'filter'>;
  lease: Lease;
  /** The cursor: the last applied block. */
  from: KnownBlock;
  /** The last block that stays: `from` itself when there is no reorganisation. */
  base: KnownBlock;
  /** The blocks after `base`, at least one. */
  blocks: readonly Block[];
};

export type BlockPorts = Pick<Ports, 'db' | 'clock' | 'random' | 'logger' | 'tracer'> & ViewPorts;

/**
 * Applies blocks in one transaction: drops the blocks after `base`, records the payments of the new blocks, and
 * recomputes every affected invoice. A payment that only moves to another block is never reported as lost.
 */
export async function applyBlocks(ports: BlockPorts, move: BlockStep): Promise<void> {
  const { watched, from, base, blocks } = move;
  const { chain } = watched;
  const tip = blocks.at(-1);
  invariant(tip !== undefined, 'there is at least one block to apply');
  invariant(isLinked(base, blocks), 'the new blocks follow each other');
  const { contradicted, paid } = await ports.db.transaction(async (trx) => {
    await assertLease(trx, move.lease);
    const cursor = await lockCursor(trx, chain);
    invariant(cursor.hash === from.hash, 'only the holder of the lease changes the cursor');

    const ours = await ourAddresses(trx, watched, addressesIn(blocks));
    const paid = blocks.flatMap((block) => paymentsTo(ours, block));
    const left =
      base.height < from.height
        ? [
            ...(await invoicesAbove(trx, chain, base.height)),
            ...(await contradictedAbove(trx, chain, base.height)),
          ]
        : [];
    // Invoices that were due before are recomputed by recomputeOverdueInvoices, so that thousands of deposits delay
    // no block.
    const due = await invoicesDue(trx, chain, base.height, tip.height);
    const touched = new Set<InvoiceId>([...left, ...due, ...paid.map(({ owner }) => owner.invoiceId)]);
    await lockInvoices(trx, touched);

    if (base.height < from.height) {
      await endContradictionsAbove(trx, chain, base.height, ports.clock.now());
      await dropDeposits(trx, chain, base.height, from.height);
      await dropBlocks(trx, chain, base.height);
      failpoint('invoices.branch_dropped');
    }
    const found = await recordPayments(trx, chain, paid, ports);
    if (paid.length > 0) failpoint('invoices.deposits_written');
    found.push(...(await recordSpends(trx, chain, spendsFrom(ours, blocks), ports)));
    await saveBlocks(trx, chain, blocks);
    await pruneBlocksBelow(trx, chain, tip.height - BLOCKS_KEPT);
    await moveCursor(trx, chain, tip);
    const held = found.flatMap(({ invoiceId }) => invoiceId ?? []);
    await recomputeInvoices(trx, [...touched, ...held], ports);
    failpoint('invoices.block_written');
    return { contradicted: found, paid };
  });
  failpoint('invoices.block_committed');
  ports.tracer.record(() => seenSpans(paid, ports.clock.now()));
  logContradictions(ports, chain, contradicted);
}

/** From the block of a payment until it is written down: once in each block that has it. */
const seenSpans = (paid: readonly OwnedPayment[], now: Date): Span[] =>
  paid.map(({ payment: { outpoint, asset }, owner: { invoiceId: id }, block }) => ({
    of: { is: 'invoice', id },
    name: 'deposit seen',
    kind: 'internal',
    start: block.time,
    end: now,
    step: `seen ${block.hash} ${outpoint}`,
    attributes: {
      'quittance.asset': asset,
      'quittance.chain': assets[asset].chain,
      'quittance.block.height': block.height,
    },
  }));

/** Each block names the one before it as its parent. */
export const haveParents = (base: KnownBlock, blocks: readonly Block[]): boolean =>
  blocks.every((block, i) => block.parentHash === (blocks[i - 1] ?? base).hash);

/** And is higher, by more than one on Solana, where heights are slots and some slots have no block. */
export const isLinked = (base: KnownBlock, blocks: readonly Block[]): boolean =>
  haveParents(base, blocks) && blocks.every((block, i) => block.height > (blocks[i - 1] ?? base).height);
