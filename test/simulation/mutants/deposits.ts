import type { Trx } from '@quittance/shared/db';
import type { EventKind, EventOf } from '@quittance/shared/events';
import { type Handlers, handleBatch } from '@quittance/shared/process-messages';
import type { Mutant, Wiring } from '../mutant.ts';
import { afterCommit, rewrite } from './statements.ts';

type Events = readonly EventOf<EventKind>[];

/** The ledger gets to see other events than those that were sent to it. */
function ledgerSees(wiring: Wiring, see: (trx: Trx, events: Events) => Promise<Events>): void {
  wiring.steps.consume = (real, service) =>
    service !== 'ledger'
      ? real
      : (messages, options) => {
          const own = options.handlers as Handlers;
          const handlers: Handlers = {
            '*': async (trx, events, ports) => handleBatch(trx, await see(trx, events), own, ports),
          };
          return real(messages, { ...options, handlers });
        };
}

/** How money comes in. */
export const depositMutants: readonly Mutant[] = [
  {
    name: 'credited-at-first-sight',
    what: 'a deposit is final in its first block',
    // Where its block is dropped, the credit is taken back and does not come again.
    shows: /^credited before it was final|is credited 0 times/,
    kinds: ['evm', 'bitcoin'],
    apply: (wiring) => rewrite(wiring, 'invoices.addresses_ours', ['i.min_confirmations', '1']),
  },
  {
    name: 'no-way-back',
    what: 'deposits of blocks that left the chain stay as they were',
    shows: /is credited and not in the chain/,
    kinds: ['evm', 'bitcoin'],
    apply: (wiring) =>
      rewrite(wiring, 'invoices.deposits_drop', ['where chain = $1', 'where false and chain = $1']),
  },
  {
    name: 'cursor-before-deposits',
    what: 'how far the chain was followed is committed before the deposits that were found there',
    shows: /is credited 0 times|the payment \S+ is not known/,
    apply({ db }) {
      db.invoices = afterCommit('deposits_insert');
    },
  },
  {
    name: 'credited-once-an-invoice',
    what: 'the ledger credits an invoice once, not each of its deposits',
    shows: /is credited 0 times/,
    apply(wiring) {
      ledgerSees(wiring, async (trx, events) => {
        const seen: EventOf<EventKind>[] = [];
        const here = new Set<string>();
        for (const event of events) {
          if (event.kind === 'deposit.settled') {
            const { invoice_id: invoice } = event.payload;
            const credited = await trx.maybe(
              `select 1 from outbox where kind = 'credit.recorded' and payload ->> 'invoice_id' = $1 limit 1`,
              [invoice],
            );
            if (credited !== undefined || here.has(invoice)) continue;
            here.add(invoice);
          }
          seen.push(event);
        }
        return seen;
      });
    },
  },
  {
    name: 'late-is-credited',
    what: 'money that came too late or too little goes to the balance without the merchant’s decision',
    shows: /went to available|came too late are not unresolved/,
    apply(wiring) {
      ledgerSees(wiring, async (_trx, events) =>
        events.map((event) =>
          event.kind === 'deposit.settled'
            ? { ...event, payload: { ...event.payload, disposition: 'credit' } }
            : event,
        ),
      );
    },
  },
  {
    name: 'reversal-ignored',
    what: 'the ledger does not take back what the chain has taken back',
    shows: /^I5|is credited and not in the chain/,
    kinds: ['evm', 'bitcoin'],
    apply: (wiring) =>
      ledgerSees(wiring, async (_trx, events) => events.filter(({ kind }) => kind !== 'deposit.reversed')),
  },
];
