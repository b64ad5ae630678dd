import { z } from 'zod';
import { assetSymbols, chains } from './assets.ts';
import type { EventId } from './ids.ts';

/**
 * Every message that one service sends another without waiting for an answer: who sends it, who must
 * have it, and its shape. Amounts are integers of the asset's smallest unit, as text.
 * Kinds `noun.past` are events; kinds `noun.verb` are commands that must not be lost.
 */
/** An amount in the smallest units of its asset. */
export const unitsText = z.string().regex(/^\d{1,78}$/);
const asset = z.enum(assetSymbols);
/** Halts are numbered: whichever of two messages comes late is known by it. */
const haltNumber = z.string().regex(/^\d{1,18}$/);

/** What a merchant is told: `data` is the resource as the API shows it, at the moment of the event. */
const told = z.object({
  account_id: z.string(),
  /** The invoice's, payout's or refund's id, or the rule's account and asset; and how often it had changed: a receiver can drop an older one. */
  resource_id: z.string(),
  version: z.number().int(),
  data: z.record(z.string(), z.unknown()),
});

const deposit = z.object({
  deposit_id: z.string(),
  account_id: z.string(),
  invoice_id: z.string(),
  asset,
  amount: unitsText,
  /** Our address that was paid, and the index its key is derived at. */
  address: z.string(),
  derivation_index: z.number().int(),
  /** The payment's name on its chain; on Bitcoin the output that can be spent. */
  outpoint: z.string(),
  tx_hash: z.string().nullable(),
  block_height: z.number().int(),
  block_hash: z.string(),
});

/** Why a deposit is credited to no balance. Payments in time that are too little are `underpaid` when their invoice ends. */
export const unresolvedReasons = ['late', 'underpaid', 'wrong_asset', 'too_small'] as const;
export type UnresolvedReason = (typeof unresolvedReasons)[number];

