import type { Quittance } from '@quittance/client';
import { createInvoice, getInvoice } from './merchant-commands.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { payInSandbox } from './sandbox-payer.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

export type TriggerOptions = { endpoint?: string; asset?: string };

const DOLLARS = '25';

/** Makes an event happen: webhook.test at an endpoint, or what an invoice of a sandbox goes through. */
export async function trigger(
  around: Surroundings,
  client: Quittance,
  event: string,
  { endpoint, asset = 'ETH' }: TriggerOptions,
): Promise<SaidOutcome> {
  switch (event) {
    case 'webhook.test':
      return await testEndpoints(client, endpoint);
    case 'invoice.created':
      return await createInvoice(client, DOLLARS, { asset });
    case 'invoice.expired': {
      const { json } = await createInvoice(client, DOLLARS, { asset });
      await client.invoices.cancel((json as { id: string }).id);
      return await getInvoice(client, (json as { id: string }).id);
    }
    case 'invoice.paid': {
      const { json } = await createInvoice(client, DOLLARS, { asset });
      return await payInSandbox(around, (json as { id: string }).id, {});
    }
    default:
      throw new CommandError(
        `${event} cannot be triggered: webhook.test, invoice.created, invoice.expired and, in a sandbox, invoice.paid can.`,
      );
  }
}

async function testEndpoints(client: Quittance, endpoint: string | undefined): Promise<SaidOutcome> {
  const ids: string[] = endpoint === undefined ? [] : [endpoint];
  if (endpoint === undefined)
    for await (const { id, enabled } of client.webhooks.list()) if (enabled) ids.push(id);
  if (ids.length === 0)
    throw new CommandError('There is no endpoint that is enabled: POST /api/webhooks creates one.');
  const sent: { endpoint: string; delivery_id: string }[] = [];
  for (const id of ids)
    sent.push({ endpoint: id, delivery_id: (await client.webhooks.test(id)).delivery_id });
  return {
    json: sent,
    text: say`${sent.map((one) => say`webhook.test is sent to ${one.endpoint}: ${one.delivery_id}\n`)}`,
  };
}
