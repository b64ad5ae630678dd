import { type GivenLine, readBatchFile } from '@quittance/shared/batch-csv';
import { form, unknownFields } from '@quittance/shared/form';
import { contextOf, readBody, unknownParameters } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import { pageForm, pageOf, pageView, placeOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { FieldErrors } from '@quittance/shared/validation';
import type { Express, Request, RequestHandler, Response } from 'express';
import {
  type BatchMode,
  type BatchOrderLine,
  countProblem,
  readBatchBody,
  readLines,
  readMode,
} from '../batch-order.ts';
import { batchView, createdBatchView, listedBatchView } from '../batch-views.ts';
import { createPayoutBatch } from '../operations/create-payout-batch.ts';
import type { Ports } from '../ports.ts';
import { batchPage, countsOf, findBatch, linesOf } from '../store/payout-batches.ts';
import { answeredBefore, haltedAnswer, requestOf } from './pay-once.ts';

export function addBatchRoutes(app: Express, ports: Ports, merchant: RequestHandler): void {
  app.post('/api/payout-batches', merchant, ...readBody, async (req, res) =>
    send(res, await createBatch(ports, req, res)),
  );
  app.get('/api/payout-batches', merchant, async (req, res) => send(res, await listBatches(ports, req, res)));
  app.get('/api/payout-batches/:id', merchant, async (req, res) =>
    send(res, await showBatch(ports, req, res)),
  );
}

const isFile = (req: Request): boolean => /^text\/csv\b/i.test(req.headers['content-type'] ?? '');

/** What a request asks for. `nameOf` is the name of a line in the errors of a 422. */
type AskedBatch = { mode: BatchMode; given: GivenLine[]; nameOf: (line: number) => string };

/** Creates a batch. A request that repeats the Idempotency-Key must have the same bytes and the same mode. */
async function createBatch(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const { identity, requestId, rawBody } = contextOf(res);
  const query = String(new URLSearchParams(req.query as Record<string, string>));
  const asked = Buffer.concat([Buffer.from(`batch ${isFile(req) ? 'csv' : 'json'} ${query}\n`), rawBody]);
  const given = readKey(req.headers['idempotency-key'], identity.account, asked);
  const key = given !== undefined && isIdempotencyKey(given) ? given : undefined;
  const earlier = key && (await answeredBefore(ports, key));
  if (earlier !== undefined) return earlier;

  const badKey = given === undefined || key !== undefined ? {} : (given as FieldErrors);
  const batch = readAsked(req, res);
  if (!batch.ok) return answers.invalid({ ...batch.refusal, ...badKey });
  if (Object.keys(badKey).length > 0) return answers.invalid(badKey);
  const { mode, nameOf } = batch.value;
  const lines = readLines(batch.value.given, ports);
  const errors = mode === 'all_or_nothing' ? errorsOf(lines, nameOf) : {};
  if (Object.keys(errors).length > 0) return answers.invalid(errors);
  const isUnpayable = (line: BatchOrderLine) => 'isUnavailable' in line;
  if (mode === 'all_or_nothing' ? lines.some(isUnpayable) : lines.every(isUnpayable))
    return answers.unavailable;

  const made = await createPayoutBatch(ports, {
    account: identity.account,
    request: requestOf(req, res),
    mode,
    lines,
    requestId,
    key,
  });
  if (made.ok) return { status: 201, body: createdBatchView(made.value) };
  switch (made.refusal) {
    case 'key_taken':
      return (key && (await answeredBefore(ports, key))) ?? answers.stillRunning;
    case 'assertion_used':
      return answers.unauthenticated;
    case 'unavailable':
      return answers.unavailable;
    case 'halted':
      return haltedAnswer;
    default:
      return { status: 400, body: made.refusal.insufficientBalance };
  }
}

function readAsked(req: Request, res: Response): Result<AskedBatch, FieldErrors> {
  const { rawBody, body } = contextOf(res);
  if (isFile(req)) {
    const mode = readMode(req.query);
    const problems = { ...(mode.ok ? {} : mode.refusal), ...unknownFields(req.query, ['mode']) };
    const file = readBatchFile(rawBody);
    const wrong = file.ok ? countProblem(file.value) : file.refusal;
    if (!mode.ok || !file.ok || wrong !== undefined || Object.keys(problems).length > 0) {
      return refuse({ ...problems, ...wrong });
    }
    return ok({ mode: mode.value.mode, given: file.value, nameOf: (line) => `lines.${line}` });
  }
  const unknown = form({})(req.query);
  const list = readBatchBody(body);
  const wrong = list.ok ? countProblem(list.value.given) : list.refusal;
  if (!unknown.ok || !list.ok || wrong !== undefined) {
    return refuse({ ...(unknown.ok ? {} : unknown.refusal), ...wrong });
  }
  return ok({ ...list.value, nameOf: (line) => `payouts.${line - 1}` });
}

/** The errors of all lines, each under the name of its line and its field. */
const errorsOf = (lines: readonly BatchOrderLine[], nameOf: AskedBatch['nameOf']): FieldErrors =>
  Object.fromEntries(
    lines.flatMap((line) =>
      'errors' in line
        ? Object.entries(line.errors).map(([field, problems]) => [`${nameOf(line.line)}.${field}`, problems])
        : [],
    ),
  );

/** A page of batches without their lines. */
async function listBatches({ db, settings }: Ports, { query }: Request, res: Response): Promise<Answer> {
  const parsed = pageForm(query);
  if (!parsed.ok) return answers.invalid(parsed.refusal);
  const { perPage } = parsed.value;
  const page = pageOf(query);
  const { account } = contextOf(res).identity;
  const { items, total } = await batchPage(db, account, placeOf(page, perPage));
  const counts = await countsOf(
    db,
    items.map(({ id }) => id),
  );
  const data = items.map((batch) =>
    listedBatchView(
      batch,
      counts.filter(({ id }) => id === batch.id),
    ),
  );
  const path = `${settings.publicUrl}/api/payout-batches`;
  return { status: 200, body: pageView({ data, total, page, perPage, path, query }) };
}

async function showBatch(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const id = String(req.params['id']);
  const batch = /^pba_\w{1,60}$/.test(id) ? await findBatch(ports.db, id) : undefined;
  if (batch === undefined) return accessAnswers('PayoutBatch').not_found;
  if (batch.account !== contextOf(res).identity.account) return answers.unauthorized;
  const refused = unknownParameters(req);
  return refused ?? { status: 200, body: batchView(batch, await linesOf(ports.db, batch.id)) };
}
