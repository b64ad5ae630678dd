import { addressHint } from '@quittance/chains/address-hint';
import { type AssetSymbol, assetSymbols, assets, type Chain, type ChainKind } from '@quittance/shared/assets';
import { fieldsOf } from '@quittance/shared/exact-json';
import { formPart, unknownFields } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import type { Metadata } from '@quittance/shared/metadata';
import { type Units, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, messages, rules } from '@quittance/shared/validation';
import { amountWithin, leastAmount } from './amount-within.ts';
import type { PayoutChain, Ports } from './ports.ts';
import { lessThanFee } from './returned-part.ts';
import type { UnresolvedDeposit } from './store/unswept-deposits.ts';

export const ADDRESS_CHARACTERS_MAX = 255;
export const EXTERNAL_ID_CHARACTERS_MAX = 255;

/** What a merchant requests, with the fee, the rate and the confirmations of this moment. */
export type PayoutOrder = {
  asset: AssetSymbol;
  amount: Units;
  /** All that the balance has after the fee is paid, and at least `amount`. */
  takesAll: boolean;
  /** Of a deposit it may be less than is left. */
  isPart?: boolean;
  /** Canonical. */
  address: string;
  networkFee: Units;
  minConfirmations: number;
  /** US dollars for one whole asset, as decimal text. */
  usdRate: string;
} & PayoutNotes;

/** What a merchant notes on a payout, for itself. */
type PayoutNotes = { externalId: string | null; metadata: Metadata };

/** The parts of a chain that an order depends on. */
export type PayableChain = Pick<PayoutChain, 'kind' | 'assets' | 'checkAddress'> & {
  sender: Pick<PayoutChain['sender'], 'hotAddress'>;
};
export type OrderPorts = Pick<Ports, 'quotes'> & { chains: Pick<ReadonlyMap<Chain, PayableChain>, 'get'> };

export const fields = {
  asset: formPart({ asset: rules.oneOf(assetSymbols).required }),
  amount: formPart({ amount: rules.number().required }),
  address: formPart({ address: rules.text(ADDRESS_CHARACTERS_MAX).required }),
};
export const optionalAddress = formPart({ address: rules.text(ADDRESS_CHARACTERS_MAX).optional });
export const readMax = formPart({ amount: rules.oneOf(['max']).required });
const noteFields = {
  external_id: rules.text(EXTERNAL_ID_CHARACTERS_MAX).optional,
  metadata: rules.metadata().or({}),
};
export const readNotes = formPart(noteFields);
const noteNames = Object.keys(noteFields);

/**
 * Reads the body of a new payout and lists all errors of all fields. Limits and addresses depend on the asset, so they
 * are checked only when the asset is valid; a negative amount is too small for any asset. Throws Unavailable when the
 * body is valid and there is no fresh quote, because an old fee must not be promised.
 */
export function readPayoutOrder(body: unknown, ports: OrderPorts): Result<PayoutOrder, FieldErrors> {
  const takesAll = readMax(body).ok;
  const { errors, asset, amount, address } = readPayment(body, ports, fields.address, takesAll);
  const notes = readNotes(body);
  if (!notes.ok) Object.assign(errors, notes.refusal);
  const problems = { ...errors, ...unknownFields(body, [...Object.keys(fields), ...noteNames]) };
  const isValid = Object.keys(problems).length === 0;
  if (!isValid || asset === undefined || amount === undefined || !address || !notes.ok)
    return refuse(problems);
  const terms = termsOf(freshQuote(ports, asset));
  return ok({ asset, amount, takesAll, address, ...terms, ...notesOf(notes.value) });
}

/** What a payout would cost now. */
export type PayoutQuote = Pick<PayoutOrder, 'asset' | 'amount' | 'networkFee' | 'usdRate'> & {
  /** Canonical; null when the request names none. */
  address: string | null;
  /** When fee and rate were determined. */
  asOf: Date;
};

