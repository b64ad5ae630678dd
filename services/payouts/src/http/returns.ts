import { assets } from '@quittance/shared/assets';
import { sleepBy } from '@quittance/shared/clock';
import { contextOf, Unavailable } from '@quittance/shared/http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { formatUnits, units } from '@quittance/shared/money';
import type { QuoteBoard } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, form, messages, rules } from '@quittance/shared/validation';
import type { Request, Response } from 'express';
import {
  ADDRESS_CHARACTERS_MAX,
  checkRecipient,
  type PayableChains,
  type PayoutOrder,
} from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { findUnresolved, type UnresolvedDeposit } from '../store/unswept-deposits.ts';
import { payOnce } from './payouts.ts';

/** Pauses between looks for a deposit whose event has not arrived yet: about three seconds, then it is unknown. */
const HEARD_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** Requests that may wait so at once: requests for unknown deposits must not hold up the others. */
const LISTENING_MAX = 8;

/** How many requests of this server wait for a deposit's event. */
type Listening = { count: number };

/** Unresolved money goes back to a payer: a payout like any other, of all that came in less the network fee. */
export async function returnDeposit(
  ports: Ports,
  listening: Listening,
  req: Request,
  res: Response,
): Promise<Answer> {
  const depositId = String(req.params['id']);
  const { identity, rawBody, body } = contextOf(res);
  // Anything else names no deposit, and may not even be a text of Postgres.
  const deposit = /^\w{1,64}$/.test(depositId)
    ? await heardUnresolved(ports, listening, depositId)
    : undefined;
  if (deposit === undefined) return answers.noModel('Deposit');
  if (deposit.account !== identity.account) return answers.unauthorized;
  // The deposit is named by the path alone: the same key for another one is another request.
  const asked = Buffer.concat([Buffer.from(`return ${depositId}\n`), rawBody]);
  return payOnce(ports, req, res, asked, depositId, () =>
    // After the key: what an earlier request was answered stays, whatever the chain has done since.
    deposit.isReversed ? answers.alreadyResolved('reversed') : readReturnOrder(body, deposit, ports),
  );
}

/**
 * The ledger lists a deposit, and webhooks tell of it, as soon as it is booked there; this service may hear of it a
 * moment later.
 */
async function heardUnresolved(
  { db, clock }: Ports,
  listening: Listening,
  depositId: string,
): Promise<UnresolvedDeposit | undefined> {
  const known = await findUnresolved(db, depositId);
  if (known !== undefined || listening.count >= LISTENING_MAX) return known;
  listening.count += 1;
  try {
    for (const ms of HEARD_AFTER_MS) {
      await sleepBy(clock, ms);
      const found = await findUnresolved(db, depositId);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    listening.count -= 1;
  }
}

const fields = form({ address: rules.text(ADDRESS_CHARACTERS_MAX).required });

/**
 * Reads to whom unresolved money goes back: all of it, less the network fee. Throws Unavailable when the body is right
 * but the fee, or the chain, is not known now.
 */
function readReturnOrder(
  body: unknown,
  { asset, amount }: UnresolvedDeposit,
  { quotes, chains }: { quotes: Pick<QuoteBoard, 'latest' | 'fresh'>; chains: PayableChains },
): Result<PayoutOrder, FieldErrors> {
  const { chain, decimals } = assets[asset];
  const on = chains.get(chain);
  const latest = quotes.latest(asset);
  if (on?.assets.includes(asset) !== true) throw new Unavailable(`${asset} cannot be paid out`);

  const errors: FieldErrors = {};
  const given = fields(body);
  const address = given.ok ? checkRecipient(on, given.value.address) : undefined;
  if (!given.ok) Object.assign(errors, given.refusal);
  else if (address === undefined) errors['address'] = [messages.invalid('address')];
  if (latest !== undefined) {
    const dust = units(latest.dust);
    const least = units(units(latest.network_fee) + (dust > 0n ? dust : 1n));
    // What is left after the fee must be worth sending.
    if (amount < least) errors['amount'] = [messages.atLeast('amount', formatUnits(least, decimals))];
  }
  if (Object.keys(errors).length > 0 || address === undefined) return refuse(errors);

  const quote = quotes.fresh(asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh quote of ${asset}`);
  const networkFee = units(quote.network_fee);
  return ok({
    asset,
    amount: units(amount - networkFee),
    address,
    networkFee,
    minConfirmations: quote.min_confirmations,
  });
}
