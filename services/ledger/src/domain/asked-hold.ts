import { type AssetSymbol, assets, chainKinds } from '@quittance/shared/assets';
import type { AccountId, AssertionId } from '@quittance/shared/ids';
import { parseUnits, type Units } from '@quittance/shared/money';
import { assertNever, ok, type Result, refuse } from '@quittance/shared/result';

/**
 * Payouts asks for a hold at most 25 s after the gateway has admitted the request, and gives up what is not answered. The rest is
 * for clocks that differ. A request that was answered 503 must not be paid long after.
 */
const REQUEST_AGE_MAX_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

/** How much a request asks for; texts are as it has them. */
export type WantedAmount =
  /** Without the network fee. */
  | { is: 'exact'; text: string }
  /** All that the balance has. */
  | { is: 'max' }
  /** A part of a deposit, of which the fee is taken. */
  | { is: 'with_fee'; text: string }
  /** All that is left of a deposit, or at most that. */
  | { is: 'left' }
  /** What the balance has, of a rule that pays from this amount on. */
  | { is: 'at_least'; text: string | null }
  /** A refund of an invoice: payouts knows the rates by which an amount of money becomes one of the asset. */
  | { is: 'refund'; rate: 'then' | 'now' };

/** A payout that a request asks for. */
export type Wanted = {
  /** Null: that of the deposit or the invoice. */
  asset: AssetSymbol | null;
  amount: WantedAmount;
  /** As written; null: the one who opens the claim link gives it. */
  address: string | null;
  deposit: string | null;
  invoice: string | null;
};

/** All payouts that a request asks for: of a batch by their lines, of anything else one as 0. */
export type WantedHolds = {
  use: 'once' | 'link' | 'rule';
  /** How long after the request; null: as long as the rule stands. */
  validDays: number | null;
  lines: ReadonlyMap<number, Wanted>;
};

/** What payouts wants held, and to whom it would be paid. */
export type HoldToProve = {
  account: AccountId;
  asset: AssetSymbol;
  /** The least amount, of one that takes all. */
  amount: Units;
  networkFee: Units;
  takesAll: boolean;
  /** Canonical. */
  destination: string;
  deposit: string | null;
  invoice: string | null;
  /** The line of a batch; 0 elsewhere. */
  item: number;
};

/** A request whose assertion is right, and the payouts that it asks for; undefined when it asks for none. */
export type ReadRequest = { request: GatewayRequest; wants: WantedHolds | undefined };
/** `at`: when the gateway admitted it. */
type GatewayRequest = { id: AssertionId; account: AccountId; at: Date };

/** How often a request may be used: once, for one payout of a claim link that has not failed, or as long as a rule stands. */
export type Use = WantedHolds['use'];

/** What a request shows of a hold. `receivedAtMost`: it is of the invoice's payments, and at most as much as these. */
export type FoundRequest = { assertion: AssertionId; use: Use; receivedAtMost: boolean };

/** Why a hold is not what a request of its account asks for. */
export const holdProblems = [
  'no_request',
  'not_signed',
  'other_account',
  'other_operation',
  'no_such_line',
  'other_asset',
  'other_amount',
  'other_destination',
  'other_deposit',
  'other_invoice',
  'too_old',
  'used_before',
  'fee_too_high',
  'more_than_received',
] as const;
export type HoldProblem = (typeof holdProblems)[number];

/**
 * Whether the request asks for exactly this hold. Its signature and the hash of its body are checked before. What only the
 * ledger's records tell is checked after: whether it was used before, the limit of the fee, and what an invoice has received.
 */
export function checkHold(
  { request, wants: found }: ReadRequest,
  hold: HoldToProve,
  now: Date,
): Result<FoundRequest, HoldProblem> {
  if (request.account !== hold.account) return refuse('other_account');
  if (found === undefined) return refuse('other_operation');
  const wanted = found.lines.get(hold.item);
  if (wanted === undefined) return refuse('no_such_line');
  if (wanted.asset !== null && wanted.asset !== hold.asset) return refuse('other_asset');
  if (wanted.deposit !== hold.deposit) return refuse('other_deposit');
  if (wanted.invoice !== hold.invoice) return refuse('other_invoice');
  if (!isAmount(wanted, hold)) return refuse('other_amount');
  // The one who opens a claim link gives the address.
  if (wanted.address !== null && !isAddress(hold.asset, wanted.address, hold.destination))
    return refuse('other_destination');
  if (!isOfAge(found.validDays, request, now)) return refuse('too_old');
  const receivedAtMost = wanted.amount.is === 'refund' && wanted.amount.rate === 'then';
  return ok({ assertion: request.id, use: found.use, receivedAtMost });
}

function isOfAge(validDays: number | null, { at }: GatewayRequest, now: Date): boolean {
  // A clock that is behind makes no request older.
  const age = now.getTime() - at.getTime();
  return validDays === null || age <= validDays * DAY_MS + REQUEST_AGE_MAX_MS;
}

function isAmount({ amount: wanted }: Wanted, hold: HoldToProve): boolean {
  const { decimals } = assets[hold.asset];
  const equals = (text: string, value: bigint) => {
    const parsed = parseUnits(text, decimals);
    return parsed.ok && parsed.value === value;
  };
  const { amount, networkFee, takesAll } = hold;
  switch (wanted.is) {
    case 'exact':
      return !takesAll && equals(wanted.text, amount);
    case 'max':
      return takesAll;
    case 'with_fee':
      return !takesAll && equals(wanted.text, amount + networkFee);
    case 'at_least': {
      if (wanted.text === null) return true;
      const parsed = parseUnits(wanted.text, decimals);
      return parsed.ok && amount >= parsed.value;
    }
    // The statement that decides knows what is left of the deposit.
    case 'left':
    case 'refund':
      return !takesAll;
    default:
      return assertNever(wanted);
  }
}

/** Whether a canonical address is the one that a merchant has written, in whatever letters. */
function isAddress(asset: AssetSymbol, written: string, canonical: string): boolean {
  if (written === canonical) return true;
  const kind = chainKinds[assets[asset].chain];
  switch (kind) {
    case 'evm':
      return /^0x[0-9a-f]{40}$/.test(canonical) && written.toLowerCase() === canonical;
    // Bech32 may be in capitals. Base58 tells capitals from small letters.
    case 'bitcoin':
      return /^(?:bc|tb|bcrt)1[0-9a-z]+$/.test(canonical) && written.toLowerCase() === canonical;
    case 'solana':
      return false;
    default:
      return assertNever(kind);
  }
}
