import { assetSymbols } from '@quittance/shared/assets';
import { type CsvExports, partErrors, wantsCsv } from '@quittance/shared/csv-export';
import { type Form, form } from '@quittance/shared/form';
import { contextOf, readBody, unknownInput, unknownParameters } from '@quittance/shared/http';
import {
  type AccessRefusal,
  type Answer,
  accessAnswers,
  answers,
  send,
} from '@quittance/shared/http-answers';
import type { DepositId } from '@quittance/shared/ids';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { storedTxHash, TX_HASH_CHARACTERS_MAX } from '@quittance/shared/tx-hash';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, RequestHandler, Response } from 'express';
import { unresolvedTable } from '../csv-files.ts';
import { suspenseStates } from '../domain/suspense.ts';
import { type AcceptRefusal, acceptDeposit } from '../operations/accept-unresolved.ts';
import type { Ports } from '../ports.ts';
import { findSuspense, type SuspenseItem } from '../store/suspense.ts';
import { allSuspense, suspensePage } from '../store/suspense-list.ts';
import { acceptedView, unresolvedView } from '../views.ts';

type UnresolvedPorts = { db: Ports['db']; settings: Pick<Ports['settings'], 'publicUrl'> };

/** What merchants ask about unresolved funds. Payouts returns them. */
export function addUnresolved(
  app: Express,
  merchant: RequestHandler,
  exports: CsvExports,
  ports: UnresolvedPorts,
): void {
  const { db } = ports;
  app.get('/api/unresolved', merchant, (req, res) => listUnresolved(ports, exports, req, res));

  app.get('/api/unresolved/:id', merchant, async (req, res) => {
    const item = await findOwn(db, req, res);
    if (!item.ok) return send(res, refusals[item.refusal]);
    send(res, unknownParameters(req) ?? { status: 200, body: unresolvedView(item.value) });
  });

  app.post('/api/unresolved/:id/accept', merchant, ...readBody, async (req, res) => {
    const item = await findOwn(db, req, res);
    if (!item.ok) return send(res, refusals[item.refusal]);
    const refused = unknownInput(req, res);
    if (refused !== undefined) return send(res, refused);
    const { account, id } = item.value;
    const accepted = await acceptDeposit({ db }, account, id);
    send(res, accepted.ok ? { status: 200, body: acceptedView(accepted.value) } : refusals[accepted.refusal]);
  });
}

const INVOICE_ID_CHARACTERS_MAX = 64;

const listFields = {
  perPage: perPageField,
  status: rules.oneOf(suspenseStates).optional,
  asset: rules.oneOf(assetSymbols).optional,
  invoice_id: rules.text(INVOICE_ID_CHARACTERS_MAX).optional,
  tx_hash: rules.text(TX_HASH_CHARACTERS_MAX).optional,
  format: rules.oneOf(['json', 'csv']).optional,
};

/** The filters of the list of unresolved funds. */
export const unresolvedFilters: Form<typeof listFields> = form(listFields, paged);

/** A page of unresolved deposits as JSON, or all of them as CSV. */
async function listUnresolved(
  { db, settings }: UnresolvedPorts,
  exports: CsvExports,
  req: Request,
  res: Response,
): Promise<void> {
  const { query } = req;
  const filter = unresolvedFilters(query);
  if (!filter.ok) return send(res, answers.invalid(filter.refusal));
  const { perPage, status, asset, invoice_id: invoice, tx_hash: hash, format } = filter.value;
  const { account } = contextOf(res).identity;
  const wanted = { account, state: status, asset, invoice, txHash: hash && storedTxHash(hash) };
  if (!wantsCsv(req, format)) {
    const page = pageOf(query);
    const { items, total } = await suspensePage(db, wanted, placeOf(page, perPage));
    const path = `${settings.publicUrl}/api/unresolved`;
    const data = items.map(unresolvedView);
    return send(res, { status: 200, body: pageView({ data, total, page, perPage, path, query }) });
  }
  const errors = partErrors(query, ['page', 'perPage']);
  if (Object.keys(errors).length > 0) return send(res, answers.invalid(errors));
  const select = () => allSuspense(wanted);
  await exports.send(res, { account, name: 'unresolved', table: unresolvedTable, select });
}

async function findOwn(
  db: Ports['db'],
  req: Request,
  res: Response,
): Promise<Result<SuspenseItem, AccessRefusal>> {
  const id = String(req.params['id']);
  const item = isDepositId(id) ? await findSuspense(db, id) : undefined;
  if (item === undefined) return refuse('not_found');
  return item.account === contextOf(res).identity.account ? ok(item) : refuse('forbidden');
}

const isDepositId = (text: string): text is DepositId => /^dep_[0-9a-z]{36}$/.test(text);

const refusals = {
  ...accessAnswers('Deposit'),
  accepted: answers.alreadyResolved('accepted'),
  returned: answers.alreadyResolved('returned'),
  reversed: answers.alreadyResolved('reversed'),
} as const satisfies Record<AcceptRefusal, Answer>;
