import { createInvoice } from '@quittance/invoices/operations/create-invoice';
import { findInvoice } from '@quittance/invoices/operations/find-invoice';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { ExactJson } from '@quittance/shared/exact-json';
import type { Answer } from '@quittance/shared/http-answers';
import { type IdempotencyKey, isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import type { AccountId, InvoiceId } from '@quittance/shared/ids';
import { z } from 'zod';
import { ACCOUNTS } from './accounts.ts';
import type { Environment } from './environment.ts';
import { callOverHttp, callRoute } from './http-call.ts';

const TRIES_MAX = 3;
const MINUTE_MS = 60_000;
/** Of those who choose, so many do it when the time is nearly over. */
const LATE_PERCENT = 30;
const CHOOSE = 'POST /pay/:id/choose';
const CREATE_LINK = 'POST /api/payment-links';
const FOLLOW = 'POST /link/:id';
/** What a page may answer: the next page, why this is not possible now, or that nobody knows whether it was carried out. */
const PAGE_STATUSES: readonly number[] = [200, 303, 409, 422, 429, 500, 503];

/** What a payer was asked to pay. */
export type Shown = { invoice: string; asset: string; address: string; due: bigint };

/** Invoices of one price, as their payers were shown them: the one of a choice, or those of a link. */
export type Sale = { kind: 'choice' | 'link'; id: string; dollars: number; shown: Shown[] };

const created = z.object({ data: z.object({ id: z.string() }) });

/** A customer who chooses the asset of an invoice, in one or two tabs, or some who pay by one link. */
export async function runChoosing(environment: Environment, sales: Sale[]): Promise<void> {
  const { chance, scheduler, outside } = environment;
  await scheduler.sleep(outside, chance.below(1_000));
  if (chance.percent(50)) await runChoice(environment, sales);
  else await runLink(environment, sales);
}

async function runChoice(environment: Environment, sales: Sale[]): Promise<void> {
  const { chance, scheduler, outside, chain } = environment;
  const account = chance.oneOf(ACCOUNTS);
  const dollars = chance.between(1, 3) * 10;
  const minutes = chance.oneOf([2, 3]);
  const id = await createUnchosen(environment, {
    account,
    dollars,
    minutes,
    name: newName(environment),
  });
  if (id === undefined) return;
  const sale: Sale = { kind: 'choice', id, dollars, shown: [] };
  sales.push(sale);
  const isLate = chance.percent(LATE_PERCENT);
  // About when the time is over, or when a choice may be refused because nobody could pay any more.
  const from = isLate ? chance.oneOf([minutes, minutes - 1]) * MINUTE_MS - 3_000 : 0;
  await scheduler.sleep(outside, from + chance.below(4_000));
  const tab = async () => {
    const asset = chance.oneOf(chain.assets);
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await postForm(environment, CHOOSE, id, { asset });
      const shown = answer?.status === 303 ? await shownTo(environment, id) : undefined;
      environment.tell(outside, `who chooses ${asset} for ${id} hears ${answer?.status}`);
      if (shown !== undefined) return void sale.shown.push(shown);
      await scheduler.sleep(outside, chance.below(4_000));
    }
  };
  await Promise.all(Array.from({ length: chance.oneOf([1, 2, 2]) }, tab));
  const last = sale.shown.at(-1);
  if (last === undefined) return;
  await scheduler.sleep(outside, chance.below(5_000));
  payAsShown(environment, last);
}

/** The key of a request; no other one has it. */
const newName = ({ chance }: Environment): string => `sale ${chance.below(1_000_000_000)}`;

/** A merchant's invoice without an asset, asked for again when nothing was heard. */
async function createUnchosen(
  environment: Environment,
  { account, dollars, minutes, name }: { account: AccountId; dollars: number; minutes: number; name: string },
): Promise<string | undefined> {
  const { chance, scheduler, outside, chain } = environment;
  const body = { assets: [...chain.assets], amount: `${dollars}`, expires_in: `${minutes}` } as ExactJson;
  const key = keyOf(account, name, body);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const heard = await callOverHttp(environment, 'invoices', 'POST /api/invoices', async ({ replica }) => {
      if (replica.invoices === undefined) throw new Error('invoices makes invoices');
      return await createInvoice(replica.invoices, { account, body, key, requestId: name });
    });
    if (heard !== undefined && 'value' in heard) {
      if (!heard.value.ok) throw new Error(`an invoice was refused: ${JSON.stringify(heard.value.refusal)}`);
      return created.parse(heard.value.value.body).data.id;
    }
    await scheduler.sleep(outside, chance.below(4_000));
  }
  return undefined;
}

