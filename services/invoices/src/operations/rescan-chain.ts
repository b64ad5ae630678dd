import type { Block } from '@quittance/chains/chain';
import { type Chain, type ChainKind, chainKinds, nativeAsset } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import { assertLease, type Lease, LeaseLost } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { ourAddresses } from '../address-filter.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { addressesAfter } from '../store/addresses.ts';
import { type Cursor, findCursor, knownBlocksBetween, lockCursor } from '../store/cursors.ts';
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
import { type ChainPorts, isLinked } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';
import {
  addressesIn,
  logContradictions,
  type OwnedPayment,
  paymentsTo,
  recordPayments,
} from './record-payments.ts';

/** Blocks a step reads at most, beside the scanner's own. Those of Bitcoin are of 20 MB each. */
const BATCH = { bitcoin: 1, evm: 16, solana: 16 } as const satisfies Record<ChainKind, number>;
/** So many steps in a row, at least a second apart, without what comes next, and it is given up. */
const TRIES_MAX = 60;
/** Addresses whose balances a step asks to be looked at, beside those of open invoices. */
const LOOKS = 250;

export type RescanPorts = ChainPorts & Pick<Ports, 'logger'>;

/** What the node tells now cannot be a part of the chain that was followed. */
class NotOurChain extends Error {}

/**
 * Reads the next of the blocks once more that an operator asked for, by the holder of the lease at the chain's head:
 * payments that were missed come in, what is known stays as it is, and how far the chain was followed does not change.
 * Money that left our addresses is not looked for: balances were explained without it, and would be explained twice with
 * it. What cannot be read is tried again, a minute or longer, and never keeps the scanner from its work. When all blocks
 * are read, each address' balance is looked at once, see check-balances.ts: after them, so that a payment that was missed
 * in its block comes in under its own name.
 */
export async function rescanChain(ports: RescanPorts, watched: WatchedChain, lease: Lease): Promise<void> {
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
    logger.info({ chain, from, until, found }, 'the blocks that were asked for were read again');
    return;
  }
  try {
    const blocks = await nextBlocks(watched, rescan, until);
    // All of it must be of the chain that we have followed: the scanner goes first along another one.
    if ((await reader.hashAt(cursor.height)) !== cursor.hash) return;
    crashPoint('invoices.blocks_read_again');
    await recordRescanned(ports, watched, lease, { rescan, cursor, blocks, until });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    // A node that is away throws here as well: nothing is known of its blocks then.
    await reader.head();
    if ((await countTry(db, rescan.id)) < TRIES_MAX) return;
    await endRescan(db, rescan.id, clock.now(), reason(error));
    logger.error(
      { chain, from: rescan.fromHeight, at: rescan.nextHeight, reason: reason(error) },
      'blocks cannot be read again: the node does not tell them',
    );
    return;
  }
  crashPoint('invoices.rescan_advanced');
}

/** Has the next addresses looked at, those of token invoices too. @returns whether there were any */
async function requestBalanceChecks(
  { db, clock }: RescanPorts,
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

/** What follows the last block that was read, without a hole. Throws when the node does not tell it. */
async function nextBlocks(
  { reader, chain }: WatchedChain,
  { nextHeight, lastHash }: Rescan,
  until: number,
): Promise<[Block, ...Block[]]> {
  const kind = chainKinds[chain];
  const told = await reader.blocksAfter(nextHeight - 1, BATCH[kind]);
  const [first, ...following] = told.filter(({ height }) => height <= until);
  // On Solana some heights have no block; where it begins is what the node has, and is shown.
  if (first === undefined || (kind !== 'solana' && first.height !== nextHeight))
    throw new NotOurChain(`the node does not have block ${nextHeight}`);
  if (lastHash !== null && first.parentHash !== lastHash)
    throw new NotOurChain(`block ${first.height} does not follow the one before it`);
  if (!isLinked(first, following))
    throw new NotOurChain(`the blocks after ${first.height} do not follow each other`);
  return [first, ...following];
}

type Step = { rescan: Rescan; cursor: Cursor; blocks: [Block, ...Block[]]; until: number };

async function recordRescanned(
  ports: RescanPorts,
  watched: WatchedChain,
  lease: Lease,
  { rescan, cursor, blocks, until }: Step,
): Promise<void> {
  const { chain } = watched;
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    // The chain has moved meanwhile: the next step looks again.
    if ((await lockCursor(trx, chain)).hash !== cursor.hash) return;
    await expectOurs(trx, watched, blocks);
    const found = await recordMissedPayments(trx, ports, watched, blocks);
    const [first] = blocks;
    const last = blocks.at(-1) ?? first;
    await advanceRescan(trx, rescan.id, { untilHeight: until, first, last, found });
  });
}

