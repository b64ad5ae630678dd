import { commandSubject, commands, type ReplyOf } from '@quittance/shared/commands';
import { connect, type Msg } from 'nats';

export type Described = NonNullable<ReplyOf<'invoice.describe'>['invoice']>;

/** Invoices as a test has them. While it is silent, `invoice.describe` has no valid answer. */
export type ScriptedInvoices = {
  invoices: Map<string, Described>;
  /** By account; others have set nothing. */
  shops: Map<string, ReplyOf<'shop.describe'>>;
  isSilent: boolean;
  close(): Promise<void>;
};

export async function scriptedInvoices(url: string): Promise<ScriptedInvoices> {
  const nats = await connect({ servers: url });
  const scripted: ScriptedInvoices = {
    invoices: new Map(),
    shops: new Map(),
    isSilent: false,
    close: () => nats.close(),
  };
  nats.subscribe(commandSubject('invoice.describe'), {
    queue: 'invoices',
    callback: (error: Error | null, message: Msg) => {
      if (error !== null) throw error;
      const { invoice_id } = commands['invoice.describe'].request.parse(message.json());
      // No answer that can be read is no answer, without the wait for one.
      if (scripted.isSilent) return void message.respond('null');
      message.respond(JSON.stringify({ invoice: scripted.invoices.get(invoice_id) ?? null }));
    },
  });
  nats.subscribe(commandSubject('shop.describe'), {
    queue: 'invoices',
    callback: (error: Error | null, message: Msg) => {
      if (error !== null) throw error;
      const { account_id } = commands['shop.describe'].request.parse(message.json());
      if (scripted.isSilent) return void message.respond('null');
      message.respond(
        JSON.stringify(scripted.shops.get(account_id) ?? { name: null, logo: null, language: null }),
      );
    },
  });
  await nats.flush();
  return scripted;
}
