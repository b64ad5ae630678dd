import type { Quittance } from '@quittance/client';
import { assertNever } from '@quittance/shared/result';
import { cancelInvoice, createInvoice } from './merchant-commands.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { payInSandbox } from './sandbox-payer.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** `invoice.paid` in a sandbox alone. */
export const triggered = ['webhook.test', 'invoice.created', 'invoice.expired', 'invoice.paid'] as const;

export type TriggerOptions = { endpoint?: string; asset?: string; idempotencyKey?: string };

const DOLLARS = '25';

/** Makes an event happen: webhook.test at an endpoint, or what an invoice of a sandbox goes through. */
export async function trigger(
  around: Surroundings,
  client: Quittance,
  event: (typeof triggered)[number],
  { endpoint, asset = 'ETH', idempotencyKey }: TriggerOptions,
): Promise<SaidOutcome> {
  const create = () => createInvoice(client, DOLLARS, { asset, ...(idempotencyKey && { idempotencyKey }) });
  switch (event) {
    case 'webhook.test':
      return await testEndpoints(client, endpoint);
    case 'invoice.created':
      return await create();
    case 'invoice.expired': {
      const { json } = await create();
      return await cancelInvoice(client, (json as { id: string }).id);
    }
    case 'invoice.paid': {
      const { json } = await create();
      return await payInSandbox(around, (json as { id: string }).id, {});
    }
    default:
      return assertNever(event);
  }
}

async function testEndpoints(client: Quittance, endpoint: string | undefined): Promise<SaidOutcome> {
  const ids: string[] = endpoint === undefined ? [] : [endpoint];
  if (endpoint === undefined)
    for await (const { id, enabled } of client.webhooks.list()) if (enabled) ids.push(id);
  if (ids.length === 0)
    throw new CommandError(
      'There is no endpoint that is enabled: POST /api/webhooks creates one. `quittance listen` needs none: try invoice.created with it.',
    );
  const sent: { endpoint: string; delivery_id: string }[] = [];
  for (const id of ids)
    sent.push({ endpoint: id, delivery_id: (await client.webhooks.test(id)).delivery_id });
  return {
    json: sent,
    text: say`${sent.map((one) => say`webhook.test is sent to ${one.endpoint}: ${one.delivery_id}\n`)}`,
  };
}
