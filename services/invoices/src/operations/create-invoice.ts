import type { AssetSymbol } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import type { Trx } from '@quittance/shared/db';
import type { RequestBody } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { freshFiatRate, type LockedFiatRate, noFiatRate } from '@quittance/shared/fiat-rate';
import { type Form, type FormValues, formPart, unknownFields } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import type { IdempotencyKey } from '@quittance/shared/idempotency';
import { type AccountId, newEventId, newInvoiceId, type PaymentLinkId } from '@quittance/shared/ids';
import { type Cents, cents, type Rate } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages, rules } from '@quittance/shared/validation';
import { type Invoice, unpaid } from '../domain/invoice.ts';
import {
  EXPIRES_IN_MAX,
  EXPIRES_IN_MIN,
  type InvoiceSettings,
  settingsInForce,
} from '../domain/invoice-settings.ts';
import { isAllowedRedirect } from '../domain/shop.ts';
import { type Ports, watched } from '../ports.ts';
import { nothingPaid } from '../store/invoice-reads.ts';
import { type NewInvoice, saveAnsweredInvoice, saveNewInvoices } from '../store/invoices.ts';
import { invoiceView } from '../views.ts';
import { answerOnce, answerTo, type Created } from './answered-request.ts';
import { createUnchosen } from './create-unchosen.ts';
import { lockAsset } from './lock-asset.ts';
import { type Offer, readOffer, symbolsOf } from './offered-assets.ts';
import { unpayableProblem } from './payable-price.ts';
import { readCurrency, readPriceField } from './read-price.ts';

const MINUTE_MS = 60_000;
export const URL_CHARACTERS_MAX = 2_048;
export const DESCRIPTION_CHARACTERS_MAX = 500;

export const amountForm = formPart({ amount: rules.number().required });
const restFields = {
  expires_in: rules.integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX).optional,
  external_id: rules.text(255).optional,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
  metadata: rules.metadata().or({}),
  succeed_url: rules.url(URL_CHARACTERS_MAX).optional,
  timeout_url: rules.url(URL_CHARACTERS_MAX).optional,
};
export const restForm: Form<typeof restFields> = formPart(restFields);
const knownFields = ['asset', 'assets', 'amount', 'currency', ...Object.keys(restFields)];

/** What a request says of any invoice, whatever it may be paid in. */
type WantedTerms = FormValues<typeof restFields> & {
  /** In `currency`. */
  amount: Cents;
  currency: Currency;
};
type Wanted = Offer &
  WantedTerms & {
    /** Undefined: it is not fresh. */
    fiat: LockedFiatRate | undefined;
  };

export type CreateRequest = {
  account: AccountId;
  body: RequestBody;
  key: IdempotencyKey | undefined;
  requestId: string;
  /** The link that the payer opened. */
  paymentLinkId?: PaymentLinkId | null;
  /** Comes first in the transaction that saves the invoice, and throws when it may not be saved. */
  admit?: (trx: Trx) => Promise<void>;
};

export type CreatePorts = Pick<
  Ports,
  'db' | 'saveInvoice' | 'settingsOf' | 'clock' | 'random' | 'quotes' | 'fiatRates' | 'chains' | 'settings'
>;

