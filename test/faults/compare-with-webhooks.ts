import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Receiver } from '@quittance/testkit/receiver';

/** Every delivery of an event has the same body, each sequence number belongs to one event, and no event is missing. */
export async function compareWithWebhooks(
  { db }: Pick<Quittance, 'db'>,
  merchant: Merchant,
  receiver: Receiver,
  broken: Set<string>,
): Promise<void> {
  const told = new Map<string, string>();
  const numbers = new Map<number, string>();
  for (const { headers, body } of receiver.received) {
    const id = String(headers['webhook-id']);
    const { sequence, event, data } = JSON.parse(body);
    if (told.has(id) && told.get(id) !== body) broken.add(`event ${id} was told twice and differently`);
    if (numbers.has(sequence) && numbers.get(sequence) !== id)
      broken.add(`two events have number ${sequence}`);
    told.set(id, body);
    numbers.set(sequence, id);
    const end = event === 'invoice.paid' ? 'paid' : event === 'payout.completed' ? 'mined' : undefined;
    if (end === undefined) continue;
    const path = end === 'paid' ? `/api/invoices/${data.id}` : `/api/payouts/${data.id}`;
    const { body: now } = await merchant.get(path);
    if (now.status !== end) broken.add(`a webhook said ${event} of ${data.id}, it is ${now.status}`);
  }
  const delivered = await db.rows<{ id: string }>(
    `select e.id from webhooks.deliveries d
     join webhooks.endpoints n on n.key = d.endpoint_key
     join webhooks.events e on (e.account_id, e.sequence) = (n.account_id, d.sequence)
     where n.account_id = $1 and d.state = 'delivered'`,
    [merchant.id],
  );
  for (const { id } of delivered)
    if (!told.has(id)) broken.add(`event ${id} is called delivered and never came`);
}
