import { createHmac } from 'node:crypto';
import type { QuittanceEvent } from '@quittance/client';
import { merchantClient, merchantConfig } from './merchant-login.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

export type ListenOptions = { forwardTo?: string; after?: number; events?: string[]; json?: boolean };

/** As long as a webhook's endpoint has. */
const ANSWER_WITHIN_MS = 15_000;

/** The same for each run with the same token, so that the server under development is set up once. */
export const listenSecret = (token: string): string =>
  `whsec_${createHmac('sha256', token).update('quittance listen').digest('base64')}`;

/** Follows the events of the account, and posts each to a local server as its webhook. Goes on until the process is told to end. */
export async function listen(around: Surroundings, options: ListenOptions): Promise<void> {
  const { forwardTo, after, events, json = false } = options;
  if (forwardTo !== undefined && !/^https?:/.test(URL.canParse(forwardTo) ? forwardTo : ''))
    throw new CommandError(`--forward-to is ${forwardTo}: give a URL such as http://localhost:3000/hook.`);
  const secret = listenSecret(merchantConfig(around).token);
  const client = merchantClient(around);
  if (forwardTo !== undefined)
    around.out(
      json ? `${JSON.stringify({ secret })}\n` : say`The secret of these webhooks is ${secret}\n`.text,
    );
  const signal = around.stopping?.();
  const kinds = events as QuittanceEvent['event'][] | undefined;
  for await (const event of client.events.follow({ after, kinds, signal })) {
    const answer = forwardTo === undefined ? undefined : await post(forwardTo, event, secret, signal);
    const { id, event: type, sequence } = event;
    if (json) around.out(`${JSON.stringify({ event, ...(answer && { answer }) })}\n`);
    else
      around.out(
        say`${sequence}  ${type}  ${id}${answer === undefined ? '' : `  → ${answer.status}`}\n`.text,
      );
    // A page may have more events.
    if (signal?.aborted) return;
  }
}

type Answer = { status: number | string; ms: number };

async function post(
  url: string,
  event: QuittanceEvent,
  secret: string,
  stop: AbortSignal | undefined,
): Promise<Answer> {
  const body = JSON.stringify(event);
  const begun = performance.now();
  const ms = () => Math.round(performance.now() - begun);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...signed(event.id, body, secret) },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), ...(stop ? [stop] : [])]),
    });
    await response.arrayBuffer();
    return { status: response.status, ms: ms() };
  } catch (error) {
    if (stop?.aborted) return { status: 'no answer before the end', ms: ms() };
    const { message, cause } = error as Error;
    return { status: cause instanceof Error ? cause.message : message, ms: ms() };
  }
}

/** The headers of Standard Webhooks. */
function signed(id: string, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