/**
 * Creates an invoice with locked rates and its own address, or one whose payer chooses the asset. Throws Unavailable when the
 * rate of the asset or the currency is not fresh, or when no address may be given out, and UnknownOutcome when the answer of
 * the database was lost: the invoice may be stored.
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
  const { asset, assets, fiat, ...terms } = wanted.value;
  if (fiat === undefined) throw noFiatRate(terms.currency);
  if (assets !== null) {
    const unchosen = { ...termsOf(ports, request, terms, settings), assets };
    return await createUnchosen(ports, request, unchosen);
  }
  const quote = ports.quotes.fresh(asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh rate for ${asset}`);

  const invoice = await draw(ports, request, { ...terms, asset, quote, fiat }, settings);
  const data = invoiceView({ invoice, ...nothingPaid, height: 0 }, ports);
  const answer = { status: 201, body: { message: 'Invoice created successfully.', data } };
  const payload = { account_id: invoice.account, resource_id: invoice.id, version: invoice.version, data };
  const created: NewInvoice = {
    invoice,
    event: { id: newEventId(invoice.createdAt, ports.random), payload, requestId: request.requestId },
    watchBalance: watched(ports.chains, invoice.chain).reader.balances !== undefined,
  };
  return await answerOnce(ports, request.key, answer, async () => {
    if (request.admit !== undefined) await saveIfAllowed(ports, request, { created, answer });
    else if (request.key === undefined) await ports.saveInvoice(created);
    else await saveAnsweredInvoice(ports.db, created, request.key, answer);
    failpoint('invoices.created');
  });
}

const saveIfAllowed = (
  { db }: Pick<Ports, 'db'>,
  { key, admit }: Pick<CreateRequest, 'key' | 'admit'>,
  { created, answer }: { created: NewInvoice; answer: Omit<Created, 'replayed'> },
): Promise<void> =>
  db.transaction(async (trx) => {
    await admit?.(trx);
    if (key === undefined) await saveNewInvoices(trx, [created]);
    else await saveAnsweredInvoice(trx, created, key, answer);
  });

/** Parses the request, or lists all its problems. What it does not say is as the account has set it. */
function read(
  ports: Pick<Ports, 'quotes' | 'fiatRates' | 'chains'>,
  settings: InvoiceSettings,
  body: RequestBody,
): Result<Wanted, FieldErrors> {
  const offer = readOffer(ports, body);
  const currency = readCurrency(body, settings.currency);
  const fiat = currency.ok ? freshFiatRate(ports, currency.value) : undefined;
  const amount = readAmount(currency, fiat?.rate, body);
  const rest = restForm(body);
  const unknown = unknownFields(body, knownFields);
  const unpayable =
    offer.ok && amount.ok && currency.ok && fiat !== undefined
      ? unpayableProblem(ports, 'amount', amount.value, symbolsOf(offer.value), {
          currency: currency.value,
          rate: fiat.rate,
        })
      : undefined;
  if (unpayable) Object.assign(unknown, unpayable);
  if (rest.ok) Object.assign(unknown, redirectProblems(rest.value, settings.redirectHosts));
  if (offer.ok && amount.ok && currency.ok && rest.ok && Object.keys(unknown).length === 0) {
    const terms = { ...rest.value, currency: currency.value, amount: amount.value, fiat };
    return ok({ ...offer.value, ...terms });
  }
  const problems = [offer, amount, currency, rest].flatMap((part) => (part.ok ? [] : [part.refusal]));
  return refuse(Object.assign({}, ...problems, unknown) as FieldErrors);
}

/** The URLs that lead customers to a host that the account has not named. */
export function redirectProblems(
  urls: Pick<WantedTerms, 'succeed_url' | 'timeout_url'>,
  hosts: readonly string[],
): FieldErrors {
  const hint = `The settings of the account name the hosts that customers may be sent to: ${hosts.join(', ')}.`;
  const bad = (['succeed_url', 'timeout_url'] as const).filter((name) => {
    const url = urls[name];
    return url !== null && !isAllowedRedirect(url, hosts);
  });
  return Object.fromEntries(bad.map((name) => [name, [messages.invalid(name, hint)]]));
}

/** The amount in its currency; of an unknown currency only that it is a number. */
function readAmount(
  currency: Result<Currency, FieldErrors>,
  rate: Rate | undefined,
  body: RequestBody,
): Result<Cents, FieldErrors> {
  const given = amountForm(body);
  if (!given.ok) return given;
  if (!currency.ok) return ok(cents(0n));
  return readPriceField('amount', given.value.amount, { currency: currency.value, rate });
}

/** What a new invoice has whatever its asset. */
function termsOf(
  { clock, random }: CreatePorts,
  { account, paymentLinkId = null }: CreateRequest,
  wanted: WantedTerms,
  settings: InvoiceSettings,
) {
  const now = clock.now();
  // Anybody may begin a payment of a link: none of them keeps its rate for ever.
  const longest = paymentLinkId === null ? null : EXPIRES_IN_MAX;
  const expiresIn = wanted.expires_in ?? settings.expiresIn ?? longest;
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
    expiresAt: expiresIn === null ? null : new Date(now.getTime() + expiresIn * MINUTE_MS),
    cancelledAt: null,
    succeedUrl: wanted.succeed_url,
    timeoutUrl: wanted.timeout_url,
    paymentLinkId,
    version: 1,
  };
}

/** The new invoice, with its locked rates, its amount due and an unused address. */
async function draw(
  ports: CreatePorts,
  request: CreateRequest,
  wanted: WantedTerms & { asset: AssetSymbol; quote: Quote; fiat: LockedFiatRate },
  settings: InvoiceSettings,
): Promise<Invoice> {
  const { asset, quote, fiat, amount: amountFiat } = wanted;
  const locked = await lockAsset(ports, { asset, amountFiat, quote, fiat });
  return { ...termsOf(ports, request, wanted, settings), ...locked, ...unpaid };
}
