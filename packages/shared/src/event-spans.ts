import { assets } from './assets.ts';
import { type CommandName, commands, type ReplyOf, type RequestOf } from './commands.ts';
import { type EventKind, type EventOf, events, type PayloadOf } from './events.ts';
import { ROOT, type Span, type Traced } from './traces.ts';

/* The spans of events and commands between services. */

const invoice = (id: string): Traced => ({ is: 'invoice', id });
const payout = (id: string): Traced => ({ is: 'payout', id });
const ofInvoice = ({ resource_id: id }: { resource_id: string }) => invoice(id);
const ofPayout = ({ resource_id: id }: { resource_id: string }) => payout(id);
const ofDeposit = ({ invoice_id: id }: { invoice_id: string }) => invoice(id);
const ofHold = ({ payout_id: id }: { payout_id: string }) => payout(id);
const ofNone = () => undefined;

/** Whose trace an event belongs to; undefined of what is about neither one invoice nor one payout. */
const tracedBy: { readonly [K in EventKind]: (payload: PayloadOf<K>) => Traced | undefined } = {
  'invoice.created': ofInvoice,
  'invoice.asset_chosen': ofInvoice,
  'invoice.partially_paid': ofInvoice,
  'invoice.confirmed': ofInvoice,
  'invoice.paid': ofInvoice,
  'invoice.expired': ofInvoice,
  'invoice.underpaid': ofInvoice,
  'invoice.overpaid': ofInvoice,
  'invoice.late_payment': ofInvoice,
  'invoice.unresolved_payment': ofInvoice,
  'invoice.payment_reversed': ofInvoice,
  'deposit.settled': ofDeposit,
  'deposit.reversed': ofDeposit,
  'credit.recorded': ofDeposit,
  'refund.updated': ofDeposit,
  'refund.expired': ofNone,
  'refund.unfunded': ofNone,
  'automatic_payout.failed': ofNone,
  'payout.created': ofPayout,
  'payout.completed': ofPayout,
  'payout.failed': ofPayout,
  'hold.settle': ofHold,
  'hold.release': ofHold,
  'hold.void': ofHold,
  'network.spent': ofNone,
  'asset.halted': ofNone,
  'asset.resumed': ofNone,
};

/** An event of the outbox, or one that has arrived. */
type AnyEvent = { id: string; kind: EventKind; payload: unknown };

const tracedOf = ({ kind, payload }: AnyEvent): Traced | undefined =>
  (tracedBy[kind] as (payload: unknown) => Traced | undefined)(payload);

/** The step that sends an event: what its receivers do follows from it. */
export const sendStep = (event: string): string => `send ${event}`;

const messaging = (operation: 'send' | 'process', { id }: Pick<AnyEvent, 'id'>, destination: string) => ({
  'messaging.system': 'nats',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': destination,
  'messaging.message.id': id,
});

/**
 * The spans of an event that is on NATS now, with the step that it ends. They have the same ids when it is sent again.
 * @param now when NATS had it
 */
export function sentSpans(event: AnyEvent & { created_at: Date }, now: Date): Span[] {
  const of = tracedOf(event);
  if (of === undefined) return [];
  const { id, kind, created_at: start } = event;
  const destination = `evt.${events[kind].from}.*.${kind}`;
  return [
    ...endedSteps(of, event),
    {
      of,
      name: `send ${kind}`,
      kind: 'producer',
      start,
      end: now,
      step: sendStep(id),
      attributes: messaging('send', event, destination),
    },
  ];
}

/** The steps that end when the event is written, and begin long before. */
function endedSteps(of: Traced, event: AnyEvent & { created_at: Date }): Span[] {
  const { kind, created_at: end } = event;
  if (kind === 'invoice.created') return [rootSpan(of, 'invoice created', event)];
  if (kind === 'payout.created') return [rootSpan(of, 'payout requested', event)];
  if (kind !== 'deposit.settled') return [];
  const settled = event.payload as PayloadOf<'deposit.settled'>;
  if (settled.first_seen_at === undefined) return [];
  return [
    {
      of,
      name: 'deposit settled',
      kind: 'internal',
      start: new Date(settled.first_seen_at),
      end,
      step: `settled ${settled.deposit_id}`,
      attributes: {
        'quittance.deposit.id': settled.deposit_id,
        'quittance.deposit.disposition': settled.disposition,
        'quittance.asset': settled.asset,
        'quittance.chain': assets[settled.asset].chain,
        'quittance.block.height': settled.block_height,
      },
    },
  ];
}

/** From the request to the event that tells of it. A payout's request has its hold by then. */
function rootSpan(
  of: Traced,
  name: string,
  { payload, created_at: end }: AnyEvent & { created_at: Date },
): Span {
  const { account_id, data } = payload as PayloadOf<'invoice.created' | 'payout.created'>;
  const {
    created_at: start,
    asset,
    invoice_id: refunded,
  } = data as {
    created_at: string;
    /** Null before a payer has chosen it. */
    asset: { symbol: keyof typeof assets } | null;
    /** Of a payout that refunds an invoice. */
    invoice_id?: string | null;
  };
  return {
    of,
    name,
    kind: 'internal',
    start: new Date(start),
    end,
    step: ROOT,
    attributes: {
      'quittance.account.id': account_id,
      ...(asset === null
        ? {}
        : { 'quittance.asset': asset.symbol, 'quittance.chain': assets[asset.symbol].chain }),
    },
    links: typeof refunded === 'string' ? [invoice(refunded)] : [],
  };
}

/** The spans of events whose effects a service has committed, each with the subject it came by, which names the service. */
export const processedSpans = (
  processed: readonly { subject: string; event: EventOf<EventKind> }[],
  start: Date,
  end: Date,
): Span[] =>
  processed.flatMap(({ subject, event }): Span[] => {
    const of = tracedOf(event);
    if (of === undefined) return [];
    const { id, kind } = event;
    return [
      {
        of,
        name: `process ${kind}`,
        kind: 'consumer',
        start,
        end,
        step: `process ${subject} ${id}`,
        parent: sendStep(id),
        attributes: messaging('process', event, subject),
      },
    ];
  });

/** The span of a command that is about one payout: the others ask, and change nothing. */
export function answeredSpans(
  command: CommandName,
  request: unknown,
  { start, end, reply, error }: { start: Date; end: Date; reply?: unknown; error?: string },
): Span[] {
  if (command !== 'hold.place') return [];
  const { payout_id: id } = request as RequestOf<'hold.place'>;
  const placed = reply as ReplyOf<'hold.place'> | undefined;
  return [
    {
      of: payout(id),
      name: command,
      kind: 'server',
      start,
      end,
      attributes: {
        'rpc.system.name': 'nats',
        'rpc.method': `${commands[command].by}/${command}`,
        ...(placed === undefined ? {} : { 'quittance.hold.outcome': placed.outcome }),
      },
      error,
    },
  ];
}
