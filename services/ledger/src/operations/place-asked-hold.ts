import { commands, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import { verifyProof } from '@quittance/shared/identity';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { requestBatcher, runAgain } from '@quittance/shared/request-batcher';
import { ok, type Result, refuse } from '@quittance/shared/result';
import {
  checkHold,
  type FoundRequest,
  type HoldProblem,
  type HoldToProve,
  type ReadRequest,
} from '../domain/asked-hold.ts';
import type { Ports, ProofBatcher } from '../ports.ts';
import { freeLinks, type HoldProof, keepProofs } from '../store/hold-proofs.ts';
import { isDecided } from '../store/holds.ts';
import { acceptedOf } from '../store/suspense.ts';
import { wantedBy } from '../wanted-hold.ts';
import { placeHold } from './place-hold.ts';

type AskedPorts = Pick<Ports, 'db' | 'clock' | 'holds' | 'logger' | 'proofs' | 'countUnasked'> & {
  settings: Pick<Ports['settings'], 'unprovenUntil'>;
};

/**
 * Places a hold that a request of its account asks for, see `checkHold`. Any other is refused, whatever the balance has, and
 * nothing is stored of it.
 */
export async function placeAskedHold(
  ports: AskedPorts,
  request: RequestOf<'hold.place'>,
): Promise<ReplyOf<'hold.place'>> {
  const shown = await showRequest(ports, request);
  if (shown.ok) return await placeHold(ports, request);
  // Asked again, it moves nothing.
  const isLate = shown.refusal === 'too_old' || shown.refusal === 'no_request';
  if (isLate && (await isDecided(ports.db, request.payout_id))) return await placeHold(ports, request);
  const { request_id, payout_id: payout, account_id: account, asset, amount } = request;
  const fields = { request_id, payout, account, asset, amount };
  // Payouts has given the other one up, and its message to the ledger is on its way.
  if (shown.refusal === 'link_in_use') {
    ports.logger.warn(fields, 'refused a hold of a claim link while another one is not known to have ended');
    return { outcome: 'refused', because: 'link_in_use' };
  }
  ports.countUnasked(shown.refusal);
  ports.logger.error(
    { ...fields, problem: shown.refusal },
    'refused a hold that no request of its account asks for',
  );
  return { outcome: 'refused', because: 'not_asked_for' };
}

/** `link_in_use`: no problem of the request, it may be asked for again. */
type HoldRefusal = HoldProblem | 'link_in_use';

/** Keeps the request that asks for the hold, or says why there is none. */
async function showRequest(
  { db, clock, proofs, settings }: AskedPorts,
  request: RequestOf<'hold.place'>,
): Promise<Result<void, HoldRefusal>> {
  const { proof, destination } = request;
  const id = request.payout_id as PayoutId;
  const hold: HoldToProve = {
    account: request.account_id as AccountId,
    asset: request.asset,
    amount: units(request.amount),
    networkFee: units(request.network_fee),
    takesAll: request.takes_all === true,
    destination: destination ?? '',
    deposit: request.deposit_id,
    invoice: request.invoice_id ?? null,
    item: proof?.item ?? 0,
  };
  const now = clock.now();
  if (proof === undefined) {
    const { unprovenUntil } = settings;
    if (unprovenUntil === undefined || now > unprovenUntil || hold.destination === '')
      return refuse('no_request');
    return await keep({ ...hold, id, assertion: null, use: 'unproven' });
  }
  const read = proofs.read(proof);
  if (read === undefined) return refuse('not_signed');
  const asked: Result<FoundRequest, HoldProblem> = checkHold(read, hold, now);
  if (!asked.ok) return asked;
  const { assertion, use, receivedAtMost } = asked.value;
  if (hold.invoice !== null) {
    const received = await acceptedOf(db, { ...hold, invoice: hold.invoice });
    if (received <= 0n || (receivedAtMost && hold.amount > received)) return refuse('more_than_received');
  }
  return await keep({ ...hold, id, assertion, use });

  async function keep(kept: HoldProof): Promise<Result<void, HoldRefusal>> {
    const outcome = await proofs.keep(kept);
    return outcome === 'kept' ? ok(undefined) : refuse(outcome);
  }
}

/** More statements only queue on each other's rows. */
const STATEMENTS_AT_ONCE = 4;
const BATCH_MAX = 64;
const WAITING_MAX = 10_000;
/** The lines of a batch come one after the other, and reading 500 lines takes longer than deciding one. */
const READ_REQUESTS_MAX = 32;

/** The proofs of a replica. */
export function proofBatcherOf({ db, clock, gatewayKeys }: ProofPorts): ProofBatcher {
  /** By their assertions: what stands there was signed with them. */
  const lately = new Map<string, ReadRequest>();
  return {
    read(proof) {
      const known = lately.get(proof.assertion);
      if (known !== undefined) return known;
      const body = Buffer.from(proof.body, 'base64');
      const request = verifyProof(gatewayKeys, 'payouts', { ...proof, body });
      if (request === undefined) return undefined;
      const read = { request, wants: wantedBy(request) };
      lately.set(proof.assertion, read);
      const [oldest] = lately.keys();
      if (lately.size > READ_REQUESTS_MAX && oldest !== undefined) lately.delete(oldest);
      return read;
    },
    keep: requestBatcher({
      async run(proofs: readonly HoldProof[]) {
        await freeLinks(db, proofs);
        return (await keepProofs(db, proofs)).map((outcome) => outcome ?? runAgain);
      },
      max: BATCH_MAX,
      atOnce: STATEMENTS_AT_ONCE,
      keyOf: ({ id, assertion, item, destination }) => `${id} ${assertion} ${item} ${destination}`,
      waitingMax: WAITING_MAX,
      expiry: { clock, afterMs: commands['hold.place'].timeoutMs },
    }),
  };
}
type ProofPorts = Pick<Ports, 'db' | 'clock'> & Pick<Ports['settings'], 'gatewayKeys'>;