/** Takes in what blocks that were read again hold and nobody knew of. @returns how many payments */
export async function recordMissedPayments(
  trx: Trx,
  ports: RescanPorts,
  watched: WatchedChain,
  blocks: readonly Block[],
): Promise<number> {
  const { chain } = watched;
  const ours = await ourAddresses(trx, watched, addressesIn(blocks));
  const missed = await unknownOf(
    trx,
    watched,
    blocks.flatMap((block) => paymentsTo(ours, block)),
  );
  // Keys used by an earlier installation: nobody's payment, see check-balances.ts.
  const isEarlier = ({ owner, block }: OwnedPayment) => block.height <= (owner.givenHeight ?? -1);
  const earlier = missed.filter(isEarlier);
  const owned = missed.filter((paid) => !isEarlier(paid));
  const invoices = [...new Set(owned.map(({ owner }) => owner.invoiceId))];
  await lockInvoices(trx, invoices);

  // A payment that nobody saw in its block may have been found by its balance and stand there under another name.
  // Where any was, only what the balance holds beyond all that is known decides.
  const native = nativeAsset[chain];
  const byBalance =
    watched.reader.balances === undefined
      ? new Set<string>()
      : await addressesPaidInternally(trx, chain, native, invoices);
  const isDoubtful = ({ payment: { asset, address } }: OwnedPayment) =>
    asset === native && byBalance.has(address);
  const doubtful = owned.filter(isDoubtful);
  const certain = owned.filter((paid) => !isDoubtful(paid));
  await recheckBalances(
    trx,
    chain,
    [...new Set(doubtful.map(({ payment }) => payment.address))],
    ports.clock.now(),
  );

  logContradictions(ports, chain, await recordPayments(trx, chain, certain, ports));
  await recomputeInvoices(trx, invoices, ports);
  tell(ports, watched, certain, 'a payment that had been missed was found');
  tell(ports, watched, earlier, 'a payment from before its address was given out is nobody’s');
  return certain.length;
}

/** Of the blocks that are remembered each must be the very same. Throws when one is not. */
async function expectOurs(trx: Trx, { chain }: WatchedChain, blocks: [Block, ...Block[]]): Promise<void> {
  const [first] = blocks;
  const { height: top } = blocks.at(-1) ?? first;
  const { blocks: remembered, lowest } = await knownBlocksBetween(trx, chain, first.height, top);
  const hashes = new Map(remembered.map(({ height, hash }) => [height, hash]));
  const other = blocks.find(
    ({ height, hash }) => lowest !== null && height >= lowest && hashes.get(height) !== hash,
  );
  if (other !== undefined)
    throw new NotOurChain(`block ${other.height} is another one than the block that was followed`);
}

async function unknownOf(
  trx: Trx,
  { chain }: WatchedChain,
  paid: readonly OwnedPayment[],
): Promise<OwnedPayment[]> {
  const known = await depositsByOutpoint(
    trx,
    chain,
    paid.map(({ payment }) => payment.outpoint),
  );
  return paid.filter(({ payment }) =>
    (known.get(payment.outpoint) ?? []).every(({ state }) => state !== 'seen' && state !== 'settled'),
  );
}

function tell(
  { logger }: RescanPorts,
  { chain }: WatchedChain,
  paid: readonly OwnedPayment[],
  message: string,
): void {
  for (const { payment, block } of paid) {
    const { txHash: tx, address } = payment;
    logger.warn({ chain, tx, address, height: block.height }, message);
  }
}
