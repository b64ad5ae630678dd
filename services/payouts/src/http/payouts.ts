import { assetSymbols } from '@quittance/shared/assets';
import { sleepBy } from '@quittance/shared/clock';
import { form } from '@quittance/shared/form';
import {
  contextOf,
  createApp,
  finishApp,
  type HttpParts,
  merchantOnly,
  readBody,
  takesNoParameters,
  unknownParameters,
} from '@quittance/shared/http';
import {
  type AccessRefusal,
  type Answer,
  accessAnswers,
  answers,
  send,
} from '@quittance/shared/http-answers';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { shownAs, shownStatuses, statusesShownAs } from '../domain/states.ts';
import {
  ADDRESS_CHARACTERS_MAX,
  EXTERNAL_ID_CHARACTERS_MAX,
  readPayoutOrder,
  readQuoteRequest,
  readReturnOrder,
} from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { asksForClaim } from '../refund-order.ts';
import { payoutPage } from '../store/payout-list.ts';
import { findPayout, type Payout } from '../store/payouts.ts';
import { findUnresolved, type UnresolvedDeposit } from '../store/unswept-deposits.ts';
import { payoutView, quoteView } from '../views.ts';
import { routeClaims } from './claims.ts';
import { type PayoutCall, payOnce } from './pay-once.ts';
import { claimDeposit, routeRefunds } from './refunds.ts';

/** The service's HTTP interface, behind the gateway. */
export function createHttp(ports: Ports, parts: ServiceHttpParts & Pick<HttpParts, 'without'>): Express {
  const app = createApp(parts);
  const waiting = { count: 0 };
  const merchant = merchantOnly(ports.settings.identitySecret, parts.clock);
  app.get('/api/payouts', merchant, async (req, res) => send(res, await listPayouts(ports, req, res)));
  // Before the route of an id, which `quote` is not.
  app.get('/api/payouts/quote', merchant, (req, res) => send(res, quotePayout(ports, req)));
  app.get('/api/payouts/:id', merchant, async (req, res) => send(res, await showPayout(ports, req, res)));
  app.post('/api/payouts', merchant, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await createPayout(ports, req, res)),
  );
  app.post('/api/unresolved/:id/return', merchant, ...readBody, async (req, res) =>
    send(res, await returnDeposit(ports, waiting, req, res)),
  );
  routeRefunds(app, ports);
  routeClaims(app, ports);
  finishApp(app, parts.logger);
  return app;
}

/** On Solana they have at most 88. */
const TX_HASH_CHARACTERS_MAX = 100;

const listForm = form(
  {
    perPage: perPageField,
    status: rules.oneOf(shownStatuses).optional,
    asset: rules.oneOf(assetSymbols).optional,
    created_from: rules.date().optional,
    created_to: rules.date().optional,
    external_id: rules.text(EXTERNAL_ID_CHARACTERS_MAX).optional,
    refund_id: rules.text(TX_HASH_CHARACTERS_MAX).optional,
    invoice_id: rules.text(TX_HASH_CHARACTERS_MAX).optional,
    tx_hash: rules.text(TX_HASH_CHARACTERS_MAX).optional,
    to_address: rules.text(ADDRESS_CHARACTERS_MAX).optional,
  },
  paged,
);

async function listPayouts({ db, settings, chains }: Ports, req: Request, res: Response): Promise<Answer> {
  const filter = listForm(req.query);
  if (!filter.ok) return answers.invalid(filter.refusal);
  const { perPage, status, asset, created_from, created_to, external_id, tx_hash, to_address } = filter.value;
  const { refund_id, invoice_id } = filter.value;
  const page = pageOf(req.query);
  const { items, total } = await payoutPage(
    db,
    {
      account: contextOf(res).identity.account,
      statuses: status && statusesShownAs(status),
      asset,
      createdFrom: created_from,
      createdTo: created_to,
      externalId: external_id,
      refundId: refund_id,
      invoiceId: invoice_id,
      // Hashes of hexadecimal digits are stored in small letters; those of Solana differ in their case.
      txHash: tx_hash !== null && /^(0x)?[0-9a-f]{64}$/i.test(tx_hash) ? tx_hash.toLowerCase() : tx_hash,
      addresses: to_address === null ? null : canonicalForms(chains, to_address),
    },
    placeOf(page, perPage),
  );
  const path = `${settings.publicUrl}/api/payouts`;
  const parts = { data: items.map(payoutView), total, page, perPage, path, query: req.query };
  return { status: 200, body: pageView(parts) };
}

