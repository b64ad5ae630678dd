import type { Answer } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { z } from 'zod';
import { type CancelAnswer, cancelSometimes } from './cancel-client.ts';
import type { Environment } from './environment.ts';
import { callRoute, jsonCall } from './http-call.ts';
import type { RouteCall } from './http-route.ts';
import { isReplayed, type PayoutListeners } from './payout-client.ts';

const TRIES_MAX = 3;
const VOIDED_AFTER_MS = 12_000;
/** Of the links, so many are near their end when they are given away. */
const OLD_LINKS_PERCENT = 35;
/** Of the links, so many end in the middle of what those with the link do. */
const ENDED_LINKS_PERCENT = 30;
const ENDED_AFTER_TURNS_MAX = 30;
const CREATE = 'POST /api/invoices/:id/refunds';
export const RETURN = 'POST /api/unresolved/:id/return';
const CANCEL = 'POST /api/refunds/:id/cancel';
const CLAIM = 'POST /claim/:token';

/** A merchant's wish to pay back a part of an invoice or of unresolved funds, and all that he was answered. */
export type Refund = {
  account: AccountId;
  of: { invoice: string } | { deposit: string };
  /** Stored with the refund: no other wish has it. */
  externalId: string;
  key: string | undefined;
  answers: ('accepted' | 'refused' | 'unavailable' | 'unheard')[];
  /** The addresses that the merchant or those with the link gave. */
  recipients: string[];
  /** The recipient of a refund without a link. */
  recipient: string | undefined;
  payoutIds: Set<string>;
  /** What was answered when its payout was cancelled, and when its link was. */
  cancels: CancelAnswer[];
  linkIsCancelled: boolean;
};

type PaidInvoice = { id: string; account: AccountId; dollars: bigint };

const created = z.object({
  data: z.object({ id: z.string(), payout_id: z.number().nullable(), claim_url: z.string().nullable() }),
});
const shown = z.object({ data: z.object({ status: z.string() }) });

export type Steps = {
  refunds: Refund[];
  newRecipient: () => string;
  listeners: PayoutListeners;
};

/** A merchant refunds a paid invoice: by one request, or by two at once that are too much together. */
export async function runRefundClient(environment: Environment, steps: Steps): Promise<void> {
  const { chance, scheduler, outside } = environment;
  await scheduler.sleep(outside, chance.percent(40) ? 0 : chance.below(5_000));
  const invoices = paidInvoices(environment);
  if (invoices.length === 0) return;
  const invoice = chance.oneOf(invoices);
  const isMuch = chance.percent(55);
  const wishes = Array.from({ length: isMuch ? 2 : 1 }, () => {
    const share = isMuch ? 60n : chance.oneOf([10n, 20n, 30n]);
    const amount = chance.percent(20) ? chance.oneOf(['all', 'surplus']) : (invoice.dollars * share) / 100n;
    return refundOnce(environment, steps, invoice, `${amount}`);
  });
  await Promise.all(wishes);
}

function paidInvoices({ database, chain }: Environment): PaidInvoice[] {
  const sql = `select id, account_id, asset, amount_due from invoices where status = 'paid' order by created_at, id`;
  return database.run('invoices', sql, [], false).map((row) => {
    const asset = chain.assets.find((symbol) => symbol === row['asset']);
    const unit = asset === undefined ? 1n : chain.unit(asset);
    const dollars = (BigInt(row['amount_due'] as string) * 10n) / unit;
    return { id: row['id'] as string, account: row['account_id'] as AccountId, dollars };
  });
}

async function refundOnce(
  environment: Environment,
  steps: Steps,
  invoice: PaidInvoice,
  amount: string,
): Promise<void> {
  const { chance } = environment;
  const recipient = chance.percent(35) ? steps.newRecipient() : undefined;
  await askForRefund(
    environment,
    steps,
    { account: invoice.account, of: { invoice: invoice.id } },
    recipient,
    {
      amount,
      ...(recipient !== undefined && { address: recipient }),
    },
  );
}

/** Asks for a refund until it is decided, and lets its payer claim it, or its merchant cancel it. */
export async function askForRefund(
  environment: Environment,
  { refunds, newRecipient, listeners }: Steps,
  of: Pick<Refund, 'account' | 'of'>,
  recipient: string | undefined,
  body: object,
): Promise<void> {
  const { chance, scheduler, outside } = environment;
  const refund: Refund = {
    ...of,
    externalId: `refund ${refunds.length + 1}`,
    key: undefined,
    answers: [],
    recipients: recipient === undefined ? [] : [recipient],
    recipient,
    payoutIds: new Set(),
    cancels: [],
    linkIsCancelled: false,
  };
  refunds.push(refund);
  if (chance.percent(60)) refund.key = refund.externalId;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await postRefund(environment, refund, body, listeners);
    const said = saidOf(environment, answer);
    refund.answers.push(said);
    environment.tell(outside, `the client of ${refund.externalId} hears: ${said}`);
    if (said === 'accepted')
      return await afterwards(environment, refund, answer, { newRecipient, listeners });
    if (said === 'refused') return;
    listeners.onUndecided(VOIDED_AFTER_MS);
    if (refund.key === undefined) return;
    await scheduler.sleep(outside, chance.below(8_000));
  }
}

