import type { EventKind, events } from '@quittance/shared/events';

type FromServices = {
  [K in EventKind]: 'webhooks' extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** The types of events that merchants can receive. */
export type WebhookEventType = FromServices | 'webhook.test';

/** What docs/webhooks.md tells of an event type, in Markdown. Links are relative to that document. */
type EventDescription = {
  /** Whether an endpoint without a list of events receives it: the contract's five, and those that need an action. */
  isDefault: boolean;
  when: string;
  meaning: string;
  /** What a shop should do. */
  remedy: string;
};

const decide = '[Accept the funds or return them](api.md#unresolved-funds).';

/** Every event type. The table in docs/webhooks.md is generated from it by tools/generate-docs.ts. */
export const eventDescriptions: Record<WebhookEventType, EventDescription> = {
  'invoice.created': {
    isDefault: true,
    when: 'An invoice was created.',
    meaning: 'The customer can pay.',
    remedy: 'Nothing.',
  },
  'invoice.confirmed': {
    isDefault: true,
    when: 'Blocks contain payments of the amount due for the first time.',
    meaning: 'The money has arrived and is not final: the chain can still take it back.',
    remedy: '**Do not ship yet.** Tell the customer that the payment was seen.',
  },
  'invoice.paid': {
    isDefault: true,
    when: 'The payment is final, and the money is in your balance.',
    meaning: 'The invoice is paid, and stays paid.',
    remedy: '**Ship. Ship on this event only.**',
  },
  'invoice.expired': {
    isDefault: true,
    when: 'The invoice expired without a payment, or you cancelled it.',
    meaning: 'Later payments do not make it paid.',
    remedy: 'Cancel the order, or create another invoice for it.',
  },
  'payout.completed': {
    isDefault: true,
    when: 'The transaction of a payout has enough confirmations.',
    meaning: 'The recipient has the money.',
    remedy: 'Record the payout as done.',
  },

  'payout.failed': {
    isDefault: true,
    when: 'It is certain that a payout will not be carried out.',
    meaning:
      'The amount returned to your balance, and the network fee with it unless the chain charged it. `failed_reason` tells the cause: `cancelled` when you cancelled it.',
    remedy: 'Correct the cause, then create another payout.',
  },
  'invoice.underpaid': {
    isDefault: true,
    when: 'The invoice expired with a payment that is too small.',
    meaning: 'The invoice will not be paid. The funds are not in your balance: they are unresolved.',
    remedy: `Do not ship. ${decide}`,
  },
  'invoice.overpaid': {
    isDefault: true,
    when: 'Blocks contain payments of more than the amount due. Sent again for each further payment.',
    meaning: 'All that arrives is credited to your balance as soon as it is final.',
    remedy:
      'Ship on `invoice.paid`. If the customer asks for the surplus, [refund](api.md#refunds) it with the amount `surplus`.',
  },
  'invoice.late_payment': {
    isDefault: true,
    when: 'A payment arrived after the invoice had expired.',
    meaning: 'The invoice stays as it was. The funds are not in your balance: they are unresolved.',
    remedy: decide,
  },
  'invoice.unresolved_payment': {
    isDefault: true,
    when: 'A final payment is of another asset than its invoice. Sent once for each payment of at least the [smallest amount](api.md#assets) of its asset. No event reports smaller payments, of any asset, because anybody can send thousands of them: they are only in `GET /api/unresolved`.',
    meaning:
      'The invoice stays as it was. The funds are not in your balance: they are unresolved. The field `unresolved` names them.',
    remedy: decide,
  },
  'invoice.payment_reversed': {
    isDefault: true,
    when: 'A payment that was seen is gone: the chain dropped its block, or it was replaced before a block contained it.',
    meaning:
      'The payment may come back. A paid invoice stays `paid`; a credit that does not come back leaves your balance.',
    remedy: 'Stop the delivery if you still can, and read the invoice.',
  },

  'refund.expired': {
    isDefault: true,
    when: 'A claim link has ended without a payment: its time is over, 50 attempts to pay it came to nothing, or you decided otherwise about the deposit.',
    meaning: 'Nothing was paid. What the refund took of the invoice can be refunded again.',
    remedy: 'Ask the customer for an address, then create another refund.',
  },
  'refund.unfunded': {
    isDefault: true,
    when: 'A customer used a claim link, and your balance does not cover the refund and its network fee. Sent once, until a claim of the refund is covered.',
    meaning: 'Nothing was paid. The link stays valid, and the customer was asked to contact you.',
    remedy: 'Top up the balance of the asset, then ask the customer to open the link again.',
  },
  'automatic_payout.failed': {
    isDefault: true,
    when: 'An [automatic payout](api.md#automatic-payouts) could not be created. `last_error` tells the cause. Sent once for each cause, until a run has no error.',
    meaning: 'Nothing was paid. The rule is tried again every ten minutes.',
    remedy:
      'At `invalid_request` correct the address of the rule, or read which assets can be paid out. At `insufficient_balance` another payout took the balance: read the payouts.',
  },

  'invoice.asset_chosen': {
    isDefault: false,
    when: 'The payer chose the asset of an invoice that was created with `assets`.',
    meaning: 'The rate is locked, and the invoice has its amount due and its address.',
    remedy: 'Nothing.',
  },
  'invoice.partially_paid': {
    isDefault: false,
    when: 'A first payment was seen, and it is less than the amount due.',
    meaning: 'The rest can still be paid until the invoice expires.',
    remedy: 'Ask the customer for the rest.',
  },
  'payout.created': {
    isDefault: false,
    when: 'A payout was accepted.',
    meaning: 'Its amount and network fee are held from your balance.',
    remedy:
      'If `approval` is `waiting`, approve it with another API token. If you did not order it, revoke the API token.',
  },
  'webhook.test': {
    isDefault: false,
    when: 'You called `POST /api/webhooks/{id}/test`.',
    meaning: 'The endpoint can be reached.',
    remedy: 'Answer 2xx.',
  },
};

export const eventTypes = Object.keys(eventDescriptions) as WebhookEventType[];

export const defaultEventTypes = eventTypes.filter((kind) => eventDescriptions[kind].isDefault);