function keyOf(account: AccountId, name: string, body: ExactJson): IdempotencyKey {
  const key = readKey(name, account, Buffer.from(JSON.stringify(body)));
  if (key === undefined || !isIdempotencyKey(key)) throw new Error(`${name} is a key`);
  return key;
}

/** A link of a merchant, and some who follow it at once. */
async function runLink(environment: Environment, sales: Sale[]): Promise<void> {
  const { chance, scheduler, outside, chain } = environment;
  const account = chance.oneOf(ACCOUNTS);
  const dollars = chance.between(1, 3) * 10;
  const asset = chain.assets[0] as AssetSymbol;
  const id = await createLink(environment, account, {
    asset,
    amount: `${dollars}`,
    description: newName(environment),
    expires_in: '5',
  });
  if (id === undefined) return;
  const sale: Sale = { kind: 'link', id, dollars, shown: [] };
  sales.push(sale);
  const payer = async () => {
    await scheduler.sleep(outside, chance.percent(60) ? 0 : chance.below(4_000));
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await postForm(environment, FOLLOW, id, {});
      environment.tell(outside, `who follows ${id} hears ${answer?.status}`);
      const page = answer?.status === 303 ? answer.headers?.['Location'] : undefined;
      const shown = page === undefined ? undefined : await shownTo(environment, page.split('/').at(-1) ?? '');
      if (shown !== undefined) {
        sale.shown.push(shown);
        await scheduler.sleep(outside, chance.below(5_000));
        return payAsShown(environment, shown);
      }
      await scheduler.sleep(outside, chance.below(4_000));
    }
  };
  await Promise.all(Array.from({ length: chance.oneOf([2, 2, 3]) }, payer));
}

async function createLink(
  environment: Environment,
  account: AccountId,
  body: Record<string, string>,
): Promise<string | undefined> {
  const { chance, scheduler, outside } = environment;
  const key = body['description'];
  const rawBody = Buffer.from(JSON.stringify(body));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const call = { account, requestId: 'req_link', key, rawBody, body };
    const answer = await callRoute(environment, 'invoices', CREATE_LINK, call);
    if (answer?.status === 201) return created.parse(answer.body).data.id;
    if (answer !== undefined && answer.status < 500)
      environment.defects.push(`${CREATE_LINK} is answered with ${answer.status}`);
    await scheduler.sleep(outside, chance.below(4_000));
  }
  return undefined;
}

/** Sends a form of a page. */
async function postForm(
  environment: Environment,
  path: string,
  id: string,
  form: Record<string, string>,
): Promise<Answer | undefined> {
  const rawBody = Buffer.from(new URLSearchParams(form).toString());
  const call = { requestId: 'req_form', params: { id }, rawBody, body: undefined };
  const answer = await callRoute(environment, 'invoices', path, call);
  if (answer !== undefined && !PAGE_STATUSES.includes(answer.status))
    environment.defects.push(`${path} is answered with ${answer.status}`);
  return answer;
}

/** What the page of an invoice asks for; undefined while it has no asset, and when no page comes. */
async function shownTo(environment: Environment, invoice: string): Promise<Shown | undefined> {
  const heard = await callOverHttp(environment, 'invoices', 'GET /pay/:id', async ({ replica }) => {
    if (replica.invoices === undefined) throw new Error('invoices shows invoices');
    return await findInvoice(replica.invoices, invoice as InvoiceId);
  });
  if (heard === undefined || 'error' in heard) return undefined;
  if (heard.value === undefined)
    environment.defects.push(`there is no invoice ${invoice} whose page was named`);
  if (heard.value === undefined || !('invoice' in heard.value)) return undefined;
  const { asset, address, amountDue } = heard.value.invoice;
  return { invoice, asset, address, due: amountDue };
}

function payAsShown(environment: Environment, { asset: symbol, address, due }: Shown): void {
  const { chain, outside } = environment;
  const asset = chain.assets.find((one) => one === symbol);
  if (asset === undefined)
    return void environment.defects.push(`a page asks for ${symbol}, which is not here`);
  chain.pay({ asset, to: address, amount: due });
  environment.tell(outside, `a payer pays ${due} ${asset} to ${address}`);
}
