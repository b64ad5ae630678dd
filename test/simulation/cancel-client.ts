import type { AccountId } from '@quittance/shared/ids';
import type { Environment } from './environment.ts';
import { callOverHttp } from './http-call.ts';

/** `requested`: the chain worker has not decided. `too_late`: it is signed or has ended. `unheard`: a 500, or nothing. */
export type CancelAnswer = 'cancelled' | 'requested' | 'too_late' | 'unheard';

const CANCELS_PERCENT = 60;
const TURNS_MAX = 60;
const TWICE_PERCENT = 30;
const TRIES_MAX = 3;

/** What a merchant was told of. */
export type Cancellable = {
  account: AccountId;
  recipient: string;
  payoutIds: ReadonlySet<string>;
  cancels: CancelAnswer[];
};

/** A merchant cancels a payout that he was told of, now and then in two tabs at once, until he knows what became of it. */
export async function cancelSometimes(
  environment: Environment,
  order: Cancellable,
  onRequested: () => void,
): Promise<void> {
  const { chance, scheduler, outside } = environment;
  const [id] = order.payoutIds;
  const cancels = environment.hasExtras || environment.hasLateFunds;
  if (!cancels || id === undefined || !chance.percent(CANCELS_PERCENT)) return;
  // Often while the chain worker is in the middle of a round.
  if (chance.percent(30)) await scheduler.sleep(outside, chance.below(4_000));
  for (let turns = chance.below(TURNS_MAX); turns > 0; turns--) await scheduler.turn(outside);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const tabs = chance.percent(TWICE_PERCENT) ? 2 : 1;
    const once = () => cancelOnce(environment, order, id, onRequested);
    const answers = await Promise.all(Array.from({ length: tabs }, once));
    order.cancels.push(...answers);
    environment.tell(outside, `the client of ${order.recipient} cancels, and hears: ${answers.join(', ')}`);
    if (answers.every((answer) => answer === 'cancelled' || answer === 'too_late')) return;
    await scheduler.sleep(outside, chance.below(8_000));
  }
}

export async function cancelOnce(
  environment: Environment,
  { account, recipient }: Pick<Cancellable, 'account' | 'recipient'>,
  id: string,
  onRequested: () => void,
): Promise<CancelAnswer> {
  const path = 'POST /api/payouts/:id/cancel';
  const heard = await callOverHttp(environment, 'payouts', path, async ({ replica }) => {
    const route = replica.routes?.get(path);
    if (route === undefined) throw new Error('payouts cancels payouts');
    onRequested();
    const requestId = `req_cancel_${recipient}`;
    return await route({ account, requestId, params: { id }, rawBody: Buffer.from('{}'), body: {} });
  });
  if (heard === undefined || 'error' in heard) return 'unheard';
  const { status } = heard.value;
  switch (status) {
    case 200:
      return 'cancelled';
    case 202:
      return 'requested';
    case 400:
      return 'too_late';
    default:
      environment.defects.push(`a cancel is answered with ${status}: ${recipient}`);
      return 'unheard';
  }
}
