import { addressHint } from '@quittance/chains/address-hint';
import { showAddress } from '@quittance/chains/registry';
import { type AssetSymbol, assets, reducedAsset } from '@quittance/shared/assets';
import type { PayloadOf } from '@quittance/shared/events';
import { form } from '@quittance/shared/form';
import { formatUnits, type Units, units } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, messages, rules } from '@quittance/shared/validation';
import { amountWithin } from './amount-within.ts';
import { schedules, shownError } from './domain/automatic.ts';
import { ADDRESS_CHARACTERS_MAX, checkRecipient, type OrderPorts } from './payout-order.ts';
import type { AutomaticPayout, NewAutomaticPayout } from './store/automatic-payouts.ts';
import { idOnTheWire } from './views.ts';

/** What a merchant gives of a rule. */
type GivenRule = Pick<NewAutomaticPayout, 'address' | 'schedule' | 'threshold' | 'enabled'>;

export const readForm = form({
  address: rules.text(ADDRESS_CHARACTERS_MAX).required,
  schedule: rules.oneOf(schedules).required,
  threshold: rules.number().optional,
  enabled: rules.boolean().or(true),
});

/** Reads the rule of an asset. Limits and addresses are checked when all fields can be read. */
export function readAutomaticPayout(
  body: unknown,
  asset: AssetSymbol,
  { quotes, chains }: OrderPorts,
): Result<GivenRule, FieldErrors> {
  const given = readForm(body);
  if (!given.ok) return given;
  const { schedule, enabled } = given.value;
  const { chain, decimals } = assets[asset];
  const on = chains.get(chain);
  const latest = quotes.latest(asset);
  if (on?.assets.includes(asset) !== true || latest?.active === false) {
    return refuse({ asset: [messages.invalid('asset', `${asset} cannot be paid out here.`)] });
  }
  const errors: FieldErrors = {};
  const address = checkRecipient(on, given.value.address);
  if (address === undefined) {
    const hint = addressHint(on.kind, given.value.address, on.sender.hotAddress);
    errors['address'] = [messages.invalid('address', hint)];
  }
  let threshold: Units | null = null;
  if (given.value.threshold !== null) {
    const within = amountWithin(given.value.threshold, decimals, units(latest?.dust ?? '0'), 'threshold');
    if (within.ok) threshold = within.value;
    else errors['threshold'] = within.refusal;
  } else if (schedule === 'threshold') {
    errors['threshold'] = [{ message: 'The threshold field is required.' }];
  }
  if (address === undefined || Object.keys(errors).length > 0) return refuse(errors);
  return ok({ address, schedule, threshold, enabled });
}

/** A rule as the API shows it. */
export function automaticPayoutView(rule: AutomaticPayout) {
  const { decimals, chain } = assets[rule.asset];
  return {
    type: 'automatic_payout' as const,
    asset: reducedAsset(rule.asset),
    address: showAddress(chain, rule.address),
    schedule: rule.schedule,
    threshold: rule.threshold === null ? null : formatUnits(rule.threshold, decimals),
    enabled: rule.enabled,
    next_run_at: rule.enabled ? rule.nextRunAt.toISOString() : null,
    last_run_at: rule.lastRunAt?.toISOString() ?? null,
    last_payout_id: rule.lastPayoutId === null ? null : idOnTheWire(rule.lastPayoutId),
    last_error: shownError(rule),
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}

/** A rule in the events for webhooks. It has no id, and its runs are ordered by their times. */
export const automaticPayoutEventView = (rule: AutomaticPayout): PayloadOf<'automatic_payout.failed'> => ({
  account_id: rule.account,
  resource_id: `${rule.account} ${rule.asset}`,
  version: rule.lastRunAt?.getTime() ?? 0,
  data: automaticPayoutView(rule),
});
