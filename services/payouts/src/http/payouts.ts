import { assetSymbols, assets } from '@quittance/shared/assets';
import { type CsvExports, csvExports, partErrors, wantsCsv } from '@quittance/shared/csv-export';
import { type Form, form } from '@quittance/shared/form';
import {
  contextOf,
  createApp,
  finishApp,
  type HttpParts,
  readBody,
  takesNoParameters,
  unknownParameters,
} from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { units } from '@quittance/shared/money';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import { storedTxHash, TX_HASH_CHARACTERS_MAX } from '@quittance/shared/tx-hash';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { attemptView } from '../attempt-view.ts';
import { payoutsTable } from '../csv-file.ts';
import { type ShownStatus, shownStatuses, statusesShownAs } from '../domain/states.ts';
import { readAttempts } from '../operations/read-attempts.ts';
import {
  ADDRESS_CHARACTERS_MAX,
  EXTERNAL_ID_CHARACTERS_MAX,
  readPayoutOrder,
  readQuoteRequest,
} from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { haltsNow } from '../store/halts.ts';
import { allPayouts, type PayoutFilter, payoutPage } from '../store/payout-list.ts';
import { promisedByLinks } from '../store/refunds.ts';
import { haltView, insufficientBalance, payoutView, quoteView } from '../views.ts';
import { approveOrReject } from './approve-payout.ts';
import { addAutomaticRoutes } from './automatic-payouts.ts';
import { cancelPayout } from './cancel-payout.ts';
import { routeClaims } from './claims.ts';
import { routeOperator } from './operator.ts';
import { findOwnPayout } from './own-payout.ts';
import { payOnce, payoutCallOf } from './pay-once.ts';
import { addBatchRoutes } from './payout-batches.ts';
import { addPolicyRoutes } from './payout-policy.ts';
import { routeRefunds } from './refunds.ts';
import { routeReturns } from './returns.ts';

/** The service's HTTP interface, behind the gateway. */
export function createHttp(ports: Ports, parts: ServiceHttpParts & Pick<HttpParts, 'without'>): Express {
  const app = createApp(parts);
  const merchant = merchantOnly('payouts', ports.settings.gatewayKeys, parts.clock);
  const exports = csvExports(ports);
  app.get('/api/payouts', merchant, (req, res) => listPayouts(ports, exports, req, res));
  // Before the route of an id, which `quote` is not.
  app.get('/api/payouts/quote', merchant, async (req, res) =>
    send(res, await quotePayout(ports, contextOf(res).identity.account, req)),
  );
  app.get('/api/payouts/:id', merchant, async (req, res) => send(res, await showPayout(ports, req, res)));
  app.get('/api/payouts/:id/attempts', merchant, async (req, res) =>
    send(res, await listAttempts(ports, req, res)),
  );
  app.get('/api/halted-assets', merchant, async (req, res) => send(res, await listHaltedAssets(ports, req)));
  app.post('/api/payouts', merchant, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await createPayout(ports, req, res)),
  );
  app.post('/api/payouts/:id/approve', merchant, ...readBody, async (req, res) =>
    send(res, await approveOrReject(ports, 'approved', req, res)),
  );
  app.post('/api/payouts/:id/reject', merchant, ...readBody, async (req, res) =>
    send(res, await approveOrReject(ports, 'rejected', req, res)),
  );
  addPolicyRoutes(app, ports, merchant);
  addBatchRoutes(app, ports, merchant);
  addAutomaticRoutes(app, ports, merchant);
  const cancelling = { count: 0 };
  app.post('/api/payouts/:id/cancel', merchant, ...readBody, async (req, res) =>
    send(res, await cancelPayout(ports, cancelling, req, res)),
  );
  routeReturns(app, ports);
  routeRefunds(app, ports);
  routeClaims(app, ports);
  routeOperator(app, ports);
  finishApp(app, parts.logger);
  return app;
}

const BATCH_ID_CHARACTERS_MAX = 64;

const listFields = {
  perPage: perPageField,
  status: rules.oneOf(shownStatuses).optional,
  approval: rules.oneOf(['waiting']).optional,
  asset: rules.oneOf(assetSymbols).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
  external_id: rules.text(EXTERNAL_ID_CHARACTERS_MAX).optional,
  deposit_id: rules.text(TX_HASH_CHARACTERS_MAX).optional,
  refund_id: rules.text(TX_HASH_CHARACTERS_MAX).optional,
  invoice_id: rules.text(TX_HASH_CHARACTERS_MAX).optional,
  tx_hash: rules.text(TX_HASH_CHARACTERS_MAX).optional,
  batch_id: rules.text(BATCH_ID_CHARACTERS_MAX).optional,
  to_address: rules.text(ADDRESS_CHARACTERS_MAX).optional,
  format: rules.oneOf(['json', 'csv']).optional,
};