/** Reads the query of a quote, as `readPayoutOrder` reads a body. The amount of one that takes all is the least that it may be. */
export function readQuoteRequest(
  query: unknown,
  ports: OrderPorts,
): Result<PayoutQuote & Pick<PayoutOrder, 'takesAll'>, FieldErrors> {
  const takesAll = readMax(query).ok;
  const { errors, asset, amount, address } = readPayment(query, ports, optionalAddress, takesAll);
  const problems = { ...errors, ...unknownFields(query, Object.keys(fields)) };
  const isValid = Object.keys(problems).length === 0;
  if (!isValid || asset === undefined || amount === undefined || address === undefined)
    return refuse(problems);
  const quote = freshQuote(ports, asset);
  const { networkFee, usdRate } = termsOf(quote);
  return ok({ asset, amount, takesAll, address, networkFee, usdRate, asOf: new Date(quote.as_of) });
}

type ReadAddress = (body: unknown) => Result<{ address: string | null }, FieldErrors>;
type ReadPayment = {
  errors: FieldErrors;
  asset: AssetSymbol | undefined;
  amount: Units | undefined;
  /** Canonical; null when none was given and none is required. */
  address: string | null | undefined;
};

/**
 * Reads what is paid and to whom. A part that has errors is undefined. The amount of a payout that takes all is the least
 * that it may be.
 */
function readPayment(
  body: unknown,
  { quotes, chains }: OrderPorts,
  readAddress: ReadAddress,
  takesAll = false,
): ReadPayment {
  const given = { asset: fields.asset(body), amount: fields.amount(body), address: readAddress(body) };
  const named = given.asset.ok ? given.asset.value.asset : undefined;
  const latest = named && quotes.latest(named);
  const on = named && chains.get(assets[named].chain);
  const asset = named !== undefined && isPayable(named, on, latest?.active) ? named : undefined;

  const errors: FieldErrors = {};
  if (asset === undefined) {
    const payable = assetSymbols.filter((symbol) =>
      isPayable(symbol, chains.get(assets[symbol].chain), quotes.latest(symbol)?.active),
    );
    const offered = formPart({ asset: rules.oneOf(payable).required })(body);
    if (!offered.ok) Object.assign(errors, offered.refusal);
  }

  let amount: Units | undefined;
  if (takesAll) amount = leastOf(latest);
  else if (!given.amount.ok) Object.assign(errors, withHintOfMax(body, given.amount.refusal));
  else if (asset !== undefined) {
    const dust = units(latest?.dust ?? '0');
    const within = amountWithin(given.amount.value.amount, assets[asset].decimals, dust);
    if (within.ok) amount = within.value;
    else errors['amount'] = within.refusal;
  } else if (given.amount.value.amount.startsWith('-')) {
    // A negative amount is too small for any asset.
    errors['amount'] = [messages.atLeast('amount', '0')];
  }

  let address: string | null | undefined;
  if (!given.address.ok) Object.assign(errors, given.address.refusal);
  else if (given.address.value.address === null) address = null;
  else if (asset !== undefined && on !== undefined) {
    address = checkRecipient(on, given.address.value.address);
    if (address === undefined) errors['address'] = [wrongAddress(on, given.address.value.address)];
  }

  return { errors, asset, amount, address };
}

const MEANS_ALL = /^\s*(?:all|everything|full|total|balance|max|maximum)\s*$/i;

/** Other words for `max` name it. */
function withHintOfMax(body: unknown, refusal: FieldErrors): FieldErrors {
  const given = fieldsOf(body)?.['amount'];
  if (typeof given !== 'string' || !MEANS_ALL.test(given)) return refusal;
  const hint = 'Give "max" to pay out all that the balance has after the network fee.';
  return Object.fromEntries(
    Object.entries(refusal).map(([field, all]) => [field, all.map(({ message }) => ({ message, hint }))]),
  );
}

type GivenNotes = { external_id: string | null; metadata: Metadata };
const notesOf = ({ external_id: externalId, metadata }: GivenNotes): PayoutNotes => ({
  externalId,
  metadata,
});

