import { z } from 'zod';
import { assetSymbols, chains } from './assets.ts';
import { type Service, unitsText } from './events.ts';
import { BODY_BYTES_MAX } from './identity.ts';
import { languages } from './page-language.ts';

/** Of one request. The signer derives them at once, one to two milliseconds each, and does nothing else meanwhile. */
export const ADDRESSES_PER_REQUEST = 32;

/** Of one request for signatures. */
export const ORDERS_PER_REQUEST = 200;
/** Of one transaction: as many as Bitcoin pays at once. */
const PAYOUTS_PER_TRANSACTION = 100;
/** Why the signer signs nothing new of a request that is older than it may be by then. */
export const CAME_LATE = 'the question came late';

/** How long a claim link is valid when its request does not say it, and at most. */
export const CLAIM_DAYS_DEFAULT = 30;
export const CLAIM_DAYS_MAX = 90;

/** Of a proof in base64: as much as the gateway takes as a body. */
const BODY_CHARACTERS_MAX = Math.ceil(BODY_BYTES_MAX / 3) * 4;

/**
 * The request by which a merchant has asked for a payout, as payouts received it, with the gateway's assertion: see
 * `verifyProof`. `item`: the line of a batch.
 */
const holdProof = z.object({
  assertion: z.string().max(2_000),
  method: z.string().max(16),
  path: z.string().max(16_384),
  /** In base64. */
  body: z.string().max(BODY_CHARACTERS_MAX),
  item: z.number().int().min(0).max(1_000_000),
});

/**
 * Requests that wait for their answer: who answers, who may ask, and the time after which the caller stops waiting.
 */