/** The filters of the list of payouts. */
export const payoutFilters: Form<typeof listFields> = form(listFields, paged);

/** A page of payouts as JSON, or all of them as CSV. */
async function listPayouts(ports: Ports, exports: CsvExports, req: Request, res: Response): Promise<void> {
  const { query } = req;
  const parsed = payoutFilters(query);
  if (!parsed.ok) return send(res, answers.invalid(parsed.refusal));
  const { perPage, format, tx_hash: hash, to_address: address, ...given } = parsed.value;
  const { account } = contextOf(res).identity;
  const filter: PayoutFilter = {
    account,
    statuses: statusesAsked(given),
    asset: given.asset,
    createdFrom: given.created_from,
    createdTo: given.created_to,
    externalId: given.external_id,
    depositId: given.deposit_id,
    refundId: given.refund_id,
    invoiceId: given.invoice_id,
    txHash: hash && storedTxHash(hash),
    batchId: given.batch_id,
    addresses: address === null ? null : canonicalForms(ports.chains, address),
  };
  if (!wantsCsv(req, format)) {
    const page = pageOf(query);
    const { items, total } = await payoutPage(ports.db, filter, placeOf(page, perPage));
    const path = `${ports.settings.publicUrl}/api/payouts`;
    const body = pageView({ data: items.map(payoutView), total, page, perPage, path, query });
    return send(res, { status: 200, body });
  }
  const errors = partErrors(query, ['page', 'perPage']);
  if (Object.keys(errors).length > 0) return send(res, answers.invalid(errors));
  const select = () => allPayouts(filter);
  await exports.send(res, { account, name: 'payouts', table: payoutsTable, select });
}

/** The statuses of a filter. Those that wait for an approval are pending, so that the two may exclude each other. */
function statusesAsked({ status, approval }: { status: ShownStatus | null; approval: 'waiting' | null }) {
  const shown = status && statusesShownAs(status);
  if (approval === null) return shown;
  return (shown ?? (['awaiting_approval'] as const)).filter((one) => one === 'awaiting_approval');
}

/** What an address may be stored as: the network is not named, and an address that none of them knows finds nothing. */
const canonicalForms = (chains: Ports['chains'], text: string): string[] => [
  text,
  ...[...chains.values()].flatMap(({ checkAddress }) => checkAddress(text) ?? []),
];

async function showPayout(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwnPayout(ports, contextOf(res).identity.account, String(req.params['id']));
  if (!found.ok) return accessAnswers('Payout')[found.refusal];
  return unknownParameters(req) ?? { status: 200, body: payoutView(found.value) };
}

/** All of them at once: a payout has few. */
async function listAttempts(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const found = await findOwnPayout(ports, contextOf(res).identity.account, String(req.params['id']));
  if (!found.ok) return accessAnswers('Payout')[found.refusal];
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  const payout = found.value;
  const on = ports.chains.get(assets[payout.asset].chain);
  const attempts = await readAttempts(ports, payout);
  return { status: 200, body: { data: attempts.map((attempt) => attemptView(attempt, payout, on)) } };
}

/** Assets of which nothing is paid out at the moment, to anybody. Why is the business of the operator. */
async function listHaltedAssets({ db }: Ports, req: Request): Promise<Answer> {
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  return { status: 200, body: { data: (await haltsNow(db)).map(haltView) } };
}

/** What a payout would cost now. One of all that the balance has depends on the ledger, as the payout itself does. */
async function quotePayout(ports: Ports, account: AccountId, req: Request): Promise<Answer> {
  const read = readQuoteRequest(req.query, ports);
  if (!read.ok) return answers.invalid(read.refusal);
  const { takesAll, ...quote } = read.value;
  const promised = await promisedByLinks(ports.db, account, quote.asset);
  if (!takesAll) return { status: 200, body: quoteView(quote, promised.amount) };
  const asked = await ports.bus.ask('balance.read', { account_id: account, asset: quote.asset });
  if (!asked.known) return answers.unavailable;
  const available = units(asked.reply.available);
  const amount = units(available - quote.networkFee);
  if (amount < quote.amount) return insufficientBalance(quote, available);
  return { status: 200, body: quoteView({ ...quote, amount }, promised.amount) };
}

function createPayout(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { rawBody, body } = contextOf(res);
  return payOnce(ports, payoutCallOf(req, res, rawBody, null), () => readPayoutOrder(body, ports));
}
