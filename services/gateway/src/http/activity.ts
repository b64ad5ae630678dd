import { type CsvExports, partErrors, wantsCsv } from '@quittance/shared/csv-export';
import { form } from '@quittance/shared/form';
import { type Answer, answers } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { paged, pageForm, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { rules } from '@quittance/shared/validation';
import type { Request, Response } from 'express';
import { auditEntryView, auditLogTable, failedRequestView } from '../activity-views.ts';
import { storedPath } from '../domain/stored-path.ts';
import type { Asker } from '../operations/audit-log.ts';
import type { Ports } from '../ports.ts';
import { accountEntries, accountEntriesPage } from '../store/audit-log.ts';
import { failedRequestsPage } from '../store/failed-requests.ts';

/** Every error names its code in a link to its documentation, whichever service has answered. */
const codeOf = (res: Response): string | null =>
  /#([a-z_]+)>; rel="help"/.exec(String(res.getHeader('Link') ?? ''))?.[1] ?? null;

/** Has a request noted when its answer is an error. The request does not wait for it: what is noted is written later. */
export function noteWhenFailed(
  { failedRequests, clock }: Pick<Ports, 'failedRequests' | 'clock'>,
  res: Response,
  { caller, client, method, path }: Asker & { method: string; path: string },
): void {
  const at = clock.now();
  res.once('close', () => {
    // Without an answer its client has gone.
    if (!res.headersSent || res.statusCode < 400) return;
    failedRequests.note({
      id: String(res.getHeader('X-Request-Id')),
      account: caller.account,
      at,
      method,
      path: storedPath(path),
      status: res.statusCode,
      code: codeOf(res),
      actor: caller.tokenId ?? caller.session.person,
      address: client ?? null,
    });
  });
}

/** A page of the requests of the account that failed. */
export async function answerRequests(req: Request, account: AccountId, ports: Ports): Promise<Answer> {
  const read = pageForm(req.query);
  if (!read.ok) return answers.invalid(read.refusal);
  const { page, perPage, ...at } = placeIn(
    req,
    `${ports.settings.PUBLIC_URL}/api/requests`,
    read.value.perPage,
  );
  const { items, total } = await failedRequestsPage(ports.db, account, placeOf(page, perPage));
  return {
    status: 200,
    body: pageView({ data: items.map(failedRequestView), total, page, perPage, ...at }),
  };
}

/** The filters of the audit log of an account. */
export const auditLogFilters = form(
  { perPage: perPageField, format: rules.oneOf(['json', 'csv']).optional },
  paged,
);

/** A page of the audit log of the account; undefined when all of it was sent as a file. */
export async function answerAuditLog(
  req: Request,
  res: Response,
  { account, exports }: { account: AccountId; exports: CsvExports },
  ports: Ports,
): Promise<Answer | undefined> {
  const read = auditLogFilters(req.query);
  if (!read.ok) return answers.invalid(read.refusal);
  if (wantsCsv(req, read.value.format)) {
    const errors = partErrors(req.query, ['page', 'perPage']);
    if (Object.keys(errors).length > 0) return answers.invalid(errors);
    const select = () => accountEntries(account);
    await exports.send(res, { account, name: 'audit-log', table: auditLogTable, select });
    return undefined;
  }
  const { page, perPage, ...at } = placeIn(
    req,
    `${ports.settings.PUBLIC_URL}/api/audit-log`,
    read.value.perPage,
  );
  const { items, total } = await accountEntriesPage(ports.db, account, placeOf(page, perPage));
  return { status: 200, body: pageView({ data: items.map(auditEntryView), total, page, perPage, ...at }) };
}

const placeIn = ({ query }: Request, path: string, perPage: number) => ({
  page: pageOf(query),
  perPage,
  path,
  query,
});
