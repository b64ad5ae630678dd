import type { AddAddress, PutPayoutPolicy, Quittance } from '@quittance/client';
import { fields, firstOf, rows } from './merchant-commands.ts';
import type { SaidOutcome } from './outcome.ts';
import { type Said, say } from './output.ts';
import { table } from './table.ts';

/* The payout policy of an account, asked of the API with a token. */

type Policy = Awaited<ReturnType<Quittance['payoutPolicy']['retrieve']>>;
type Rules = Pick<Policy, 'allow_list' | 'delay_hours' | 'limits'>;

function rulesText({ allow_list, delay_hours, limits }: Rules): Said {
  const head = table(
    ['field', 'value'],
    [
      ['allow-list', allow_list ? 'on' : 'off'],
      ['delay', `${delay_hours} hours`],
    ],
  );
  const body = limits.map(({ asset, per_payout, per_24h, approval_above, approvals }) =>
    [asset, per_payout, per_24h, approval_above, approvals].map((value) => String(value ?? 'none')),
  );
  const ofLimits = table(['asset', 'per payout', 'per 24 hours', 'approval above', 'approvals'], body);
  return limits.length === 0 ? head : say`${head}\n${ofLimits}`;
}

function policyOutcome(policy: Policy): SaidOutcome {
  const { next } = policy;
  const now = rulesText(policy);
  if (next === null) return { json: policy, text: now };
  return { json: policy, text: say`${now}\nFrom ${next.takes_effect_at} on:\n\n${rulesText(next)}` };
}

export const showPolicy = async (quittance: Quittance): Promise<SaidOutcome> =>
  policyOutcome(await quittance.payoutPolicy.retrieve());

/** Changes what was given last, which takes effect later when it allows more. */
async function change(quittance: Quittance, edit: (rules: Rules) => object): Promise<SaidOutcome> {
  const policy = await quittance.payoutPolicy.retrieve();
  const { allow_list, delay_hours, limits } = policy.next ?? policy;
  // The API checks all of it, and says what is right. A first policy has the delay that the API gives it.
  const before = { allow_list, limits, ...(policy.updated_at !== null && { delay_hours }) };
  const wanted = { ...before, ...edit({ allow_list, delay_hours, limits }) };
  return policyOutcome(await quittance.payoutPolicy.put(wanted as PutPayoutPolicy));
}

export type PolicyOptions = { allowList?: 'on' | 'off'; delayHours?: string };

export const setPolicy = (quittance: Quittance, { allowList, delayHours }: PolicyOptions) =>
  change(quittance, () => ({
    ...(allowList && { allow_list: allowList === 'on' }),
    ...(delayHours && { delay_hours: delayHours }),
  }));

export type LimitOptions = {
  perPayout?: string;
  per24h?: string;
  approvalAbove?: string;
  approvals?: string;
};

export function limitAsset(
  quittance: Quittance,
  asset: string,
  { perPayout, per24h, approvalAbove, approvals }: LimitOptions,
): Promise<SaidOutcome> {
  const own = {
    ...(perPayout && { per_payout: perPayout }),
    ...(per24h && { per_24h: per24h }),
    ...(approvalAbove && { approval_above: approvalAbove }),
    ...(approvals && { approvals }),
  };
  return change(quittance, ({ limits }) => ({
    limits: [
      ...limits.filter((one) => one.asset !== asset),
      ...(Object.keys(own).length > 0 ? [{ asset, ...own }] : []),
    ],
  }));
}

type Address = Awaited<ReturnType<Quittance['addressBook']['add']>>;

export async function listAddresses(quittance: Quittance, limit: number): Promise<SaidOutcome> {
  const found = await firstOf(quittance.addressBook.list({ perPage: Math.min(limit, 100) }), limit);
  return rows(found, ['id', 'label', 'chain', 'address', 'usable from'], (one: Address) => [
    ...[one.id, one.label, one.chain, one.address, one.usable_at],
  ]);
}

export async function addAddress(
  quittance: Quittance,
  chain: string,
  address: string,
  label: string,
): Promise<SaidOutcome> {
  const added = await quittance.addressBook.add({ chain, address, label } as AddAddress);
  return fields(added, {
    ...{ id: added.id, label: added.label, chain: added.chain, address: added.address },
    usable_from: added.usable_at,
  });
}

export async function deleteAddress(quittance: Quittance, id: string): Promise<SaidOutcome> {
  await quittance.addressBook.delete(id);
  return { json: { id }, text: say`The address is deleted.\n` };
}
