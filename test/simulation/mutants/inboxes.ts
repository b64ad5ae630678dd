import type { Mutant } from '../mutant.ts';
import { rewrite } from './statements.ts';

const everyMessage = [
  'on conflict do nothing',
  'on conflict (event_id) do update set received_at = now()',
] as const;

/** Besides the ledger's (`no-inbox`): services that process every message they are handed. */
export const inboxMutants: readonly Mutant[] = [
  {
    name: 'no-inbox-in-invoices',
    seedsMax: 6_000,
    what: 'invoices takes in every message that it is handed, and announces anew what is credited',
    shows: /is told invoice\.\w+ 2 times/,
    apply(wiring) {
      rewrite(wiring, 'invoices.inbox_insert', everyMessage);
      rewrite(wiring, 'invoices.deposits_credited', [
        /^/,
        `with anew as (
           update invoices set reported_events = '{invoice.created}' where id in (
             select invoice_id from deposits where id = any($1::text[]) and credited_at is not null))
         `,
      ]);
    },
  },
  {
    name: 'no-inbox-in-webhooks',
    what: 'webhooks records every message that it is handed',
    shows: /webhooks has a dead letter/,
    apply: (wiring) => rewrite(wiring, 'webhooks.inbox_insert', everyMessage),
  },
  {
    name: 'no-inbox-in-payouts',
    what: 'payouts takes in every message that it is handed, and writes its deposit down anew',
    shows: /payouts has a dead letter: deposit\.settled/,
    apply(wiring) {
      rewrite(wiring, 'payouts.inbox_insert', everyMessage);
      rewrite(wiring, 'payouts.unswept_deposits_insert', ['on conflict (deposit_id) do nothing', '']);
    },
  },
];
