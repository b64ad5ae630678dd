import type { AssetSymbol } from '@quittance/shared/assets';
import type { RequestBody } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { type Form, type FormValues, form } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import type { IdempotencyKey } from '@quittance/shared/idempotency';
import { type AccountId, newEventId, newInvoiceId, type PaymentLinkId } from '@quittance/shared/ids';
import type { Cents } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, issueOf, messages, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import { type Problem, readDollars } from '../domain/dollars.ts';
import { currencies, type Invoice, unpaid } from '../domain/invoice.ts';
import { type Ports, watched } from '../ports.ts';
import { type NewInvoice, saveAnsweredInvoice } from '../store/invoices.ts';
import { invoiceView } from '../views.ts';
import { answerOnce, answerTo, type Created } from './answered-request.ts';
import { createUnchosen } from './create-unchosen.ts';
import { lockAsset } from './lock-asset.ts';
import { type Offer, readOffer } from './offered-assets.ts';

const EXPIRES_IN_DEFAULT_MINUTES = 60;
const MINUTE_MS = 60_000;
export const URL_CHARACTERS_MAX = 2_048;
export const DESCRIPTION_CHARACTERS_MAX = 500;

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
const restForm: Form<typeof restFields> = form(restFields, { alsoKnown: ['asset', 'assets'] });
type Wanted = Offer & FormValues<typeof restFields>;

export type CreateRequest = {
  account: AccountId;
  body: RequestBody;
  key: IdempotencyKey | undefined;
  requestId: string;
  /** The link that the payer opened. */
  paymentLinkId?: PaymentLinkId | null;
};

export type CreatePorts = Pick<
  Ports,
  'db' | 'saveInvoice' | 'clock' | 'random' | 'quotes' | 'chains' | 'settings'
>;

/**
 * Creates an invoice with a locked rate and its own address, or one whose payer chooses the asset. Throws Unavailable when no
 * rate is fresh, or when no address may be given out.
 */
export async function createInvoice(
  ports: CreatePorts,
  request: CreateRequest,
): Promise<Result<Created, FieldErrors>> {
  const earlier = request.key && (await answerTo(ports, request.key));
  if (earlier !== undefined) return earlier;

  const wanted = read(ports, request.body);
  if (!wanted.ok) return wanted;
  const { asset, assets } = wanted.value;
  if (assets !== null)
    return await createUnchosen(ports, request, { ...termsOf(ports, request, wanted.value), assets });
  const quote = ports.quotes.fresh(asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh rate for ${asset}`);

  const invoice = await draw(ports, request, { ...wanted.value, asset }, quote);
  const data = invoiceView(
    { invoice, deposits: [], mempoolPayments: [], paymentsTotal: 0, height: 0 },
    ports,
  );
  const answer = { status: 201, body: { message: 'Invoice created successfully.', data } };
  const payload = { account_id: invoice.account, resource_id: invoice.id, version: invoice.version, data };
  const created: NewInvoice = {
    invoice,
    event: { id: newEventId(invoice.createdAt, ports.random), payload, requestId: request.requestId },
    watchBalance: watched(ports.chains, invoice.chain).reader.balances !== undefined,
  };
  return await answerOnce(ports, request.key, answer, async () => {
    if (request.key === undefined) await ports.saveInvoice(created);
    else await saveAnsweredInvoice(ports.db, created, request.key, answer);
    failpoint('invoices.created');
  });
}

/** Parses the request, or lists all its problems. */
function read(ports: Pick<Ports, 'quotes' | 'chains'>, body: RequestBody): Result<Wanted, FieldErrors> {
  const offer = readOffer(ports, body);
  const rest = restForm(body);
  if (offer.ok && rest.ok) return ok({ ...rest.value, ...offer.value });
  return refuse({ ...(offer.ok ? {} : offer.refusal), ...(rest.ok ? {} : rest.refusal) });
}

/** What a new invoice has whatever its asset. */
function termsOf(
  { clock, random, settings }: CreatePorts,
  { account, paymentLinkId = null }: CreateRequest,
  wanted: FormValues<typeof restFields>,
) {
  const now = clock.now();
  return {
    id: newInvoiceId(now, random),
    account,
    externalId: wanted.external_id,
    description: wanted.description,
    metadata: wanted.metadata,
    currency: wanted.currency,
    amountFiat: wanted.amount,
    toleranceBps: settings.toleranceBps,
    createdAt: now,
    expiresAt: new Date(now.getTime() + wanted.expires_in * MINUTE_MS),
    cancelledAt: null,
    succeedUrl: wanted.succeed_url,
    timeoutUrl: wanted.timeout_url,
    paymentLinkId,
    version: 1,
  };
}

/** The new invoice, with its locked rate, its amount due and an unused address. */
async function draw(
  ports: CreatePorts,
  request: CreateRequest,
  wanted: { asset: AssetSymbol } & FormValues<typeof restFields>,
  quote: Quote,
): Promise<Invoice> {
  const locked = await lockAsset(ports, { asset: wanted.asset, amountFiat: wanted.amount, quote });
  const { currency: _, ...terms } = termsOf(ports, request, wanted);
  return { ...terms, ...locked, ...unpaid };
}
