import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { fieldsOf } from '@quittance/shared/exact-json';
import { form, formPart, unknownFields } from '@quittance/shared/form';
import { parseUnits, type Units, units } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, rules } from '@quittance/shared/validation';
import { amountWithin } from './amount-within.ts';
import { APPROVALS_MAX, type AssetLimits, type PayoutPolicy } from './domain/policy.ts';

const DELAY_HOURS_MAX = 720;
const DELAY_HOURS = 24;

export const readPolicyFields = form(
  { allow_list: rules.boolean().or(false), delay_hours: rules.integer(0, DELAY_HOURS_MAX).or(DELAY_HOURS) },
  { alsoKnown: ['limits'] },
);
export const readLimitsFields = formPart({
  asset: rules.oneOf(assetSymbols).required,
  per_payout: rules.number().optional,
  per_24h: rules.number().optional,
  approval_above: rules.number().optional,
  approvals: rules.integer(1, APPROVALS_MAX).optional,
});
const limitNames = Object.keys(readLimitsFields.schema.shape);

/** Reads a whole policy. What it does not name has no limit. All errors of all limits are listed: `limits.0.per_payout`. */
export function readPayoutPolicy(body: unknown): Result<PayoutPolicy, FieldErrors> {
  const given = readPolicyFields(body);
  const errors: FieldErrors = given.ok ? {} : { ...given.refusal };
  const listed = fieldsOf(body)?.['limits'] ?? [];
  const limits = new Map<AssetSymbol, AssetLimits>();
  if (!Array.isArray(listed)) errors['limits'] = [notAList];
  else if (listed.length > assetSymbols.length) errors['limits'] = [tooMany];
  else {
    for (const [i, input] of listed.entries()) {
      const read = readLimits(input);
      const problems = read.ok && limits.has(read.value.asset) ? { asset: [namedTwice] } : undefined;
      for (const [field, found] of Object.entries(problems ?? (read.ok ? {} : read.refusal)))
        errors[`limits.${i}.${field}`] = found;
      if (read.ok) limits.set(read.value.asset, read.value.limits);
    }
  }
  if (!given.ok || Object.keys(errors).length > 0) return refuse(errors);
  const { allow_list: allowList, delay_hours: delayHours } = given.value;
  return ok({ allowList, delayHours, limits: Object.fromEntries(limits) });
}

const notAList: FieldProblem = {
  message: 'The limits must be an array.',
  hint: 'Give one object for each asset, such as [{"asset": "ETH", "per_24h": "5"}].',
};
const tooMany: FieldProblem = { message: `The limits must not have more than ${assetSymbols.length} items.` };
const namedTwice: FieldProblem = {
  message: 'The selected asset is invalid.',
  hint: 'Name each asset once, with all of its limits.',
};

function readLimits(input: unknown): Result<{ asset: AssetSymbol; limits: AssetLimits }, FieldErrors> {
  const given = readLimitsFields(input);
  const unknown = unknownFields(input, limitNames);
  if (!given.ok) return refuse({ ...given.refusal, ...unknown });
  const errors: FieldErrors = { ...unknown };
  const { asset, approvals } = given.value;
  const amountOf = (field: 'per_payout' | 'per_24h' | 'approval_above'): Units | null => {
    const text = given.value[field];
    if (text === null) return null;
    const { decimals } = assets[asset];
    const exact = parseUnits(text, decimals);
    if (field === 'approval_above' && exact.ok && exact.value === 0n) return exact.value;
    const within = amountWithin(text, decimals, units(0n), field);
    if (within.ok) return within.value;
    errors[field] = within.refusal;
    return null;
  };
  const above = amountOf('approval_above');
  const limits: AssetLimits = {
    perPayout: amountOf('per_payout'),
    perDay: amountOf('per_24h'),
    approval: above === null ? null : { above, needed: approvals ?? 1 },
  };
  if (approvals !== null && given.value.approval_above === null)
    errors['approval_above'] = [
      {
        message: 'The approval above field is required.',
        hint: 'With approvals. Give 0 to have every payout approved.',
      },
    ];
  return Object.keys(errors).length > 0 ? refuse(errors) : ok({ asset, limits });
}

export const LABEL_CHARACTERS_MAX = 255;