const postRefund = (
  environment: Environment,
  { account, of, externalId, key }: Refund,
  body: object,
  { onPayout }: PayoutListeners,
): Promise<Answer | undefined> =>
  callPayouts(environment, 'invoice' in of ? CREATE : RETURN, onPayout, {
    ...jsonCall({ ...body, external_id: externalId }),
    account,
    requestId: `req ${externalId}`,
    params: { id: 'invoice' in of ? of.invoice : of.deposit },
    key,
  });

/** What payouts answers. A request that it has carried out is told to `onPayout`. */
export const callPayouts = (
  environment: Environment,
  path: string,
  onPayout: () => void,
  call: RouteCall,
): Promise<Answer | undefined> =>
  callRoute(environment, 'payouts', path, call, (answer) => {
    if (answer.status < 400 && !isReplayed(answer)) onPayout();
  });

/** What an answer to a request of a refund or a payout means. */
export function saidOf({ defects }: Environment, answer: Answer | undefined): Refund['answers'][number] {
  switch (answer?.status) {
    case undefined:
      return 'unheard';
    case 409:
      return 'code' in answer.body && answer.body.code === 'already_resolved' ? 'refused' : 'unheard';
    case 201:
      return 'accepted';
    case 503:
      return 'unavailable';
    case 400:
    case 422:
      return 'refused';
    default:
      defects.push(`a refund is answered with ${answer?.status}`);
      return 'refused';
  }
}

/** What becomes of a refund that its merchant was told of. */
async function afterwards(
  environment: Environment,
  refund: Refund,
  answer: Answer | undefined,
  steps: Pick<Steps, 'newRecipient' | 'listeners'>,
): Promise<void> {
  const { data } = created.parse(answer?.body);
  if (data.payout_id !== null) refund.payoutIds.add(String(data.payout_id));
  if (refund.recipient !== undefined)
    return await cancelSometimes(
      environment,
      { ...refund, recipient: refund.recipient },
      steps.listeners.onPayout,
    );
  // A refund to an address has no link.
  const token = data.claim_url?.split('/').at(-1);
  if (token !== undefined) await useLink(environment, refund, { id: data.id, token }, steps);
}

/** Those with the link open it in several tabs, again when they hear nothing, while the merchant may cancel it. */
async function useLink(
  environment: Environment,
  refund: Refund,
  { id, token }: { id: string; token: string },
  { newRecipient, listeners }: Pick<Steps, 'newRecipient' | 'listeners'>,
): Promise<void> {
  const { chance, scheduler, outside } = environment;
  if (chance.percent(OLD_LINKS_PERCENT)) endSoon(environment, id);
  const tabs = Array.from({ length: chance.oneOf([0, 1, 2, 2, 2]) }, async () => {
    const address = newRecipient();
    refund.recipients.push(address);
    for (let tries = 0; tries < 2; tries++) {
      await scheduler.sleep(outside, chance.percent(75) ? 0 : chance.below(5_000));
      const heard = await callPayouts(environment, CLAIM, listeners.onPayout, {
        requestId: `req_claim_${address}`,
        params: { token },
        rawBody: Buffer.from(new URLSearchParams({ address }).toString()),
        body: undefined,
      });
      environment.tell(outside, `a claim of ${refund.externalId} by ${address} hears ${heard?.status}`);
      if (heard !== undefined && ![303, 409, 422, 503].includes(heard.status))
        environment.defects.push(`${CLAIM} is answered with ${heard.status}`);
      if (heard?.status === 303) return;
      listeners.onUndecided(VOIDED_AFTER_MS);
    }
  });
  const cancelling = async () => {
    if (!chance.percent(20)) return;
    await scheduler.sleep(outside, chance.below(3_000));
    const call = { ...jsonCall({}), account: refund.account, requestId: 'req_cancel', params: { id } };
    const heard = await callPayouts(environment, CANCEL, () => {}, call);
    if (heard?.status !== 200) return;
    // A claim that came to nothing in between makes it claimable again.
    if (shown.parse(heard.body).data.status === 'cancelled') refund.linkIsCancelled = true;
  };
  const ending = chance.percent(ENDED_LINKS_PERCENT) ? [endWhileUsed(environment, id)] : [];
  await Promise.all([...tabs, cancelling(), ...ending]);
}

/** The time of a link is over while those with the link use it. */
async function endWhileUsed(environment: Environment, id: string): Promise<void> {
  const { chance, scheduler, outside, database } = environment;
  for (let turns = chance.below(ENDED_AFTER_TURNS_MAX); turns > 0; turns--) await scheduler.turn(outside);
  while (environment.open !== undefined) await scheduler.turn(outside);
  const endedAt = new Date(scheduler.now - 1).toISOString();
  const sql = `update refunds set expires_at = $2 where id = $1 and state = 'claimable' and payout_id is null`;
  database.run('payouts', sql, [id, endedAt], false);
}

/** A link that was made long ago: nobody waits for days here. */
function endSoon({ chance, database, open, scheduler }: Environment, id: string): void {
  // What is written while somebody's transaction is open would be part of it.
  if (open !== undefined) return;
  const endsAt = new Date(scheduler.now + chance.below(4_000)).toISOString();
  database.run('payouts', 'update refunds set expires_at = $2 where id = $1', [id, endsAt], false);
}