const returnHints = {
  claim: 'Give "claim": true without an address to get a claim link.',
  expires_in_days: 'It is for claim links: give "claim": true without an address to get one.',
};
const noRecipient: FieldProblem = {
  message: 'The address field is required.',
  hint: 'Give the address of your customer, or "claim": true for a link on which your customer gives it.',
};

/**
 * Reads the recipient of a refund. Throws Unavailable when the body is valid and the fee, or the chain, is not known now.
 */
export function readReturnOrder(
  body: unknown,
  { asset, amount }: Pick<UnresolvedDeposit, 'asset' | 'amount'>,
  { quotes, chains }: OrderPorts,
): Result<PayoutOrder, FieldErrors> {
  const on = chains.get(assets[asset].chain);
  const latest = quotes.latest(asset);
  if (on?.assets.includes(asset) !== true) throw new Unavailable(`${asset} cannot be paid out`);

  const errors: FieldErrors = {};
  const address = readRecipient(body, on);
  if (!address.ok) {
    const isGiven = (fieldsOf(body)?.['address'] ?? null) !== null;
    Object.assign(errors, isGiven ? address.refusal : { address: [noRecipient] });
  }
  if (latest !== undefined) Object.assign(errors, lessThanFee({ asset, amount }, latest));
  const notes = readNotes(body);
  if (!notes.ok) Object.assign(errors, notes.refusal);
  const problems = { ...errors, ...unknownFields(body, ['address', 'amount', ...noteNames], returnHints) };
  if (Object.keys(problems).length > 0 || !address.ok || !notes.ok) return refuse(problems);

  const terms = termsOf(freshQuote({ quotes }, asset));
  return ok({
    asset,
    amount: units(amount - terms.networkFee),
    takesAll: false,
    address: address.value,
    ...terms,
    ...notesOf(notes.value),
  });
}

/** Reads the field `address`: the canonical address of a recipient, or which rule it breaks. */
export function readRecipient(body: unknown, on: PayableChain): Result<string, FieldErrors> {
  const given = fields.address(body);
  if (!given.ok) return given;
  const address = checkRecipient(on, given.value.address);
  return address === undefined ? refuse({ address: [wrongAddress(on, given.value.address)] }) : ok(address);
}

/** The quote of this moment. Throws Unavailable when there is no fresh one. */
export function freshQuote({ quotes }: Pick<OrderPorts, 'quotes'>, asset: AssetSymbol): Quote {
  const quote = quotes.fresh(asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh quote of ${asset}`);
  return quote;
}

export const termsOf = (quote: Quote) => ({
  networkFee: units(quote.network_fee),
  minConfirmations: quote.min_confirmations,
  usdRate: quote.usd_rate,
});

/** `active` is unknown until the first quote arrives, and counts as true until then. */
const isPayable = (asset: AssetSymbol, on: PayableChain | undefined, active = true): boolean =>
  active && on?.assets.includes(asset) === true;

/**
 * Addresses without a key: a payment is burnt, or refused and costs the fee. On EVM chains also precompiled contracts.
 */
const burners = {
  bitcoin: undefined,
  evm: /^0x0{36}/,
  solana: /^1{32}$/,
} as const satisfies Record<ChainKind, RegExp | undefined>;

/**
 * The canonical address of a recipient; undefined when it is not valid on that chain and network. The hot wallet is not
 * valid: it would pay itself at the merchant's cost, and on Solana no balance would prove the payment.
 */
export function checkRecipient(on: PayableChain, text: string): string | undefined {
  const canonical = on.checkAddress(text);
  if (canonical === undefined || burners[on.kind]?.test(canonical) === true) return undefined;
  return canonical === on.checkAddress(on.sender.hotAddress) ? undefined : canonical;
}

const wrongAddress = (on: PayableChain, text: string): FieldProblem =>
  messages.invalid('address', addressHint(on.kind, text, on.sender.hotAddress));

const leastOf = (quote: Quote | undefined): Units => leastAmount(units(quote?.dust ?? '0'));
