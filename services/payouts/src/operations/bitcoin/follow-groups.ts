import type { TransactionStatus } from '@quittance/chains/chain';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { assertNever, invariant } from '@quittance/shared/result';
import pMap from 'p-map';
import { nextBitcoinStep } from '../../domain/bitcoin/next-step.ts';
import type { BitcoinPorts } from '../../ports.ts';
import { openGroups } from '../../store/replacement-groups.ts';
import {
  newestOf,
  noteBlock,
  noteDoubt,
  type ReplacementGroup,
  type Transaction,
} from '../../store/transactions.ts';
import { noteChange, settleUtxos } from '../../store/utxos.ts';
import { reportSilence } from '../report-silence.ts';
import { sendTransaction, settleTransaction } from '../transactions.ts';
import { bumpGroup } from './bump-group.ts';
import { invalidateConflicted } from './invalidate-conflicted.ts';
import { readBitcoinTerms } from './terms.ts';

const OPEN_AT_ONCE = 200;
const CONCURRENT_LOOKS = 8;
/** After this many failed questions the node is not asked again in this round, because each one may take a timeout. */
const SILENCES_MAX = 8;

/** What the chain shows of each attempt, in their order. */
type BitcoinLooks = { of: Transaction; seen: TransactionStatus }[];

/**
 * Asks the chain what became of every open transaction, sends again what the node does not know, and raises fees where
 * needed.
 * @returns how many groups ended.
 */
export async function followGroups(ports: BitcoinPorts, lease: Lease): Promise<number> {
  const { db, chain, sender } = ports;
  const open = await openGroups(db, chain, sender.hotAddress, OPEN_AT_ONCE);
  let silences = 0;
  await renewLease(ports.db, lease);
  const looks = await pMap(
    open,
    async (group) => {
      const look = silences < SILENCES_MAX ? await lookOrReport(ports, group) : undefined;
      if (look === undefined) silences += 1;
      return look && { group, look };
    },
    { concurrency: CONCURRENT_LOOKS },
  );
  await renewLease(ports.db, lease);
  let ended = 0;
  for (const seen of looks) if (seen && (await follow(ports, lease, seen.group, seen.look))) ended += 1;
  return ended;
}

/** A failure for one group does not delay the others. */
async function lookOrReport(ports: BitcoinPorts, group: ReplacementGroup): Promise<BitcoinLooks | undefined> {
  try {
    return await Promise.all(group.map(async (of) => ({ of, seen: await ports.sender.status(of.txHash) })));
  } catch (error) {
    reportSilence(ports, group[0], error);
    return undefined;
  }
}

/** Whether the group has ended. */
async function follow(
  ports: BitcoinPorts,
  lease: Lease,
  group: ReplacementGroup,
  look: BitcoinLooks,
): Promise<boolean> {
  const { db, clock, settings } = ports;
  const [{ id, minConfirmations, doubtedAt }] = group;
  const attempts = look.map(({ of, seen }) => ({ seen, ...of }));
  const step = nextBitcoinStep({ minConfirmations, attempts }, clock.now(), settings.gracePeriods);
  await rememberBlock(ports, look);
  switch (step.is) {
    case 'settled': {
      const mined = look[step.attempt];
      invariant(mined?.seen.state === 'mined', 'what is settled is mined');
      return settleTransaction(ports, lease, mined.of, mined.seen, (trx) => settleMined(trx, mined.of));
    }
    case 'in_block':
    case 'sent':
      return false;
    case 'to_replace':
      await sendTransaction(ports, newestOf(group));
      // A transaction in the mempool has no missing input.
      if (doubtedAt !== null) await noteDoubt(db, id, null);
      return false;
    case 'waiting':
      if (doubtedAt !== null) await noteDoubt(db, id, null);
      // A higher fee is a new signature, and nothing is signed for a halted asset.
      if (ports.assets.includes('BTC')) {
        await bumpGroup(ports, lease, group, group[step.attempt] as Transaction);
      }
      return false;
    case 'to_send':
      // The oldest first: if the node refuses a later attempt, it has accepted an earlier one.
      for (const attempt of group) await sendTransaction(ports, attempt);
      return invalidateConflicted(ports, lease, group);
    default:
      return assertNever(step);
  }
}

/** The change of an attempt can be spent while a block includes the attempt. */
async function rememberBlock({ db, logger }: BitcoinPorts, look: BitcoinLooks): Promise<void> {
  const changed: BitcoinLooks = [];
  let minedTxHash: string | null = null;
  for (const { of, seen } of look) {
    const block = seen.state === 'mined' ? seen : null;
    if (block !== null) minedTxHash = of.txHash;
    if ((block?.blockHash ?? null) === of.blockHash) continue;
    changed.push({ of, seen });
    const details = { transaction: of.txHash, block: of.blockHash };
    if (block === null) logger.warn(details, 'a block was dropped, sending the same bytes again');
  }
  const [first] = changed;
  if (first === undefined) return;
  await db.transaction(async (trx) => {
    for (const { of, seen } of changed) await noteBlock(trx, of.id, seen.state === 'mined' ? seen : null);
    await noteChange(trx, first.of.group, minedTxHash);
  });
  failpoint('bitcoin.block_noted');
}

/** Updates the UTXOs of all attempts of a group to the one that is mined. */
export async function settleMined(trx: Trx, { group, txHash, terms }: Transaction): Promise<void> {
  const spends = readBitcoinTerms(terms).utxos.map(({ outpoint }) => outpoint);
  await settleUtxos(trx, group, { txHash, spends });
}