export const commands = {
  /**
   * Reserve amount + network fee of a merchant's balance for a payout. Decided once per payout id; the
   * same question again gets the same answer. `voided`: the caller had given up on it before. `refused` because
   * `not_asked_for`: the proof shows no such request of the account. `link_in_use`: another payout of the claim link may still pay.
   */
  'hold.place': {
    by: 'ledger',
    askedBy: ['payouts'],
    timeoutMs: 2_000,
    request: z.object({
      /** Of the client that wants the payout, for the log. */
      request_id: z.string().optional(),
      payout_id: z.string(),
      account_id: z.string(),
      asset: z.enum(assetSymbols),
      amount: unitsText,
      network_fee: unitsText,
      /** True: all that the balance has after the network fee, and at least `amount`. An older ledger ignores it. */
      takes_all: z.boolean().optional(),
      /**
       * Null: from the balance. Otherwise a refund of this unresolved deposit: amount and network fee must add up to all that
       * is left of it, or to at most that with `is_part`. `refused` when it was accepted or refunded before, and when a part of it has recovered a write-off, which
       * `because` says.
       */
      deposit_id: z.string().nullable(),
      /** The invoice that the payout refunds from the balance. An older ledger ignores it, an older payouts leaves it out. */
      invoice_id: z.string().max(64).nullable().optional(),
      /** An older ledger ignores it, and answers nothing when less than all is asked for. */
      is_part: z.boolean().optional(),
      /** The recipient's canonical address. Payouts of a former release leaves it out, and `proof`. */
      destination: z.string().max(255).optional(),
      /** Left out where none is kept: of rules and claim links of a former release. */
      proof: holdProof.optional(),
    }),
    reply: z.object({
      outcome: z.enum(['placed', 'refused', 'voided']),
      because: z.enum(['used_for_recovery', 'not_asked_for', 'link_in_use']).optional(),
      /** What is held without the network fee, of a hold that takes all. */
      amount: unitsText.optional(),
      /** What the balance had when it refused the hold. An older release leaves it out. */
      available: unitsText.optional(),
    }),
  },
  /** What an account can spend of an asset at the moment. It promises nothing: `hold.place` decides. */
  'balance.read': {
    by: 'ledger',
    askedBy: ['payouts'],
    timeoutMs: 2_000,
    request: z.object({ account_id: z.string(), asset: z.enum(assetSymbols) }),
    reply: z.object({ available: unitsText }),
  },
  /** How much of the unresolved deposits of an invoice, in its asset, its account has accepted into the balance. */
  'accepted.read': {
    by: 'ledger',
    askedBy: ['payouts'],
    timeoutMs: 2_000,
    request: z.object({
      account_id: z.string(),
      asset: z.enum(assetSymbols),
      invoice_id: z.string().max(64),
    }),
    reply: z.object({ amount: unitsText }),
  },
  /**
   * The addresses of indexes `from` … `from + count - 1`, canonical, by who holds the seed: where keys have no public
   * derivation nobody else can name them, elsewhere they show whether a public key is the seed's.
   */
  'addresses.derive': {
    by: 'signer',
    askedBy: ['invoices'],
    timeoutMs: 5_000,
    request: z.object({
      chain: z.enum(chains),
      from: z
        .number()
        .int()
        .min(0)
        .max(2 ** 31 - 1),
      count: z.number().int().min(1).max(ADDRESSES_PER_REQUEST),
      /** Those that the asker derives from its public key, and gives out when they are the same. */
      expected: z.array(z.string()).max(ADDRESSES_PER_REQUEST).optional(),
    }),
    reply: z.object({ addresses: z.array(z.string()) }),
  },
  /**
   * Signatures for complete orders, in their order, up to the first that is refused. The same order gets the same bytes again,
   * however often it is asked for. The forms of orders and signatures are those of the chain: `@quittance/chains/signing`.
   */
  'transactions.sign': {
    by: 'signer',
    askedBy: ['payouts'],
    timeoutMs: 15_000,
    request: z.object({
      chain: z.enum(chains),
      /** Nothing is signed for the first time when the question comes late: by then the caller may have asked again, and planned something else. */
      asked_at: z.iso.datetime(),
      /** True: nothing is signed that was not signed before. */
      only_known: z.boolean(),
      orders: z
        .array(
          z.object({
            order: z.unknown(),
            /** Which payouts it pays, in the order of its recipients. Empty: it brings deposits or change to the hot wallet. */
            payouts: z.array(z.string()).max(PAYOUTS_PER_TRANSACTION),
          }),
        )
        .min(1)
        .max(ORDERS_PER_REQUEST),
    }),
    reply: z.object({
      signed: z.array(z.unknown()),
      /** Why the order after those is not signed; null when all are. */
      refused: z
        .object({
          because: z.string(),
          /** Those of its payouts that it is refused for; empty when it is for something else. */
          payouts: z.array(z.string()),
          /** Addresses or outputs of it whose keys are not in this wallet. */
          foreign: z.array(z.string()),
          /** It may be signed after this time. 0: it is not refused, the request had no time left for it. */
          again_after_ms: z.number().int().min(0),
        })
        .nullable(),
    }),
  },
  /** What the ledger knows of payouts, for who signs them. Those without a hold are left out. */
  'holds.describe': {
    by: 'ledger',
    askedBy: ['signer'],
    timeoutMs: 2_000,
    request: z.object({
      holds: z
        .array(
          z.object({
            payout_id: z.string(),
            /** Null: deposits of all times are summed. */
            deposits_since: z.iso.datetime().nullable(),
          }),
        )
        .max(ORDERS_PER_REQUEST * PAYOUTS_PER_TRANSACTION),
    }),
    reply: z.object({
      holds: z.array(
        z.object({
          payout_id: z.string(),
          account_id: z.string(),
          asset: z.enum(assetSymbols),
          amount: unitsText,
          network_fee: unitsText,
          /** The recipient's canonical address. Null: the hold is from before addresses were stored with it. */
          destination: z.string().nullable(),
          /** False when it was settled, released, refused or voided. */
          is_placed: z.boolean(),
          /** What the account's balance of this asset has beside its holds. */
          available: unitsText,
          /** What deposits have brought to that balance since `deposits_since`; for the refund of an unresolved deposit, that deposit. */
          deposited_since: unitsText,
        }),
      ),
    }),
  },
  /** What the last checks of the records and the chains have shown, for who signs payouts. */
  'reconciliation.read': {
    by: 'auditor',
    askedBy: ['signer'],
    timeoutMs: 2_000,
    request: z.object({}),
    reply: z.object({
      assets: z.array(
        z.object({
          asset: z.enum(assetSymbols),
          /** When the newest check began that compared the records with each other and with the chain and found them right; null before the first. */
          passed_at: z.iso.datetime().nullable(),
          is_halted: z.boolean(),
        }),
      ),
    }),
  },
  /** What a refund of an invoice depends on, as it is now. Null when there is no such invoice. */
  'invoice.describe': {
    by: 'invoices',
    askedBy: ['payouts'],
    timeoutMs: 2_000,
    request: z.object({ invoice_id: z.string().max(64) }),
    reply: z.object({
      invoice: z
        .object({
          account_id: z.string(),
          asset: z.enum(assetSymbols),
          status: z.string(),
          amount_due: unitsText,
          /** Final, and credited when the invoice is paid: without what the chain took back. */
          paid_amount: unitsText,
          /** US dollars for one whole asset, locked at the creation. */
          usd_rate: z.string(),
          currency: z.string(),
          /** US dollars for one unit of the currency, locked at the creation. Left out for US dollars. */
          fiat_rate: z.string().optional(),
        })
        .nullable(),
    }),
  },
  /** What an account shows on the pages of its customers. */
  'shop.describe': {
    by: 'invoices',
    askedBy: ['payouts'],
    timeoutMs: 1_000,
    request: z.object({ account_id: z.string().max(64) }),
    reply: z.object({
      name: z.string().nullable(),
      /** A data URI of a picture: nothing else is ever shown as one. */
      logo: z
        .string()
        .regex(/^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/)
        .nullable(),
      language: z.enum(languages).nullable(),
    }),
  },
} as const satisfies Record<
  string,
  { by: Service; askedBy: readonly Service[]; timeoutMs: number; request: z.ZodType; reply: z.ZodType }
>;

export type CommandName = keyof typeof commands;
export type RequestOf<C extends CommandName> = z.infer<(typeof commands)[C]['request']>;
export type ReplyOf<C extends CommandName> = z.infer<(typeof commands)[C]['reply']>;

/** Where a command is asked: `rpc.<who answers>.<command>`. */
export const commandSubject = (command: CommandName): string => `rpc.${commands[command].by}.${command}`;

/** The reconciler's request: each service answers which of these events are not in its inbox, and which are dead letters. */
export const missingSubject = (service: Service): string => `rpc.${service}.inbox.missing`;
export const missingQuestion = z.object({ ids: z.array(z.string()).max(1_000) });
export const missingAnswer = z.object({
  missing: z.array(z.string()),
  /** The dead letters. An older release leaves them out. */
  parked: z.array(z.string()).default([]),
});

/** A receiver's request before it deletes inbox rows: each sender answers with its oldest event of these kinds that it may still send. */
export const oldestSubject = (service: Service): string => `rpc.${service}.outbox.oldest`;
export const oldestQuestion = z.object({ kinds: z.array(z.string()).max(100) });
export const oldestAnswer = z.object({ id: z.string().max(64).nullable() });
