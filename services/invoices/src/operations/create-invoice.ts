import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { brokenConstraint } from '@quittance/shared/db';
import type { RequestBody } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { type Form, type FormValues, form, formPart } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import { findKey, type IdempotencyKey, otherBody } from '@quittance/shared/idempotency';
import { type AccountId, newEventId, newInvoiceId } from '@quittance/shared/ids';
import { type Cents, parseRate, units, usdToUnits } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, issueOf, messages, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import { type Problem, readDollars } from '../domain/dollars.ts';
import { currencies, type Invoice, unpaid } from '../domain/invoice.ts';
import { type Ports, watched } from '../ports.ts';
import { nothingPaid } from '../store/invoice-reads.ts';
import { type NewInvoice, saveAnsweredInvoice } from '../store/invoices.ts';
import { invoiceView } from '../views.ts';

const EXPIRES_IN_DEFAULT_MINUTES = 60;
const MINUTE_MS = 60_000;
const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 500;

/** Dollars to the cent, within the limits of an invoice. */
const dollars = (attribute: string): z.ZodType<Cents> =>
  rules
    .number()
    .required(attribute)
    .transform((text, context) => {
      const { amount, problems } = readDollars(text);
      for (const problem of problems) context.addIssue(issueOf(said(attribute, problem)));
      return problems.length === 0 ? amount : z.NEVER;
    });

const said = (attribute: string, problem: Problem): FieldProblem =>
  problem.rule === 'decimals'
    ? messages.decimals(attribute, problem.places)
    : messages[problem.rule](
        attribute,
        problem.limit,
        `The amount is in US dollars: give ${problem.limit} or ${problem.rule === 'atLeast' ? 'more' : 'less'}.`,
      );

const assetFormOf = (offered: readonly AssetSymbol[]) => formPart({ asset: rules.oneOf(offered).required });
const assetForm = assetFormOf(assetSymbols);
const restFields = {
  amount: dollars,
  currency: rules.oneOf(currencies).or(currencies[0]),
  expires_in: rules.integer(1, 120).or(EXPIRES_IN_DEFAULT_MINUTES),
  external_id: rules.text(255).optional,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
  metadata: rules.metadata().or({}),
  succeed_url: rules.url(URL_CHARACTERS_MAX).optional,
  timeout_url: rules.url(URL_CHARACTERS_MAX).optional,
};
const restForm: Form<typeof restFields> = form(restFields, { alsoKnown: ['asset'] });
type Wanted = { asset: AssetSymbol } & FormValues<typeof restFields>;

export type CreateRequest = {
  account: AccountId;
  body: RequestBody;
  key: IdempotencyKey | undefined;
  requestId: string;
};

/** The answer to the merchant; `replayed` when an earlier request with the same key had it. */
export type Created = { status: number; body: object; replayed: boolean };

export type CreatePorts = Pick<
  Ports,
  'db' | 'saveInvoice' | 'clock' | 'random' | 'quotes' | 'chains' | 'settings'
>;

/**
 * Creates an invoice with a locked rate and its own address. Throws Unavailable when no rate is fresh, or when no
 * address may be given out.
 */
export async function createInvoice(
  ports: CreatePorts,
  request: CreateRequest,
): Promise<Result<Created, FieldErrors>> {
  const earlier = request.key && (await answerTo(ports, request.key));
  if (earlier !== undefined) return earlier;

  const wanted = read(ports, request.body);
  if (!wanted.ok) return wanted;
  const quote = ports.quotes.fresh(wanted.value.asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh rate for ${wanted.value.asset}`);

  const invoice = await draw(ports, request.account, wanted.value, quote);
  const data = invoiceView({ invoice, ...nothingPaid, height: 0 }, ports);
  const answer = { status: 201, body: { message: 'Invoice created successfully.', data } };
  const payload = { account_id: invoice.account, resource_id: invoice.id, version: invoice.version, data };
  const created: NewInvoice = {
    invoice,
    event: { id: newEventId(invoice.createdAt, ports.random), payload, requestId: request.requestId },
    watchBalance: watched(ports.chains, invoice.chain).reader.balances !== undefined,
  };
  try {
    if (request.key === undefined) await ports.saveInvoice(created);
    else await saveAnsweredInvoice(ports.db, created, request.key, answer);
  } catch (error) {
    // A concurrent request with the same key was faster: its answer is ours.
    if (request.key === undefined || brokenConstraint(error) !== 'idempotency_keys_once') throw error;
    const winner = await answerTo(ports, request.key);
    invariant(winner !== undefined, 'an idempotency key that conflicts is stored');
    return winner;
  }
  failpoint('invoices.created');
  return ok({ ...answer, replayed: false });
}

async function answerTo(
  { db }: Pick<Ports, 'db'>,
  key: IdempotencyKey,
): Promise<Result<Created, FieldErrors> | undefined> {
  const known = await findKey(db, key);
  if (known === undefined) return undefined;
  if (known.state === 'other_body') return refuse(otherBody);
  invariant(known.state === 'answered', 'an invoice and the answer to its request are saved together');
  return ok({ status: known.status, body: known.body, replayed: true });
}

/** Parses the request, or lists all its problems. */
function read(
  { quotes, chains }: Pick<Ports, 'quotes' | 'chains'>,
  body: RequestBody,
): Result<Wanted, FieldErrors> {
  // An asset that is switched off or not configured is refused. An asset without a quote is no error of the merchant.
  const isOffered = (symbol: AssetSymbol) =>
    chains.get(assets[symbol].chain)?.assets.has(symbol) === true && quotes.latest(symbol)?.active !== false;
  const known = assetForm(body);
  const asset =
    known.ok && isOffered(known.value.asset) ? known : assetFormOf(assetSymbols.filter(isOffered))(body);
  const rest = restForm(body);
  if (asset.ok && rest.ok) return ok({ ...asset.value, ...rest.value });
  return refuse({ ...(asset.ok ? {} : asset.refusal), ...(rest.ok ? {} : rest.refusal) });
}

/** The new invoice, with its locked rate, its amount due and an unused address. */
async function draw(ports: CreatePorts, account: AccountId, wanted: Wanted, quote: Quote): Promise<Invoice> {
  const { chain, decimals } = assets[wanted.asset];
  const rate = parseRate(quote.usd_rate);
  invariant(rate.ok, 'a quote has a rate');
  const { keys, addresses } = watched(ports.chains, chain);
  if (keys?.status.problem !== undefined) throw new Unavailable(keys.status.problem.reason);
  const { address, derivationIndex } = await addresses.take();
  failpoint('invoices.address_taken');
  const now = ports.clock.now();
  return {
    id: newInvoiceId(now, ports.random),
    account,
    externalId: wanted.external_id,
    description: wanted.description,
    metadata: wanted.metadata,
    asset: wanted.asset,
    chain,
    amountFiat: wanted.amount,
    usdRate: rate.value,
    quote,
    amountDue: usdToUnits(wanted.amount, rate.value, decimals, 'up'),
    toleranceBps: ports.settings.toleranceBps,
    minConfirmations: quote.min_confirmations,
    dust: units(quote.dust),
    createdAt: now,
    expiresAt: new Date(now.getTime() + wanted.expires_in * MINUTE_MS),
    cancelledAt: null,
    succeedUrl: wanted.succeed_url,
    timeoutUrl: wanted.timeout_url,
    address,
    derivationIndex,
    ...unpaid,
    version: 1,
  };
}
