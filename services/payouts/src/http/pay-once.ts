import { contextOf } from '@quittance/shared/http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import {
  findKey,
  type IdempotencyKey,
  isIdempotencyKey,
  otherBody,
  readKey,
} from '@quittance/shared/idempotency';
import { IDENTITY_HEADER } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import type { Result } from '@quittance/shared/result';
import type { FieldErrors } from '@quittance/shared/validation';
import type { Request, Response } from 'express';
import { type PayoutRefusal, requestPayout } from '../operations/request-payout.ts';
import type { PayoutOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import type { KeptRequest } from '../store/request-proofs.ts';
import { createdView, refusedView } from '../views.ts';

/** An authenticated request for a payout or a refund. */
export type PayoutCall = {
  account: AccountId;
  request: KeptRequest;
  requestId: string;
  /** The header `Idempotency-Key`. */
  idempotencyKey: string | string[] | undefined;
  /** What a request that repeats the key must repeat byte by byte. */
  asked: Buffer;
  returnsDeposit: string | null;
};

/** @param asked see PayoutCall */
export function payoutCallOf(
  req: Request,
  res: Response,
  asked: Buffer,
  returnsDeposit: string | null,
): PayoutCall {
  const { identity, requestId } = contextOf(res);
  const idempotencyKey = req.headers['idempotency-key'];
  const request = requestOf(req, res);
  return { account: identity.account, request, requestId, idempotencyKey, asked, returnsDeposit };
}

/** A merchant's request as it came, to be kept with what it asks for. */
export function requestOf(req: Request, res: Response): KeptRequest {
  const { assertionId: id, rawBody: body } = contextOf(res);
  const assertion = String(req.headers[IDENTITY_HEADER]);
  return { id, assertion, method: req.method, path: req.originalUrl, body };
}

/** Creates a payout or a refund. A request that repeats the Idempotency-Key must have the same bytes `asked`. */
export async function payOnce(
  ports: Ports,
  { idempotencyKey, asked, ...call }: PayoutCall,
  readOrder: () => Result<PayoutOrder, FieldErrors> | Answer,
): Promise<Answer> {
  const given = readKey(idempotencyKey, call.account, asked);
  const key = given !== undefined && isIdempotencyKey(given) ? given : undefined;
  const earlier = key && (await answeredBefore(ports, key));
  if (earlier !== undefined) return earlier;

  const order = readOrder();
  if ('status' in order) return order;
  const badKey = given === undefined || key !== undefined ? {} : (given as FieldErrors);
  if (!order.ok) return answers.invalid({ ...order.refusal, ...badKey });
  if (Object.keys(badKey).length > 0) return answers.invalid(badKey);

  const made = await requestPayout(ports, { ...order.value, ...call, key });
  if (made.ok) return { status: 201, body: createdView(made.value) };
  if (made.refusal === 'key_taken' && key !== undefined) {
    // The other request took the key a moment ago. If it has freed the key again, the client may repeat its request.
    return (await answeredBefore(ports, key)) ?? answers.stillRunning;
  }
  return refusalAnswer(made.refusal);
}

/** What is answered when no payout was created. */
export const refusalAnswer = (refusal: PayoutRefusal): Answer =>
  typeof refusal === 'string' ? refusals[refusal] : refusal.insufficientBalance;

/** The answer to an earlier request with this key; undefined when there was none. */
export async function answeredBefore(
  { db }: Pick<Ports, 'db'>,
  key: IdempotencyKey,
): Promise<Answer | undefined> {
  const known = await findKey(db, key);
  switch (known?.state) {
    case undefined:
      return undefined;
    case 'answered':
      return { status: known.status, body: known.body, headers: { 'Idempotent-Replayed': 'true' } };
    case 'running':
      return answers.stillRunning;
    case 'other_body':
      return answers.invalid(otherBody);
  }
}

/** Only an operator ends a halt. */
const HALTED_RETRY_AFTER_SECONDS = 60;

export const haltedAnswer: Answer = {
  ...answers.unavailableWith(
    'Payouts of this asset are paused until the operator resumes them, and nothing was done. Invoices are still taken and paid. Send the request again later.',
  ),
  headers: { 'Retry-After': String(HALTED_RETRY_AFTER_SECONDS) },
};

const refusals = {
  already_accepted: refusedView.already_accepted,
  used_for_recovery: refusedView.used_for_recovery,
  already_returned: answers.alreadyResolved('returned'),
  too_large: answers.refundTooLarge(
    'Other returns of these funds came first. Send the request again with at most what is left.',
  ),
  key_taken: answers.stillRunning,
  // A gateway sends no request twice that changes something: somebody else has sent it again.
  assertion_used: answers.unauthenticated,
  not_taken: answers.conflict('Another refund of this invoice came first. Send the request again.'),
  unavailable: answers.unavailable,
  halted: haltedAnswer,
} as const satisfies Record<Extract<PayoutRefusal, string>, Answer>;
