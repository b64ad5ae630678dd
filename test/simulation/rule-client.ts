import { RETRY_AFTER_MS } from '@quittance/payouts/domain/automatic';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { ACCOUNTS } from './accounts.ts';
import { type CancelAnswer, cancelOnce } from './cancel-client.ts';
import type { Environment } from './environment.ts';
import { callRoute, jsonCall } from './http-call.ts';
import type { PayoutListeners } from './payout-client.ts';
import { until } from './unresolved-client.ts';

const TRIES_MAX = 3;
const ROUNDS_MAX = 3;
const PUT = 'PUT /api/automatic-payouts/:asset';
const DELETE = 'DELETE /api/automatic-payouts/:asset';

/** One address that automatic payouts of a balance had, and what was answered. */
export type RuleAddress = {
  address: string;
  /** When its merchant had the answer that it is stored; undefined when an attempt was not heard: it may be stored later. */
  storedAt: number | undefined;
  /** The payouts to it when its merchant had the answer that another one is in its place, or none. */
  madeBefore: ReadonlySet<string> | undefined;
  cancelled: { id: string; answers: CancelAnswer[] } | undefined;
};

/** A merchant's automatic payouts of one balance. No other merchant here changes them. */
export type Rule = { account: AccountId; asset: AssetSymbol; addresses: RuleAddress[] };

type Steps = {
  rules: Rule[];
  newRecipient: () => string;
  listeners: Pick<PayoutListeners, 'onPayout'>;
  /** A rule is due. */
  onRule: () => void;
};

/** A merchant lets a balance be paid out by itself, and changes, deletes or cancels that while it runs. */
export async function runRuleClient(environment: Environment, steps: Steps): Promise<void> {
  const { chance, chain } = environment;
  const { rules } = steps;
  const rule: Rule = {
    account: chance.oneOf(ACCOUNTS),
    asset: chain.assets[0] as AssetSymbol,
    addresses: [],
  };
  rules.push(rule);
  await put(environment, rule, steps);
  for (let round = chance.between(1, ROUNDS_MAX); round > 0; round--) {
    await aWhile(environment, rule);
    const roll = chance.below(100);
    if (roll < 40) await put(environment, rule, steps);
    else if (roll < 50) await remove(environment, rule);
    else await cancelNewest(environment, rule, steps);
    steps.onRule();
  }
}

/** Often until a run has begun, which is in the middle of its steps then. */
async function aWhile(environment: Environment, { account }: Rule): Promise<void> {
  const { chance, scheduler, outside, database } = environment;
  if (chance.percent(30)) return await scheduler.sleep(outside, chance.below(8_000));
  const sql = `select from automatic_payouts where account_id = $1 and next_run_at = last_run_at + $2 * interval '1 ms'`;
  await until(environment, () => database.run('payouts', sql, [account, RETRY_AFTER_MS], false).length > 0);
}

async function put(environment: Environment, rule: Rule, { newRecipient, onRule }: Steps): Promise<void> {
  const { scheduler, outside, chance, chain } = environment;
  const next: RuleAddress = {
    address: newRecipient(),
    ...{ storedAt: undefined, madeBefore: undefined, cancelled: undefined },
  };
  const former = [...rule.addresses];
  rule.addresses.push(next);
  const { decimals } = assets[rule.asset];
  const threshold = formatUnits(units(chain.unit(rule.asset) / 10n), decimals);
  const body = { address: next.address, schedule: 'threshold', threshold };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const status = await change(environment, PUT, rule, body);
    environment.tell(outside, `who lets ${rule.asset} be paid to ${next.address} hears ${status}`);
    onRule();
    if (status === 200) {
      end(environment, former);
      if (tries === 0) next.storedAt = scheduler.now;
      return;
    }
    await scheduler.sleep(outside, chance.below(4_000));
  }
}

async function remove(environment: Environment, rule: Rule): Promise<void> {
  const { outside } = environment;
  const former = [...rule.addresses];
  const status = await change(environment, DELETE, rule, {});
  environment.tell(outside, `who deletes the automatic payouts of ${rule.asset} hears ${status}`);
  if (status === 200) end(environment, former);
}

/** What was heard to be stored is not stored once more. */
function end({ database }: Environment, addresses: readonly RuleAddress[]): void {
  for (const one of addresses) {
    if (one.storedAt === undefined || one.madeBefore !== undefined) continue;
    const made = database.run(
      'payouts',
      'select id::text as id from payouts where address = $1',
      [one.address],
      false,
    );
    one.madeBefore = new Set(made.map(({ id }) => id as string));
  }
}

async function change(
  environment: Environment,
  path: string,
  { account, asset }: Rule,
  body: object,
): Promise<number | undefined> {
  const call = { ...jsonCall(body), account, requestId: 'req_rule', params: { asset } };
  const answer = await callRoute(environment, 'payouts', path, call);
  if (answer !== undefined && answer.status !== 200 && answer.status !== 404)
    environment.defects.push(`${path} is answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer?.status;
}

/** The newest payout of a rule, when its merchant finds one in the list. */
async function cancelNewest(environment: Environment, rule: Rule, { listeners }: Steps): Promise<void> {
  const { database, scheduler, outside, chance } = environment;
  const newest = () =>
    database.run(
      'payouts',
      `select id::text as id, address from payouts
       where automatic and account_id = $1 and status not in ('requested', 'refused', 'voided')
       order by created_at desc, id desc limit 1`,
      [rule.account],
      false,
    )[0];
  await until(environment, () => newest() !== undefined);
  const found = newest();
  const of = rule.addresses.find(({ address }) => address === found?.['address']);
  if (of === undefined || of.cancelled !== undefined) return;
  const id = found?.['id'] as string;
  of.cancelled = { id, answers: [] };
  const { account } = rule;
  const order = { account, recipient: of.address };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await cancelOnce(environment, order, id, listeners.onPayout);
    of.cancelled.answers.push(answer);
    environment.tell(outside, `who cancels the automatic payout ${id} hears: ${answer}`);
    if (answer === 'cancelled' || answer === 'too_late') return;
    await scheduler.sleep(outside, chance.below(4_000));
  }
}
