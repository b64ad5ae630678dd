import { commands, type ReplyOf } from '@quittance/shared/commands';
import { connect } from 'nats';
import { answersOf } from './scripted-ledger.ts';

export type Described = NonNullable<ReplyOf<'invoice.describe'>['invoice']>;

/** Invoices as a test has them. While it is silent, `invoice.describe` has no valid answer. */
export async function scriptedInvoices(url: string) {
  const nats = await connect({ servers: url });
  const scripted = {
    invoices: new Map<string, Described>(),
    /** By account; others have set nothing. */
    shops: new Map<string, ReplyOf<'shop.describe'>>(),
    isSilent: false,
    close: () => nats.close(),
  };
  const on = answersOf(nats, 'invoices');
  on('invoice.describe', async (message) => {
    const { invoice_id } = commands['invoice.describe'].request.parse(message.json());
    // No answer that can be read is no answer, without the wait for one.
    const described = JSON.stringify({ invoice: scripted.invoices.get(invoice_id) ?? null });
    message.respond(scripted.isSilent ? 'null' : described);
  });
  on('shop.describe', async (message) => {
    const { account_id } = commands['shop.describe'].request.parse(message.json());
    const shop = scripted.shops.get(account_id) ?? { name: null, logo: null, language: null };
    message.respond(scripted.isSilent ? 'null' : JSON.stringify(shop));
  });
  await nats.flush();
  return scripted;
}
