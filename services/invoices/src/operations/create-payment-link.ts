import type { RequestBody } from '@quittance/shared/exact-json';
import { type FormValues, form } from '@quittance/shared/form';
import { type IdempotencyKey, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newPaymentLinkId } from '@quittance/shared/ids';
import type { Cents } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type Field, type FieldErrors, issueOf, messages, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import { readDollars } from '../domain/dollars.ts';
import { currencies } from '../domain/invoice.ts';
import type { PaymentLink } from '../domain/payment-link.ts';
import { linkView } from '../link-view.ts';
import type { Ports } from '../ports.ts';
import { insertLink } from '../store/payment-links.ts';
import { answerOnce, answerTo, type Created } from './answered-request.ts';
import { DESCRIPTION_CHARACTERS_MAX, URL_CHARACTERS_MAX } from './create-invoice.ts';
import { ALL, isGiven, readOffer } from './offered-assets.ts';

const DAY_MS = 24 * 3_600_000;

/** Dollars to the cent, within the limits of an invoice; null: none given. */
const dollars: Field<Cents | null> = (attribute) =>
  rules
    .number()
    .optional(attribute)
    .transform((text, context) => {
      if (text === null) return null;
      const { amount, problems } = readDollars(text);
      for (const problem of problems) {
        const said =
          problem.rule === 'decimals'
            ? messages.decimals(attribute, problem.places)
            : messages[problem.rule](attribute, problem.limit);
        context.addIssue(issueOf(said));
      }
      return problems.length === 0 ? amount : z.NEVER;
    });

const fields = {
  amount: dollars,
  amount_min: dollars,
  amount_max: dollars,
  currency: rules.oneOf(currencies).or(currencies[0]),
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).required,
  metadata: rules.metadata().or({}),
  succeed_url: rules.url(URL_CHARACTERS_MAX).optional,
  timeout_url: rules.url(URL_CHARACTERS_MAX).optional,
  expires_in: rules.integer(1, 120).optional,
  valid_until: rules.date().optional,
  valid_days: rules.integer(1, 365).optional,
};
type Wanted = FormValues<typeof fields>;
const linkForm = form(fields, { alsoKnown: ['asset', 'assets'] });

/** Creates a payment link. */
export async function createPaymentLink(
  ports: Pick<Ports, 'db' | 'clock' | 'random' | 'quotes' | 'chains' | 'settings'>,
  { account, body, key }: { account: AccountId; body: RequestBody; key: IdempotencyKey | undefined },
): Promise<Result<Created, FieldErrors>> {
  const earlier = key && (await answerTo(ports, key));
  if (earlier !== undefined) return earlier;
  const now = ports.clock.now();
  const wanted = read(ports, body, now);
  if (!wanted.ok) return wanted;
  const link = { id: newPaymentLinkId(now, ports.random), account, ...wanted.value };
  const data = linkView(link, ports.settings, now);
  const answer = { status: 201, body: { message: 'Payment link created successfully.', data } };
  return await answerOnce(ports, key, answer, () =>
    ports.db.transaction(async (trx) => {
      await insertLink(trx, link);
      if (key !== undefined) await takeKey(trx, key, link.id, answer);
    }),
  );
}

function read(
  ports: Pick<Ports, 'quotes' | 'chains'>,
  body: RequestBody,
  now: Date,
): Result<Omit<PaymentLink, 'id' | 'account'>, FieldErrors> {
  const isOpen = !isGiven(body, 'asset') && !isGiven(body, 'assets');
  const offer = isOpen ? ok({ asset: null, assets: null }) : readOffer(ports, body);
  const given = linkForm(body);
  const errors = {
    ...(offer.ok ? {} : offer.refusal),
    ...(given.ok ? beside(given.value, now) : given.refusal),
  };
  if (!offer.ok || !given.ok || Object.keys(errors).length > 0) return refuse(errors);
  const { value } = given;
  // "all" stays open: a link lives longer than the list of assets.
  const isAll = isOpen || (body as { assets?: unknown }).assets === ALL;
  return ok({
    description: value.description,
    metadata: value.metadata,
    currency: value.currency,
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
    createdAt: now,
    deactivatedAt: null,
  });
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