/** What an address may be stored as: the network is not named, and an address that none of them knows finds nothing. */
const canonicalForms = (chains: Ports['chains'], text: string): string[] => [
  text,
  ...[...chains.values()].flatMap(({ checkAddress }) => checkAddress(text) ?? []),
];

async function showPayout(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await getPayout(ports, contextOf(res).identity.account, String(req.params['id']));
  if (!found.ok) return accessAnswers('Payout')[found.refusal];
  return unknownParameters(req) ?? { status: 200, body: payoutView(found.value) };
}

function quotePayout(ports: Ports, req: Request): Answer {
  const quote = readQuoteRequest(req.query, ports);
  return quote.ok ? { status: 200, body: quoteView(quote.value) } : answers.invalid(quote.refusal);
}

function createPayout(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { rawBody, body } = contextOf(res);
  return payOnce(ports, callOf(req, res, rawBody, null), () => readPayoutOrder(body, ports));
}

function callOf(req: Request, res: Response, asked: Buffer, returnsDeposit: string | null): PayoutCall {
  const { identity, requestId } = contextOf(res);
  const idempotencyKey = req.headers['idempotency-key'];
  return { account: identity.account, requestId, idempotencyKey, asked, returnsDeposit };
}

/** Pauses between reads of a deposit whose event has not arrived yet. After about three seconds it counts as unknown. */
const ARRIVES_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** How many requests may wait at once, because requests for unknown deposits must not delay others. */
const WAITING_MAX = 8;

/** How many requests of this replica wait for a deposit's event. */
type WaitingRequests = { count: number };

/** Refunds an unresolved deposit: a payout of its whole amount less the network fee. */
async function returnDeposit(
  ports: Ports,
  waiting: WaitingRequests,
  req: Request,
  res: Response,
): Promise<Answer> {
  const depositId = String(req.params['id']);
  const { identity, rawBody, body } = contextOf(res);
  // Any other text names no deposit, and Postgres refuses some texts.
  const isId = /^\w{1,64}$/.test(depositId);
  const deposit = isId ? await arrivedUnresolved(ports, waiting, depositId) : undefined;
  if (deposit === undefined) return answers.noModel('Deposit');
  if (deposit.account !== identity.account) return answers.unauthorized;
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  // The body does not name the deposit, so the same key for another deposit is another request.
  const asked = Buffer.concat([Buffer.from(`return ${depositId}\n`), rawBody]);
  if (asksForClaim(body)) return claimDeposit(ports, req, res, { id: depositId, asked, deposit });
  return payOnce(ports, callOf(req, res, asked, depositId), () =>
    // After the key: a repeated request gets its first answer, also when the deposit was reversed since.
    deposit.isReversed ? answers.alreadyResolved('reversed') : readReturnOrder(body, deposit, ports),
  );
}

/** Merchants can see a deposit as soon as the ledger has booked it. Its event may arrive here a moment later. */
async function arrivedUnresolved(
  { db, clock }: Ports,
  waiting: WaitingRequests,
  depositId: string,
): Promise<UnresolvedDeposit | undefined> {
  const known = await findUnresolved(db, depositId);
  if (known !== undefined || waiting.count >= WAITING_MAX) return known;
  waiting.count += 1;
  try {
    for (const ms of ARRIVES_AFTER_MS) {
      await sleepBy(clock, ms);
      const found = await findUnresolved(db, depositId);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    waiting.count -= 1;
  }
}

/** A merchant's own payout. A request that never became a payout is not found. */
async function getPayout(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<Payout, AccessRefusal>> {
  // An id has at most 16 digits, and Postgres refuses numbers that are too long.
  const payout = /^[1-9]\d{0,15}$/.test(id) ? await findPayout(db, id as PayoutId) : undefined;
  if (payout === undefined || shownAs[payout.status] === null) return refuse('not_found');
  return payout.account === account ? ok(payout) : refuse('forbidden');
}
