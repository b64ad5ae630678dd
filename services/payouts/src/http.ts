import { assetSymbols } from '@quittance/shared/assets';
import { sleepBy } from '@quittance/shared/clock';
import {
  type Answer,
  answers,
  authenticated,
  contextOf,
  createApp,
  finishApp,
  type HttpParts,
  readBody,
  send,
} from '@quittance/shared/http';
import {
  findKey,
  type IdempotencyKey,
  isIdempotencyKey,
  otherBody,
  readKey,
} from '@quittance/shared/idempotency';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import type { Result } from '@quittance/shared/result';
import { type FieldErrors, form, rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { shownStatuses, statusesShownAs } from './domain/payout-state.ts';
import { getPayout } from './operations/get-payout.ts';
import { type Refusal, requestPayout } from './operations/request-payout.ts';
import { type PayoutOrder, readPayoutOrder } from './payout-order.ts';
import type { Ports } from './ports.ts';
import { readReturnOrder } from './return-order.ts';
import { findUnresolved, type Unresolved } from './store-holdings.ts';
import { payoutPage } from './store-payouts.ts';
import { createdView, payoutView, refusedView } from './views.ts';

/** A halt waits for a person. */
const HALTED_RETRY_AFTER_SECONDS = 60;

/** How long a deposit that nobody has told of yet is waited for before it counts as unknown: about three seconds. */
const HEARD_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** Requests that may wait so at once: who asks for what there is not must not hold up everybody's. */
const LISTENING_MAX = 8;

/** How many requests of this server wait for a deposit to be told of. */
type Listening = { count: number };

const listForm = form({
  perPage: perPageField,
  status: rules.oneOf(shownStatuses).optional,
  asset: rules.oneOf(assetSymbols).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
});

/** The service's HTTP interface, behind the gateway. `readiness` names what keeps it, or a part of it, from serving. */
export function createHttp(
  ports: Ports,
  readiness: Pick<HttpParts, 'waitsFor' | 'without' | 'metrics'>,
): Express {
  const { logger, clock, settings } = ports;
  const app = createApp({ logger, clock, ...readiness });
  const listening: Listening = { count: 0 };
  const signedIn = authenticated(settings.identitySecret, clock);
  app.get('/api/payouts', signedIn, async (req, res) => send(res, await list(ports, req, res)));
  app.get('/api/payouts/:id', signedIn, async (req, res) =>
    send(res, await show(ports, contextOf(res).identity.account, String(req.params['id']))),
  );
  app.post('/api/payouts', signedIn, ...readBody, async (req, res) =>
    send(res, await create(ports, req, res)),
  );
  app.post('/api/unresolved/:id/return', signedIn, ...readBody, async (req, res) =>
    send(res, await giveBack(ports, listening, req, res)),
  );
  finishApp(app, logger);
  return app;
}

async function list({ db, settings }: Ports, req: Request, res: Response): Promise<Answer> {
  const filter = listForm(req.query);
  if (!filter.ok) return answers.invalid(filter.refusal);
  const { perPage, status, asset, created_from, created_to } = filter.value;
  const page = pageOf(req.query);
  const { items, total } = await payoutPage(
    db,
    {
      account: contextOf(res).identity.account,
      statuses: status && statusesShownAs(status),
      asset,
      createdFrom: created_from,
      createdTo: created_to,
    },
    placeOf(page, perPage),
  );
  const path = `${settings.publicUrl}/api/payouts`;
  const parts = { data: items.map(payoutView), total, page, perPage, path, query: req.query };
  return { status: 200, body: pageView(parts) };
}

async function show(ports: Ports, account: AccountId, id: string): Promise<Answer> {
  // At most 16 digits: longer ones name no payout, and not even a number of Postgres.
  const found = /^[1-9]\d{0,15}$/.test(id) ? await getPayout(ports, account, id as PayoutId) : undefined;
  if (found?.ok === true) return { status: 200, body: payoutView(found.value) };
  return found?.refusal === 'not_yours' ? answers.unauthorized : answers.noModel('Payout');
}

function create(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { rawBody, body } = contextOf(res);
  return payOnce(ports, req, res, rawBody, null, () => readPayoutOrder(body, ports));
}

/** Unresolved money goes back to a payer: a payout like any other, of all that came in less the network fee. */
async function giveBack(ports: Ports, listening: Listening, req: Request, res: Response): Promise<Answer> {
  const depositId = String(req.params['id']);
  const { identity, rawBody, body } = contextOf(res);
  // Anything else names no deposit, and may not even be a text of Postgres.
  const deposit = /^\w{1,64}$/.test(depositId)
    ? await heardUnresolved(ports, listening, depositId)
    : undefined;
  if (deposit === undefined) return answers.noModel('Deposit');
  if (deposit.account !== identity.account) return answers.unauthorized;
  // The deposit is named by the path alone: the same key for another one is another request.
  const asked = Buffer.concat([Buffer.from(`return ${depositId}\n`), rawBody]);
  return payOnce(ports, req, res, asked, depositId, () =>
    // After the key: what an earlier request was answered stays, whatever the chain has done since.
    deposit.isReversed ? answers.alreadyResolved('reversed') : readReturnOrder(body, deposit, ports),
  );
}

/**
 * The ledger lists a deposit, and webhooks tell of it, as soon as it is booked there; this service may hear of it a
 * moment later.
 */
async function heardUnresolved(
  { db, clock }: Ports,
  listening: Listening,
  depositId: string,
): Promise<Unresolved | undefined> {
  const known = await findUnresolved(db, depositId);
  if (known !== undefined || listening.count >= LISTENING_MAX) return known;
  listening.count += 1;
  try {
    for (const ms of HEARD_AFTER_MS) {
      await sleepBy(clock, ms);
      const found = await findUnresolved(db, depositId);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    listening.count -= 1;
  }
}

/** What both kinds of payout have in common. `asked` is what the same Idempotency-Key must come with again. */
async function payOnce(
  ports: Ports,
  req: Request,
  res: Response,
  asked: Buffer,
  returnsDeposit: string | null,
  readOrder: () => Result<PayoutOrder, FieldErrors> | Answer,
): Promise<Answer> {
  const { identity, requestId } = contextOf(res);
  const { account } = identity;
  const given = readKey(req.headers['idempotency-key'], account, asked);
  const key = given !== undefined && isIdempotencyKey(given) ? given : undefined;
  const earlier = key && (await answeredBefore(ports, key));
  if (earlier !== undefined) return earlier;

  const order = readOrder();
  if ('status' in order) return order;
  const badKey = given === undefined || key !== undefined ? {} : (given as FieldErrors);
  if (!order.ok) return answers.invalid({ ...order.refusal, ...badKey });
  if (Object.keys(badKey).length > 0) return answers.invalid(badKey);

  const made = await requestPayout(ports, { ...order.value, account, returnsDeposit, requestId, key });
  if (made.ok) return { status: 201, body: createdView(made.value) };
  if (made.refusal === 'key_taken' && key !== undefined) {
    // Taken in this very moment; when its owner gave it up again already, the client may just ask again.
    return (await answeredBefore(ports, key)) ?? answers.stillRunning;
  }
  return refusals[made.refusal];
}

/** What an earlier request with this key is answered, or undefined when there was none. */
async function answeredBefore({ db }: Ports, key: IdempotencyKey): Promise<Answer | undefined> {
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

const refusals = {
  insufficient_balance: refusedView.insufficient_balance,
  already_accepted: refusedView.already_accepted,
  repaid_loss: refusedView.repaid_loss,
  already_returned: answers.alreadyResolved('returned'),
  key_taken: answers.stillRunning,
  unavailable: answers.unavailable,
  halted: { ...answers.unavailable, headers: { 'Retry-After': String(HALTED_RETRY_AFTER_SECONDS) } },
} as const satisfies Record<Refusal, Answer>;
