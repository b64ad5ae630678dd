import { assetSymbols } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import type { RequestBody } from '@quittance/shared/exact-json';
import { failpoint } from '@quittance/shared/failpoint';
import { freshFiatRate, noFiatRate } from '@quittance/shared/fiat-rate';
import { type FormValues, form } from '@quittance/shared/form';
import { type IdempotencyKey, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newPaymentLinkId } from '@quittance/shared/ids';
import type { Cents, Rate } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, rules } from '@quittance/shared/validation';
import { EXPIRES_IN_MAX, EXPIRES_IN_MIN, type StoredSettings } from '../domain/invoice-settings.ts';
import { MAX_OPEN_DEFAULT, MAX_OPEN_MAX, type PaymentLink } from '../domain/payment-link.ts';
import { linkView } from '../link-view.ts';
import type { Ports } from '../ports.ts';
import { insertLink } from '../store/payment-links.ts';
import { answerOnce, answerTo, type Created } from './answered-request.ts';
import { DESCRIPTION_CHARACTERS_MAX, redirectProblems, URL_CHARACTERS_MAX } from './create-invoice.ts';
import { ALL, isGiven, isOffered, readOffer } from './offered-assets.ts';
import { unpayableProblem } from './payable-price.ts';
import { readCurrency, readPriceField } from './read-price.ts';

const DAY_MS = 24 * 3_600_000;

const fields = {
  amount: rules.number().optional,
  amount_min: rules.number().optional,
  amount_max: rules.number().optional,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).required,
  metadata: rules.metadata().or({}),
  succeed_url: rules.url(URL_CHARACTERS_MAX).optional,
  timeout_url: rules.url(URL_CHARACTERS_MAX).optional,
  expires_in: rules.integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX).optional,
  valid_until: rules.date().optional,
  valid_days: rules.integer(1, 365).optional,
  max_open: rules.integer(1, MAX_OPEN_MAX).or(MAX_OPEN_DEFAULT),
};
export const linkForm = form(fields, { alsoKnown: ['asset', 'assets', 'currency'] });

type LinkOffer = Pick<PaymentLink, 'asset' | 'assets'>;

/** In the currency of the link; null: not given. */
type Prices = Record<(typeof priceNames)[number], Cents | null>;
const priceNames = ['amount', 'amount_min', 'amount_max'] as const;
type Wanted = Omit<FormValues<typeof fields>, keyof Prices> & Prices;

/** Creates a payment link. Throws Unavailable while the rate is not fresh that its amounts are checked with. */
export async function createPaymentLink(
  ports: Pick<
    Ports,
    'db' | 'settingsOf' | 'clock' | 'random' | 'quotes' | 'fiatRates' | 'chains' | 'settings'
  >,
  { account, body, key }: { account: AccountId; body: RequestBody; key: IdempotencyKey | undefined },
): Promise<Result<Created, FieldErrors>> {
  const [earlier, stored] = await Promise.all([key && answerTo(ports, key), ports.settingsOf(account)]);
  if (earlier !== undefined) return earlier;
  const now = ports.clock.now();
  const wanted = read(ports, body, stored, now);
  if (!wanted.ok) return wanted;
  const link = { id: newPaymentLinkId(now, ports.random), account, ...wanted.value };
  const data = linkView({ ...link, openInvoices: 0 }, ports.settings, now);
  const answer = { status: 201, body: { message: 'Payment link created successfully.', data } };
  return await answerOnce(ports, key, answer, async () => {
    await ports.db.transaction(async (trx) => {
      await insertLink(trx, link);
      if (key !== undefined) await takeKey(trx, key, link.id, answer);
    });
    failpoint('invoices.link_created');
  });
}

