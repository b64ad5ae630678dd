import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { type Currency, currencyCodes } from '@quittance/shared/currencies';
import { brokenConstraint } from '@quittance/shared/db';
import type { RequestBody } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { type Form, type FormValues, formPart, unknownFields } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import { findKey, type IdempotencyKey, otherBody } from '@quittance/shared/idempotency';
import { type AccountId, newEventId, newInvoiceId } from '@quittance/shared/ids';
import { type Cents, fiatToUnits, ONE_DOLLAR, parseRate, type Rate, units } from '@quittance/shared/money';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, messages, rules } from '@quittance/shared/validation';
import { type Invoice, unpaid } from '../domain/invoice.ts';
import {
  EXPIRES_IN_MAX,
  EXPIRES_IN_MIN,
  type InvoiceSettings,
  settingsInForce,
} from '../domain/invoice-settings.ts';
import { type Problem, priceLimits, readPrice } from '../domain/price.ts';
import { type Ports, watched } from '../ports.ts';
import { nothingPaid } from '../store/invoice-reads.ts';
import { type NewInvoice, saveAnsweredInvoice } from '../store/invoices.ts';
import { invoiceView } from '../views.ts';

const MINUTE_MS = 60_000;
const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 500;

const assetFormOf = (offered: readonly AssetSymbol[]) => formPart({ asset: rules.oneOf(offered).required });
const assetForm = assetFormOf(assetSymbols);
const amountForm = formPart({ amount: rules.number().required });
const currencyForm = formPart({ currency: rules.oneOf(currencyCodes).optional });
const restFields = {
  expires_in: rules.integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX).optional,
  external_id: rules.text(255).optional,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
  metadata: rules.metadata().or({}),
  succeed_url: rules.url(URL_CHARACTERS_MAX).optional,
  timeout_url: rules.url(URL_CHARACTERS_MAX).optional,
};
const restForm: Form<typeof restFields> = formPart(restFields);
const knownFields = ['asset', 'amount', 'currency', ...Object.keys(restFields)];

/** A currency's rate as it is locked; `stored` is null for US dollars. */
type LockedFiatRate = { rate: Rate; stored: FiatRate | null };

type Wanted = FormValues<typeof restFields> & {
  asset: AssetSymbol;
  /** In `currency`. */
  amount: Cents;
  currency: Currency;
  /** Undefined: it is not fresh. */
  fiat: LockedFiatRate | undefined;
};

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
  'db' | 'saveInvoice' | 'settingsOf' | 'clock' | 'random' | 'quotes' | 'fiatRates' | 'chains' | 'settings'
>;

/**
 * Creates an invoice with locked rates and its own address. Throws Unavailable when the rate of the asset or the currency is
 * not fresh, or when no address may be given out.
 */
