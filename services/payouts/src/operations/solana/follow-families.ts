import type { TransactionStatus } from '@quittance/chains/chain';
import { StatusMissing } from '@quittance/chains/solana/in-no-block';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever, invariant } from '@quittance/shared/result';
import { judge, needsProof } from '../../domain/solana/judge.ts';
import type { SolanaPorts } from '../../ports.ts';
import {
  type Family,
  newestOf,
  openFamilies,
  type Transaction,
  walletsWithOpenTransactions,
} from '../../store-transactions.ts';
import { buryFamily } from '../bury-family.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { settleTransaction } from '../settle-transaction.ts';
import { signAgain } from './sign-again.ts';

const WALLETS_AT_ONCE = 100;
const OPEN_AT_ONCE = 200;
const ASKED_TOGETHER = 8;
/** A node that is silent so often is asked no more in this round: each silence costs a time limit. */
const SILENCES_MAX = 16;

/** What the chain tells of a transaction, and whether it is proved that it can never be mined. */
type Look = { of: Transaction; seen: TransactionStatus; isDead: boolean };

/**
 * Asks the chain what has become of everything signed whose end is open, sends again what is in no block, and signs
 * once more what is proved to be dead, unless signing is barred.
 * @returns how many were moved on.
 */
export async function followFamilies(ports: SolanaPorts, lease: Lease, isBarred: boolean): Promise<number> {
  const { db, chain, sender } = ports;
  let moved = 0;
  let silences = 0;
  for (const wallet of await walletsWithOpenTransactions(db, chain, sender.hotAddress, WALLETS_AT_ONCE)) {
    const open = await openFamilies(db, chain, wallet, OPEN_AT_ONCE);
    for (let from = 0; from < open.length; from += ASKED_TOGETHER) {
      await keepLease(ports, lease);
      const some = open.slice(from, from + ASKED_TOGETHER);
      const looks = await Promise.all(some.map((family) => lookOrSay(ports, family)));
      for (const look of looks) {
        if (look === undefined) silences += 1;
        else moved += await follow(ports, lease, look, isBarred);
      }
      if (silences >= SILENCES_MAX) return moved;
    }
  }
  return moved;
}

/** One family that the node will not talk about does not hold up the others. */
async function lookOrSay(ports: SolanaPorts, family: Family): Promise<Look | undefined> {
  const of = newestOf(family);
  try {
    return await look(ports, of);
  } catch (error) {
    const said = { transaction: of.txHash, reason: reason(error) };
    // That one does not pass by itself: the node does not have what it must have.
    const level = error instanceof StatusMissing ? 'error' : 'warn';
    ports.notices.say(level, `look.${of.id}`, said, 'the node does not tell of a transaction');
    return undefined;
  }
}

async function look({ sender, clock, settings }: SolanaPorts, of: Transaction): Promise<Look> {
  const { txHash, validToHeight, finalHeightWhenSigned } = of;
  invariant(validToHeight !== null, `${txHash} is valid for ever`);
  invariant(finalHeightWhenSigned !== null, `it is not known where a search for ${txHash} begins`);
  const seen = await sender.status(txHash);
  const isAsked = needsProof(of, seen, clock.now(), settings.patience);
  return { of, seen, isDead: isAsked && (await sender.isDead(txHash, validToHeight, finalHeightWhenSigned)) };
}

/** 1 when it was moved on. */
async function follow(
  ports: SolanaPorts,
  lease: Lease,
  { of, seen, isDead }: Look,
  isBarred: boolean,
): Promise<number> {
  const verdict = judge(of, seen, isDead, ports.clock.now(), ports.settings.patience);
  switch (verdict.is) {
    case 'in_block':
    case 'sent':
      return 0;
    case 'to_send':
      await sendTransaction(ports, of);
      return 0;
    case 'settled':
      invariant(seen.state === 'mined', 'only what is in a block is settled');
      return (await settleTransaction(ports, lease, of, seen)) ? 1 : 0;
    case 'dead':
      return !isBarred && (await goOn(ports, lease, of)) ? 1 : 0;
    default:
      return assertNever(verdict);
  }
}

/** A payout is signed again, within its family; deposits are planned anew, because more may lie there by now. */
async function goOn(ports: SolanaPorts, lease: Lease, dead: Transaction): Promise<boolean> {
  await keepLease(ports, lease);
  if (dead.purpose === 'sweep') return buryFamily(ports, lease, dead);
  if (!ports.assets.includes(dead.asset)) return false;
  return signAgain(ports, lease, dead);
}