/** The states of a refund that merchants see. */
export const refundStatuses = [
  'claimable',
  'pending',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const;

const payoutOutcome = z.object({
  payout_id: z.string(),
  account_id: z.string(),
  asset,
  amount: unitsText,
  network_fee: unitsText,
  tx_hash: z.string().nullable(),
});

const toWebhooks = { from: 'invoices', to: ['webhooks'], payload: told } as const;

export const events = {
  'invoice.created': toWebhooks,
  'invoice.asset_chosen': toWebhooks,
  'invoice.partially_paid': toWebhooks,
  'invoice.confirmed': toWebhooks,
  'invoice.paid': toWebhooks,
  'invoice.expired': toWebhooks,
  'invoice.underpaid': toWebhooks,
  'invoice.overpaid': toWebhooks,
  'invoice.late_payment': toWebhooks,
  'invoice.unresolved_payment': toWebhooks,
  'invoice.payment_reversed': toWebhooks,

  /** Money on one of our addresses is final. `credit` goes to the balance, `unresolved` waits for a decision. */
  'deposit.settled': {
    from: 'invoices',
    to: ['ledger', 'payouts'],
    payload: deposit.extend({
      disposition: z.enum(['credit', 'unresolved']),
      /** Of what is unresolved. An older release leaves it out. */
      reason: z.enum(unresolvedReasons).optional(),
      /** When the payment was first seen, in the mempool or in a block. An older release leaves it out. */
      first_seen_at: z.iso.datetime().optional(),
    }),
  },
  /** A settled deposit's block was dropped and the payment did not come back. */
  'deposit.reversed': { from: 'invoices', to: ['ledger', 'payouts'], payload: deposit },
  /** The ledger has booked a settled deposit; only now may an invoice be called paid. */
  'credit.recorded': {
    from: 'ledger',
    to: ['invoices'],
    payload: z.object({ deposit_id: z.string(), invoice_id: z.string() }),
  },

  /** A refund of an invoice has been created or has changed. A receiver drops what is older than it knows. */
  'refund.updated': {
    from: 'payouts',
    to: ['invoices'],
    payload: z.object({
      refund_id: z.string(),
      invoice_id: z.string(),
      account_id: z.string(),
      version: z.number().int(),
      status: z.enum(refundStatuses),
      asset,
      /** What is paid, and what it takes of the invoice's `paid_amount`. They differ at another rate than the invoice's. */
      amount: unitsText,
      share: unitsText,
      payout_id: z.string().nullable(),
      created_at: z.iso.datetime(),
    }),
  },

  /** A claim link has ended without a payment. */
  'refund.expired': { from: 'payouts', to: ['webhooks'], payload: told },
  /** A claim has met too low a balance, for the first time since a claim of the refund was covered. */
  'refund.unfunded': { from: 'payouts', to: ['webhooks'], payload: told },
  /** A rule could not be carried out, for another reason than the time before. */
  'automatic_payout.failed': { from: 'payouts', to: ['webhooks'], payload: told },
  'payout.created': { from: 'payouts', to: ['webhooks'], payload: told },
  'payout.completed': { from: 'payouts', to: ['webhooks'], payload: told },
  'payout.failed': { from: 'payouts', to: ['webhooks'], payload: told },
  /** The hold becomes a debit: the amount left, the network fee is ours. */
  'hold.settle': { from: 'payouts', to: ['ledger'], payload: payoutOutcome },
  /** The hold ends without the amount leaving; `fee_kept` when the chain took its fee all the same. */
  'hold.release': {
    from: 'payouts',
    to: ['ledger'],
    payload: payoutOutcome.extend({ fee_kept: z.boolean() }),
  },
  /**
   * A transaction of ours is deep in the chain: what it cost us there, in the chain's native asset. Kept apart from
   * the network fee that the merchant pays.
   */
  'network.spent': {
    from: 'payouts',
    to: ['ledger'],
    payload: z.object({
      chain: z.enum(chains),
      asset,
      amount: unitsText,
      tx_hash: z.string(),
      purpose: z.enum(['payout', 'sweep']),
    }),
  },
  /** The answer to hold.place did not arrive: the hold is undone if it was placed, and refused if it arrives later. */
  'hold.void': {
    from: 'payouts',
    to: ['ledger'],
    payload: z.object({ payout_id: z.string(), account_id: z.string(), asset }),
  },

  /** Payouts of the asset halt until an operator resumes them, because of discrepancies or by an operator's order. */
  'asset.halted': {
    from: 'auditor',
    to: ['payouts'],
    payload: z.object({
      asset,
      halt: haltNumber,
      breaches: z.array(z.object({ invariant: z.string(), what: z.string() })),
    }),
  },
  /** Ends this halt of the asset and all earlier ones. */
  'asset.resumed': { from: 'auditor', to: ['payouts'], payload: z.object({ asset, halt: haltNumber }) },
} as const satisfies Record<string, { from: Service; to: readonly Service[]; payload: z.ZodType }>;

/** The auditor comes last: it is given the right to read tables that the others' migrations make. */
export const services = [
  'gateway',
  'invoices',
  'payouts',
  'ledger',
  'webhooks',
  'signer',
  'auditor',
] as const;
export type Service = (typeof services)[number];

export type EventKind = keyof typeof events;
export type PayloadOf<K extends EventKind> = z.infer<(typeof events)[K]['payload']>;

/** An event before it has an envelope, for `appendToOutbox`. */
export type NewEvent = { [K in EventKind]: { kind: K; payload: PayloadOf<K> } }[EventKind];

/** An event as a consumer receives it. `K` may be a union: the payload follows the kind. */
export type EventOf<K extends EventKind> = {
  [One in K]: {
    id: EventId;
    kind: One;
    created_at: string;
    request_id: string | null;
    payload: PayloadOf<One>;
  };
}[K];

/**
 * The subject of a receiver's copy of an event: the sender's name, so that NATS can forbid forgery, then the receiver's, so
 * that one filter finds all its events.
 */
export const subjectOf = (kind: EventKind, to: Service): string => `evt.${events[kind].from}.${to}.${kind}`;

/** All events for a service, of all senders. */
export const subjectsTo = (service: Service): string => `evt.*.${service}.>`;

export const kindsFor = (service: Service): EventKind[] =>
  (Object.keys(events) as EventKind[]).filter((kind) =>
    (events[kind].to as readonly Service[]).includes(service),
  );

export type EventRoute = { kind: EventKind; sender: Service; receiver: Service };

/** Each kind of event with its sender, once for each service that must have it. */
export const eventRoutes: readonly EventRoute[] = (Object.keys(events) as EventKind[]).flatMap((kind) =>
  (events[kind].to as readonly Service[]).map((receiver) => ({ kind, sender: events[kind].from, receiver })),
);

/** Services that send to this one. */
export const sendersTo = (service: Service): Service[] =>
  services.filter((sender) => kindsFor(service).some((kind) => events[kind].from === sender));

/** Services that receive events. */
export const receivers: readonly Service[] = services.filter((service) => kindsFor(service).length > 0);

const envelope = z.object({
  id: z.string(),
  kind: z.string(),
  created_at: z.string(),
  request_id: z.string().nullable(),
  payload: z.unknown(),
});

/** Parses an event. Throws with the reason when it is none of ours. */
export function parseEvent(json: unknown): EventOf<EventKind> {
  const outer = envelope.parse(json);
  if (!Object.hasOwn(events, outer.kind)) throw new Error(`unknown event kind ${JSON.stringify(outer.kind)}`);
  const kind = outer.kind as EventKind;
  const payload = events[kind].payload.parse(outer.payload);
  return { ...outer, id: outer.id as EventId, kind, payload } as EventOf<EventKind>;
}
