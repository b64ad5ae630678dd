import type { Block } from '@quittance/chains/chain';
import { type Chain, type ChainKind, chainKinds, nativeAsset } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease, LeaseLost } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { ourAddresses } from '../address-filter.ts';
import { isInBlock } from '../domain/deposit.ts';
import type { WatchedChain } from '../ports.ts';
import { addressesAfter } from '../store/addresses.ts';
import { findCursor, knownBlocksBetween, lockCursor } from '../store/cursors.ts';
import { depositsByOutpoint } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import {
  addressesPaidInternally,
  advanceRescan,
  checkBalancesSoon,
  countTry,
  endRescan,
  openRescan,
  type Rescan,
  recheckBalances,
} from '../store/rescans.ts';
import { type BlockPorts, isLinked } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';
import {
  addressesIn,
  logContradictions,
  type OwnedPayment,
  paymentsTo,
  recordPayments,
} from './record-payments.ts';

/** Blocks per step, beside those of the scanner. A Bitcoin block has up to 20 MB of JSON. */
const BATCH = { bitcoin: 1, evm: 16, solana: 16 } as const satisfies Record<ChainKind, number>;
/** After this many failed steps in a row, at least a second apart, the rescan ends as failed. */
const TRIES_MAX = 60;
/** Addresses per step whose balance check is requested. */
const LOOKS = 250;

/** The node's blocks are not part of the chain that the scanner applied. */
class NotOurChain extends Error {}

/**
 * Reads the next blocks of a rescan that an operator requested, by the holder of the lease when the chain is synced.
 * Missed payments are recorded; known ones and the cursor do not change. Transfers out of our addresses are not
 * recorded: balances were explained without them. A failed read is retried for at least a minute and never stops the
 * scanner. After the last block each address's balance is checked once, see check-balances.ts: a missed payment is
 * then recorded under its own name first.
 */
export async function rescanChain(ports: BlockPorts, watched: WatchedChain, lease: Lease): Promise<void> {
  const { db, logger, clock } = ports;
  const { chain, reader } = watched;
  const rescan = await openRescan(db, chain);
  const cursor = rescan && (await findCursor(db, chain));
  if (rescan === undefined || cursor === undefined) return;
  const until = Math.min(rescan.untilHeight ?? cursor.height, cursor.height);
  if (rescan.nextHeight > until) {
    if (reader.balances !== undefined && (await requestBalanceChecks(ports, chain, lease, rescan))) return;
    await endRescan(db, rescan.id, clock.now());
    const { fromHeight: from, found } = rescan;
    logger.info({ chain, from, until, found }, 'the rescan has ended');
    return;
  }
  try {
    const blocks = await nextBlocks(watched, rescan, until);
    // The blocks must belong to the applied chain. If the node is on another branch, the scanner handles that first.
    if ((await reader.hashAt(cursor.height)) !== cursor.hash) return;
    failpoint('invoices.blocks_read_again');
    await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      // The cursor has moved: the next step tries again.
      if ((await lockCursor(trx, chain)).hash !== cursor.hash) return;
      await expectOurs(trx, chain, blocks);
      const found = await recordMissedPayments(trx, ports, watched, blocks);
      const [first] = blocks;
      const last = blocks.at(-1) ?? first;
      await advanceRescan(trx, rescan.id, { untilHeight: until, first, last, found });
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    // An unreachable node throws here too: then nothing is known about its blocks.
    await reader.head();
    if ((await countTry(db, rescan.id)) < TRIES_MAX) return;
    await endRescan(db, rescan.id, clock.now(), reason(error));
    logger.error(
      { chain, from: rescan.fromHeight, at: rescan.nextHeight, reason: reason(error) },
      'the rescan failed: the node does not have the blocks',
    );
    return;
  }
  failpoint('invoices.rescan_advanced');
}

/** Requests balance checks for the next addresses, those of token invoices included. @returns whether there were any */
async function requestBalanceChecks(
  { db, clock }: BlockPorts,
  chain: Chain,
  lease: Lease,
  { id, balancesRequestedTo }: Rescan,
): Promise<boolean> {
  const [first, ...more] = await addressesAfter(db, chain, balancesRequestedTo, LOOKS);
  if (first === undefined) return false;
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await checkBalancesSoon(trx, { id, chain, addresses: [first, ...more] }, clock.now());
  });
  return true;
}