export async function createInvoice(
  ports: CreatePorts,
  request: CreateRequest,
): Promise<Result<Created, FieldErrors>> {
  const [earlier, stored] = await Promise.all([
    request.key && answerTo(ports, request.key),
    ports.settingsOf(request.account),
  ]);
  if (earlier !== undefined) return earlier;

  const settings = settingsInForce(stored, ports.settings.toleranceBps);
  const wanted = read(ports, settings, request.body);
  if (!wanted.ok) return wanted;
  const quote = ports.quotes.fresh(wanted.value.asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh rate for ${wanted.value.asset}`);
  const { fiat, currency } = wanted.value;
  if (fiat === undefined) throw noFiatRate(currency);

  const invoice = await draw(ports, request.account, { ...wanted.value, fiat }, settings, quote);
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

/** Undefined while the rate is not fresh. */
function fiatRateOf({ fiatRates }: Pick<Ports, 'fiatRates'>, currency: Currency): LockedFiatRate | undefined {
  if (currency === 'USD') return { rate: ONE_DOLLAR, stored: null };
  const stored = fiatRates.fresh(currency);
  if (stored === undefined) return undefined;
  const rate = parseRate(stored.usd_rate);
  return rate.ok && rate.value > 0n ? { rate: rate.value, stored } : undefined;
}

const noFiatRate = (currency: Currency): Unavailable =>
  new Unavailable(
    `there is no fresh rate of ${currency}`,
    `There is no exchange rate of ${currency} at the moment. Send the request again later, or give another currency.`,
  );

/** Parses the request, or lists all its problems. What it does not say is as the account has set it. */
function read(
  ports: Pick<Ports, 'quotes' | 'fiatRates' | 'chains'>,
  settings: InvoiceSettings,
  body: RequestBody,
): Result<Wanted, FieldErrors> {
  const asset = readAsset(ports, body);
  const given = currencyForm(body);
  const currency = given.ok ? (given.value.currency ?? settings.currency) : undefined;
  const fiat = currency && fiatRateOf(ports, currency);
  const amount = readAmount(currency, fiat?.rate, body);
  const rest = restForm(body);
  const unknown = unknownFields(body, knownFields);
  if (asset.ok && amount.ok && currency !== undefined && rest.ok && Object.keys(unknown).length === 0)
    return ok({ ...asset.value, ...rest.value, currency, fiat, amount: amount.value });
  const problems = [asset, amount, given, rest].flatMap((part) => (part.ok ? [] : [part.refusal]));
  return refuse(Object.assign({}, ...problems, unknown) as FieldErrors);
}

function readAsset(
  { quotes, chains }: Pick<Ports, 'quotes' | 'chains'>,
  body: RequestBody,
): Result<{ asset: AssetSymbol }, FieldErrors> {
  // An asset that is switched off or not configured is refused. An asset without a quote is no error of the merchant.
  const isOffered = (symbol: AssetSymbol) =>
    chains.get(assets[symbol].chain)?.assets.has(symbol) === true && quotes.latest(symbol)?.active !== false;
  const known = assetForm(body);
  return known.ok && isOffered(known.value.asset) ? known : assetFormOf(assetSymbols.filter(isOffered))(body);
}

/** The amount in its currency; of an unknown currency only that it is a number. */
function readAmount(
  currency: Currency | undefined,
  rate: Rate | undefined,
  body: RequestBody,
): Result<Cents, FieldErrors> {
  const given = amountForm(body);
  if (!given.ok) return given;
  if (currency === undefined) return ok(0n as Cents);
  const limits = priceLimits(currency, rate);
  const { amount, problems } = readPrice(given.value.amount, limits);
  return problems.length === 0
    ? ok(amount)
    : refuse({ amount: problems.map((problem) => said(problem, currency)) });
}

function said(problem: Problem, currency: Currency): FieldProblem {
  if (problem.rule === 'decimals') return messages.decimals('amount', problem.places);
  const { rule, limit } = problem;
  const named = currency === 'USD' ? 'US dollars' : currency;
  const side = rule === 'atLeast' ? 'more' : 'less';
  return messages[rule]('amount', limit, `The amount is in ${named}: give ${limit} or ${side}.`);
}

/** The new invoice, with its locked rates, its amount due and an unused address. */
async function draw(
  ports: CreatePorts,
  account: AccountId,
  wanted: Wanted & { fiat: LockedFiatRate },
  settings: InvoiceSettings,
  quote: Quote,
): Promise<Invoice> {
  const { chain, decimals } = assets[wanted.asset];
  const rate = parseRate(quote.usd_rate);
  invariant(rate.ok, 'a quote has a rate');
  const { keys, addresses } = watched(ports.chains, chain);
  if (keys?.status.problem !== undefined) throw new Unavailable(keys.status.problem.reason);
  const { address, derivationIndex } = await addresses.take();
  failpoint('invoices.address_taken');
  const now = ports.clock.now();
  const expiresIn = wanted.expires_in ?? settings.expiresIn;
  return {
    id: newInvoiceId(now, ports.random),
    account,
    externalId: wanted.external_id,
    description: wanted.description,
    metadata: wanted.metadata,
    asset: wanted.asset,
    chain,
    currency: wanted.currency,
    amountFiat: wanted.amount,
    fiatRate: wanted.fiat.stored,
    usdRate: rate.value,
    quote,
    amountDue: fiatToUnits(wanted.amount, wanted.fiat.rate, rate.value, decimals, 'up'),
    toleranceBps: settings.toleranceBps,
    minConfirmations: quote.min_confirmations,
    dust: units(quote.dust),
    createdAt: now,
    expiresAt: expiresIn === null ? null : new Date(now.getTime() + expiresIn * MINUTE_MS),
    cancelledAt: null,
    succeedUrl: wanted.succeed_url,
    timeoutUrl: wanted.timeout_url,
    address,
    derivationIndex,
    ...unpaid,
    version: 1,
  };
}