/** @param settings of the account: the currency of a request that gives none, and where customers may be sent */
function read(
  ports: Pick<Ports, 'quotes' | 'fiatRates' | 'chains'>,
  body: RequestBody,
  settings: Pick<StoredSettings, 'currency' | 'redirectHosts'>,
  now: Date,
): Result<Omit<PaymentLink, 'id' | 'account'>, FieldErrors> {
  const isOpen = !isGiven(body, 'asset') && !isGiven(body, 'assets');
  const offer: Result<LinkOffer, FieldErrors> = isOpen
    ? ok({ asset: null, assets: null })
    : readOffer(ports, body);
  const currency = readCurrency(body, settings.currency);
  const given = linkForm(body);
  const fiat = currency.ok ? freshFiatRate(ports, currency.value) : undefined;
  const prices =
    given.ok && currency.ok ? readPrices(given.value, currency.value, fiat?.rate) : ok(undefined);
  const unpayable =
    offer.ok && currency.ok && prices.ok && fiat !== undefined
      ? unpayablePrices(ports, offer.value, prices.value, { currency: currency.value, rate: fiat.rate })
      : {};
  const value = given.ok && prices.ok && prices.value ? { ...given.value, ...prices.value } : undefined;
  const errors: FieldErrors = Object.assign(
    {},
    ...[offer, currency, given, prices].map((part) => (part.ok ? {} : part.refusal)),
    unpayable,
    value && beside(value, now),
    value && redirectProblems(value, settings.redirectHosts),
  );
  if (!offer.ok || !currency.ok || value === undefined || Object.keys(errors).length > 0)
    return refuse(errors);
  if (fiat === undefined && priceNames.some((name) => value[name] !== null)) throw noFiatRate(currency.value);
  // "all" stays open: a link lives longer than the list of assets.
  const isAll = isOpen || (body as { assets?: unknown }).assets === ALL;
  return ok({
    description: value.description,
    metadata: value.metadata,
    currency: currency.value,
    amountFiat: value.amount,
    amountMin: value.amount_min,
    amountMax: value.amount_max,
    asset: offer.value.asset,
    assets: isAll ? null : offer.value.assets,
    expiresIn: value.expires_in,
    succeedUrl: value.succeed_url,
    timeoutUrl: value.timeout_url,
    validUntil:
      value.valid_days === null ? value.valid_until : new Date(now.getTime() + value.valid_days * DAY_MS),
    maxOpen: value.max_open,
    createdAt: now,
    deactivatedAt: null,
  });
}

/** The amounts of a link, each by the rules of an invoice's. */
function readPrices(
  given: Record<keyof Prices, string | null>,
  currency: Currency,
  rate: Rate | undefined,
): Result<Prices, FieldErrors> {
  const prices: Prices = { amount: null, amount_min: null, amount_max: null };
  const errors: FieldErrors = {};
  for (const name of priceNames) {
    const text = given[name];
    if (text === null) continue;
    const price = readPriceField(name, text, { currency, rate });
    if (price.ok) prices[name] = price.value;
    else Object.assign(errors, price.refusal);
  }
  return Object.keys(errors).length === 0 ? ok(prices) : refuse(errors);
}

/** A price, or the highest one, that can be paid in none of the assets: no payment of the link could begin. */
function unpayablePrices(
  ports: Pick<Ports, 'quotes' | 'chains'>,
  { asset, assets }: LinkOffer,
  prices: Prices | undefined,
  currency: { currency: Currency; rate: Rate },
): FieldErrors {
  const offered = asset === null ? (assets ?? assetSymbols.filter((one) => isOffered(ports, one))) : [asset];
  const errors: FieldErrors = {};
  for (const name of ['amount', 'amount_max'] as const) {
    const price = prices?.[name] ?? null;
    if (price !== null) Object.assign(errors, unpayableProblem(ports, name, price, offered, currency));
  }
  return errors;
}

/** What is wrong between fields that are valid by themselves. */
function beside(wanted: Wanted, now: Date): FieldErrors {
  const { amount, amount_min: min, amount_max: max, valid_until: until, valid_days: days } = wanted;
  const errors: FieldErrors = {};
  const together = (name: string, other: string) => {
    errors[name] = [
      { message: `The ${name.replaceAll('_', ' ')} field cannot be given together with ${other}.` },
    ];
  };
  if (amount !== null && min !== null) together('amount_min', 'amount');
  if (amount !== null && max !== null) together('amount_max', 'amount');
  if (min !== null && max !== null && max < min) {
    errors['amount_max'] = [{ message: 'The amount max must be greater than or equal to amount min.' }];
  }
  if (until !== null && days !== null) together('valid_days', 'valid_until');
  else if (until !== null && until <= now) {
    errors['valid_until'] = [{ message: 'The valid until must be a date after now.' }];
  }
  return errors;
}
