import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { CLAIM_DAYS_DEFAULT, CLAIM_DAYS_MAX } from '@quittance/shared/commands';
import { formPart, unknownFields } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import type { Metadata } from '@quittance/shared/metadata';
import { formatCents, parseFiat, smallestUnit } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages, rules } from '@quittance/shared/validation';
import type { WantedRefund } from './domain/refund.ts';
import {
  ADDRESS_CHARACTERS_MAX,
  EXTERNAL_ID_CHARACTERS_MAX,
  type PayableChain,
  readRecipient,
} from './payout-order.ts';
import type { Ports } from './ports.ts';
import { lessThanFee } from './returned-part.ts';
import type { UnresolvedDeposit } from './store/unswept-deposits.ts';

/** To whom a refund is paid: to an address, or to the one that its payer gives within some days. */
export type RefundTo = { address: string } | { expiresInDays: number };

export type RefundOrder = {
  wanted: WantedRefund;
  /** As the merchant wrote it. */
  requested: string;
  rate: 'then' | 'now';
  to: RefundTo;
} & RefundNotes;

type RefundNotes = { externalId: string | null; metadata: Metadata };

export const readWord = formPart({ amount: rules.oneOf(['all', 'surplus']).required });
export const readAmount = formPart({ amount: rules.number().required });
const linkFields = { expires_in_days: rules.integer(1, CLAIM_DAYS_MAX).optional };
const noteFields = {
  external_id: rules.text(EXTERNAL_ID_CHARACTERS_MAX).optional,
  metadata: rules.metadata().or({}),
};
const restFields = {
  rate: rules.oneOf(['then', 'now']).or('then' as const),
  address: rules.text(ADDRESS_CHARACTERS_MAX).optional,
  ...linkFields,
  ...noteFields,
};
export const readRest = formPart(restFields);

/** Reads the body of a refund of an invoice, and lists all errors. Throws Unavailable when it cannot be paid. */
export function readRefundOrder(
  body: unknown,
  { asset, currencyDecimals }: { asset: AssetSymbol; currencyDecimals: number },
  { chains }: Pick<Ports, 'chains'>,
): Result<RefundOrder, FieldErrors> {
  const on = payableChain(asset, chains);
  const wanted = readWanted(body, currencyDecimals);
  const rest = readRest(body);
  const unknown = unknownFields(body, ['amount', ...Object.keys(restFields)]);
  const errors: FieldErrors = {
    ...(wanted.ok ? {} : wanted.refusal),
    ...(rest.ok ? {} : rest.refusal),
    ...unknown,
  };
  if (!rest.ok) return refuse(errors);

  const { rate, address, expires_in_days: days } = rest.value;
  let to: RefundTo = { expiresInDays: days ?? CLAIM_DAYS_DEFAULT };
  if (address !== null) {
    const recipient = readRecipient({ address }, on);
    if (recipient.ok) to = { address: recipient.value };
    else Object.assign(errors, recipient.refusal);
    if (days !== null) {
      const hint = 'A refund to an address is paid at once. Leave out one of the two.';
      errors['expires_in_days'] = [{ message: 'The expires in days field is for claim links only.', hint }];
    }
  }
  if (!wanted.ok || Object.keys(errors).length > 0) return refuse(errors);
  return ok({ ...wanted.value, rate, to, ...notesOf(rest.value) });
}

function readWanted(
  body: unknown,
  decimals: number,
): Result<Pick<RefundOrder, 'wanted' | 'requested'>, FieldErrors> {
  const word = readWord(body);
  if (word.ok) return ok({ wanted: word.value.amount, requested: word.value.amount });
  const example = decimals === 0 ? '1250' : '12.50';
  const hint = `Give "all", "surplus", or a number in the currency of the invoice, such as ${example}.`;
  const number = readAmount(body);
  if (!number.ok) {
    const problems = Object.values(number.refusal).flat();
    return refuse({ amount: problems.map(({ message }) => ({ message, hint })) });
  }
  const text = number.value.amount;
  const amount = parseFiat(text, decimals);
  if (amount.ok && amount.value > 0n) return ok({ wanted: amount.value, requested: text });
  if (amount.ok || text.startsWith('-'))
    return refuse({ amount: [messages.atLeast('amount', formatCents(smallestUnit(decimals)))] });
  if (amount.refusal === 'too_many_decimals')
    return refuse({ amount: [{ ...messages.decimals('amount', decimals), hint }] });
  return refuse({ amount: [messages.invalid('amount', hint)] });
}

const notesOf = ({
  external_id: externalId,
  metadata,
}: {
  external_id: string | null;
  metadata: Metadata;
}) => ({
  externalId,
  metadata,
});

/** The chain on which an asset is paid out. Throws Unavailable when it is not configured. */
export function payableChain(asset: AssetSymbol, chains: Ports['chains']): PayableChain {
  const on = chains.get(assets[asset].chain);
  if (on?.assets.includes(asset) !== true) throw new Unavailable(`${asset} cannot be paid out`);
  return on;
}

export const readClaim = formPart({ claim: rules.boolean().optional });
const depositFields = { claim: rules.boolean().required, ...linkFields, ...noteFields };
/** `amount`: see returned-part.ts. */
const depositFieldNames = ['amount', ...Object.keys(depositFields)];
export const readDepositRest = formPart(depositFields);

/** Whether the body of a return asks for a claim link. */
export function asksForClaim(body: unknown): boolean {
  const read = readClaim(body);
  return read.ok && read.value.claim === true;
}

export type DepositClaimOrder = { expiresInDays: number } & RefundNotes;

/** Reads the body of a return by a claim link. Throws Unavailable when the asset's fee is not known. */
export function readDepositClaim(
  body: unknown,
  { asset, amount }: Pick<UnresolvedDeposit, 'asset' | 'amount'>,
  { chains, quotes }: Pick<Ports, 'chains' | 'quotes'>,
): Result<DepositClaimOrder, FieldErrors> {
  payableChain(asset, chains);
  const quote = quotes.latest(asset);
  if (quote === undefined) throw new Unavailable(`the network fee of ${asset} is not known`);
  const rest = readDepositRest(body);
  const errors: FieldErrors = {
    ...(rest.ok ? {} : rest.refusal),
    ...unknownFields(body, depositFieldNames, {
      address: 'Give an address, or ask for a claim link: not both.',
    }),
    ...lessThanFee({ asset, amount }, quote),
  };
  if (!rest.ok || Object.keys(errors).length > 0) return refuse(errors);
  return ok({ expiresInDays: rest.value.expires_in_days ?? CLAIM_DAYS_DEFAULT, ...notesOf(rest.value) });
}
