import { assets } from '@quittance/shared/assets';
import { sleepBy } from '@quittance/shared/clock';
import { contextOf, Unavailable } from '@quittance/shared/http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { formatUnits, units } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, form, messages, rules } from '@quittance/shared/validation';
import type { Request, Response } from 'express';
import {
  ADDRESS_CHARACTERS_MAX,
  checkRecipient,
  type OrderPorts,
  type PayoutOrder,
  quotedTerms,
} from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { findUnresolved, type UnresolvedDeposit } from '../store/unswept-deposits.ts';
import { payOnce } from './payouts.ts';

/** Pauses between reads of a deposit whose event has not arrived yet. After about three seconds it counts as unknown. */
const ARRIVES_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** How many requests may wait at once, because requests for unknown deposits must not delay others. */
const WAITING_MAX = 8;

/** How many requests of this replica wait for a deposit's event. */
type WaitingRequests = { count: number };

/** Refunds an unresolved deposit: a payout of its whole amount less the network fee. */
export async function returnDeposit(
  ports: Ports,
  waiting: WaitingRequests,
  req: Request,
  res: Response,
): Promise<Answer> {
  const depositId = String(req.params['id']);
  const { identity, rawBody, body } = contextOf(res);
  // Any other text names no deposit, and Postgres refuses some texts.
  const isId = /^\w{1,64}$/.test(depositId);
  const deposit = isId ? await arrivedUnresolved(ports, waiting, depositId) : undefined;
  if (deposit === undefined) return answers.noModel('Deposit');
  if (deposit.account !== identity.account) return answers.unauthorized;
  // The body does not name the deposit, so the same key for another deposit is another request.
  const asked = Buffer.concat([Buffer.from(`return ${depositId}\n`), rawBody]);
  return payOnce(ports, req, res, asked, depositId, () =>
    // After the key: a repeated request gets its first answer, also when the deposit was reversed since.
    deposit.isReversed ? answers.alreadyResolved('reversed') : readReturnOrder(body, deposit, ports),
  );
}

/** Merchants can see a deposit as soon as the ledger has booked it. Its event may arrive here a moment later. */
async function arrivedUnresolved(
  { db, clock }: Ports,
  waiting: WaitingRequests,
  depositId: string,
): Promise<UnresolvedDeposit | undefined> {
  const known = await findUnresolved(db, depositId);
  if (known !== undefined || waiting.count >= WAITING_MAX) return known;
  waiting.count += 1;
  try {
    for (const ms of ARRIVES_AFTER_MS) {
      await sleepBy(clock, ms);
      const found = await findUnresolved(db, depositId);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    waiting.count -= 1;
  }
}

const fields = form({ address: rules.text(ADDRESS_CHARACTERS_MAX).required });

/**
 * Reads the recipient of a refund. Throws Unavailable when the body is valid and the fee, or the chain, is not known now.
 */
function readReturnOrder(
  body: unknown,
  { asset, amount }: UnresolvedDeposit,
  { quotes, chains }: OrderPorts,
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
    // The rest after the fee must not be dust.
    if (amount < least) errors['amount'] = [messages.atLeast('amount', formatUnits(least, decimals))];
  }
  if (Object.keys(errors).length > 0 || address === undefined) return refuse(errors);

  const terms = quotedTerms(quotes, asset);
  return ok({ asset, amount: units(amount - terms.networkFee), address, ...terms });
}