/** The blocks after the last one that was read, without a gap. Throws when the node does not have them. */
async function nextBlocks(
  { reader, chain }: WatchedChain,
  { nextHeight, lastHash }: Rescan,
  until: number,
): Promise<[Block, ...Block[]]> {
  const kind = chainKinds[chain];
  const blocks = await reader.blocksAfter(nextHeight - 1, BATCH[kind]);
  const [first, ...following] = blocks.filter(({ height }) => height <= until);
  // On Solana some slots have no block, so the first height may differ.
  if (first === undefined || (kind !== 'solana' && first.height !== nextHeight))
    throw new NotOurChain(`the node does not have block ${nextHeight}`);
  if (lastHash !== null && first.parentHash !== lastHash)
    throw new NotOurChain(`block ${first.height} does not follow the one before it`);
  if (!isLinked(first, following))
    throw new NotOurChain(`the blocks after ${first.height} do not follow each other`);
  return [first, ...following];
}

/** Records payments of these blocks that are not known yet. @returns how many */
export async function recordMissedPayments(
  trx: Trx,
  ports: BlockPorts,
  watched: WatchedChain,
  blocks: readonly Block[],
): Promise<number> {
  const { chain } = watched;
  const ours = await ourAddresses(trx, watched, addressesIn(blocks));
  const paid = blocks.flatMap((block) => paymentsTo(ours, block));
  const outpoints = paid.map(({ payment }) => payment.outpoint);
  const known = await depositsByOutpoint(trx, chain, outpoints);
  const missed = paid.filter(({ payment }) => !(known.get(payment.outpoint) ?? []).some(isInBlock));
  // Payments from before the address was given out belong to no invoice, see check-balances.ts.
  const isEarlier = ({ owner, block }: OwnedPayment) => block.height <= (owner.givenHeight ?? -1);
  const earlier = missed.filter(isEarlier);
  const owned = missed.filter((paid) => !isEarlier(paid));
  const invoices = [...new Set(owned.map(({ owner }) => owner.invoiceId))];
  await lockInvoices(trx, invoices);

  // A missed payment may have been found by its balance, and is recorded under another name. Where a deposit was
  // found that way, only the balance decides whether there is more.
  const native = nativeAsset[chain];
  const byBalance =
    watched.reader.balances === undefined
      ? new Set<string>()
      : await addressesPaidInternally(trx, chain, native, invoices);
  const isUncertain = ({ payment: { asset, address } }: OwnedPayment) =>
    asset === native && byBalance.has(address);
  const uncertain = owned.filter(isUncertain);
  const certain = owned.filter((paid) => !isUncertain(paid));
  const addresses = new Set(uncertain.map(({ payment }) => payment.address));
  await recheckBalances(trx, chain, [...addresses], ports.clock.now());

  const log = (some: readonly OwnedPayment[], message: string) => {
    for (const { payment, block } of some) {
      const { txHash: tx, address } = payment;
      ports.logger.warn({ chain, tx, address, height: block.height }, message);
    }
  };
  logContradictions(ports, chain, await recordPayments(trx, chain, certain, ports));
  await recomputeInvoices(trx, invoices, ports);
  log(certain, 'the rescan found a missed payment');
  log(earlier, 'the rescan ignores a payment from before its address was given out');
  return certain.length;
}

/** Each block that is stored must be the same. Throws when one differs. */
async function expectOurs(trx: Trx, chain: Chain, blocks: [Block, ...Block[]]): Promise<void> {
  const [first] = blocks;
  const { height: top } = blocks.at(-1) ?? first;
  const { blocks: remembered, lowest } = await knownBlocksBetween(trx, chain, first.height, top);
  const hashes = new Map(remembered.map(({ height, hash }) => [height, hash]));
  const other = blocks.find(
    ({ height, hash }) => lowest !== null && height >= lowest && hashes.get(height) !== hash,
  );
  if (other !== undefined)
    throw new NotOurChain(`block ${other.height} is not the block that the scanner applied`);
}
