import type { Answer } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { z } from 'zod';
import { ACCOUNTS } from './accounts.ts';
import { cancelSometimes } from './cancel-client.ts';
import type { Environment } from './environment.ts';
import { callOverHttp } from './http-call.ts';
import { bodyOf, isReplayed, newOrder, type Order, type PayoutListeners } from './payout-client.ts';

const TRIES_MAX = 3;
const MODES = ['each', 'all_or_nothing'] as const;
/** Longer than the requests of a batch are left undecided. */
const VOIDED_AFTER_MS = 31_000;
const PATH = 'POST /api/payout-batches';

/** What a merchant wishes to pay at once. Each of its orders also stands among those that are paid by themselves. */
export type Batch = {
  account: AccountId;
  mode: (typeof MODES)[number];
  /** By the number of the line. */
  lines: Map<number, Order>;
  /** A line that nobody can pay. */
  badLine: number | undefined;
  key: string | undefined;
};

const created = z.object({
  data: z.object({
    lines: z.array(
      z.object({ line: z.number(), status: z.string(), payout_id: z.number().transform(String).optional() }),
    ),
  }),
});

/** A client that sends a batch, and again when it was not answered. */
export async function runBatchClient(
  environment: Environment,
  { orders, batches }: { orders: Order[]; batches: Batch[] },
  newRecipient: () => string,
  { onPayout, onUndecided }: PayoutListeners,
): Promise<void> {
  const { chance, scheduler, outside } = environment;
  await scheduler.sleep(outside, chance.percent(40) ? 0 : chance.below(5_000));
  const account = chance.oneOf(ACCOUNTS);
  const lines = new Map<number, Order>();
  const size = chance.oneOf([2, 2, 3]);
  const badLine = chance.percent(15) ? chance.between(1, size) : undefined;
  for (let line = 1; line <= size; line++)
    if (line !== badLine) lines.set(line, newOrder(environment, newRecipient(), account));
  const batch: Batch = { account, mode: chance.oneOf(MODES), lines, badLine, key: undefined };
  orders.push(...lines.values());
  batches.push(batch);
  if (chance.percent(60)) batch.key = `batch ${batches.length}`;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await postBatch(environment, batch, onPayout);
    note(environment, batch, answer);
    environment.tell(outside, `the client of a batch hears ${answer?.status ?? 'nothing'}`);
    if (answer?.status === 201) {
      const [order] = lines.values();
      if (order !== undefined) await cancelSometimes(environment, order, onPayout);
    }
    if (answer !== undefined && [201, 400, 422].includes(answer.status)) return;
    onUndecided(VOIDED_AFTER_MS);
    if (batch.key === undefined) return;
    await scheduler.sleep(outside, chance.below(8_000));
  }
}

/** POST /api/payout-batches as the service answers it. Undefined when the client hears nothing, or a 500. */
async function postBatch(
  environment: Environment,
  { account, mode, lines, badLine, key }: Batch,
  onPayout?: () => void,
  more = 0n,
): Promise<Answer | undefined> {
  const payouts = [...lines].map(([line, order]) => ({
    line,
    body: bodyOf({ ...order, amount: order.amount + more }),
  }));
  const [first] = payouts;
  if (badLine !== undefined && first !== undefined)
    payouts.push({ line: badLine, body: { ...first.body, address: 'nowhere' } });
  payouts.sort((a, b) => a.line - b.line);
  const body = { mode, payouts: payouts.map((one) => one.body) };
  const heard = await callOverHttp(environment, 'payouts', PATH, async ({ replica }) => {
    const route = replica.routes?.get(PATH);
    if (route === undefined) throw new Error('payouts takes batches');
    const rawBody = Buffer.from(JSON.stringify(body));
    const answer = await route({ account, requestId: 'req_batch', key, rawBody, body });
    if (answer.status === 201 && !isReplayed(answer)) onPayout?.();
    return answer;
  });
  return heard === undefined || 'error' in heard ? undefined : heard.value;
}

/** Writes down what each line's client was told. */
function note(environment: Environment, { mode, lines, badLine }: Batch, answer: Answer | undefined): void {
  const all = (said: Order['answers'][number]) => {
    for (const order of lines.values()) order.answers.push(said);
  };
  switch (answer?.status) {
    case undefined:
    case 409:
      all('unheard');
      return;
    case 503:
      all('unavailable');
      return;
    case 400:
      all('refused');
      return;
    case 201:
      for (const { line, status, payout_id: id } of created.parse(answer.body).data.lines) {
        const order = lines.get(line);
        if (line === badLine ? status !== 'invalid' : !['created', 'refused', 'unavailable'].includes(status))
          environment.defects.push(`a line of a batch is answered with ${status}`);
        if (status === 'created' && id !== undefined) order?.payoutIds.add(id);
        order?.answers.push(
          status === 'created' ? 'accepted' : status === 'refused' ? 'refused' : 'unavailable',
        );
      }
      return;
    default:
      if (answer?.status !== 422 || mode !== 'all_or_nothing' || badLine === undefined)
        environment.defects.push(`${PATH} is answered with ${answer?.status}`);
      all('refused');
  }
}

type Made = { id: string; status: string; address: string };

/** The payouts of a batch that stand. */
export function madeOf<P extends Made>({ lines }: Batch, payouts: readonly P[]): P[] {
  const recipients = new Set([...lines.values()].map(({ recipient }) => recipient));
  return payouts.filter(({ address }) => recipients.has(address));
}

/**
 * Repeats each batch with a key when all is decided. The answer must name the payouts that exist, and another body with the
 * same key must be refused. Where nothing came of a batch its key is free, so repeating it would pay.
 * @returns what is answered instead
 */
export async function repeatBatches(environment: Environment, batches: readonly Batch[]): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batches.filter(({ key }) => key !== undefined)) {
    const sql = 'select id, status, address from payouts where batch_id is not null';
    const made = madeOf(batch, environment.database.run('payouts', sql, [], false) as Made[]);
    const decided = made.filter(({ status }) => status !== 'voided');
    const isEach = batch.mode === 'each';
    const hasAnswer = decided.length > 0 || (isEach && batch.badLine !== undefined && made.length > 0);
    if (!hasAnswer) continue;
    const paid = decided.filter(({ status }) => status !== 'refused').map(({ id }) => id);
    const expected = isEach || paid.length > 0 ? `201 of ${paid.sort().join()}` : '400';
    const again = saidOf(await postBatch(environment, batch));
    if (again !== expected) found.push(`a repeated batch is answered with ${again}, not ${expected}`);
    const other = await postBatch(environment, batch, undefined, 1n);
    if (other?.status !== 422)
      found.push(`another batch has the same key and is answered with ${other?.status}`);
  }
  return found;
}

function saidOf(answer: Answer | undefined): string {
  if (answer?.status !== 201) return String(answer?.status);
  const { lines } = created.parse(answer.body).data;
  return `201 of ${lines
    .flatMap(({ payout_id: id }) => id ?? [])
    .sort()
    .join()}`;
}
