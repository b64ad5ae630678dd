import {
  assetSymbol,
  count,
  decimal,
  flag,
  id,
  metadata,
  oneOf,
  payoutId,
  reducedAsset,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { type ErrorCode, errorCodes } from '@quittance/shared/error-codes';
import { viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import type { attemptView } from '../attempt-view.ts';
import type { automaticPayoutView } from '../automatic-order.ts';
import { batchModes } from '../batch-order.ts';
import { type batchView, lineStatuses, type listedBatchView } from '../batch-views.ts';
import { approvalDecisions, approvalStates } from '../domain/approval.ts';
import { attemptStatuses } from '../domain/attempts.ts';
import { runErrors, schedules } from '../domain/automatic.ts';
import { APPROVALS_MAX } from '../domain/policy.ts';
import { CANCELLED, shownStatuses } from '../domain/states.ts';
import { feeRateUnits } from '../operations/read-attempts.ts';
import type { haltView, payoutView, quoteView } from '../views.ts';

export const payoutIdSchema = payoutId('The id of the payout.');
export const batchId = id('pba', 'The id of the batch.');

const usd = {
  usd_rate: decimal('US dollars for one whole asset then, or null.').nullable(),
  usd_value: decimal('`amount` in US dollars at that rate, or null.').nullable(),
};

const tokenId = id('tok', 'The API token that said so; null of a person.').nullable();
const personId = id('per', 'The person who said so; null of an API token.').nullable();
const approval = z.strictObject({
  status: oneOf(approvalStates, '`waiting`: nothing is paid until enough others have approved it.'),
  needed: z.int().min(1).max(APPROVALS_MAX).describe('How many other tokens or people must approve it.'),
  given: z
    .array(
      z.strictObject({
        token_id: tokenId,
        person_id: personId,
        decision: oneOf(approvalDecisions, 'What it said.'),
        at: time('When it said so.'),
      }),
    )
    .describe('Who has approved or rejected it, in that order.'),
  requested_by: text(
    'The API token or the person that has requested it, and cannot approve it. Null: not known.',
  ).nullable(),
  expires_at: time('When it fails unless it is approved before.'),
});

export const payout = viewed<ReturnType<typeof payoutView>>()(
  z
    .strictObject({
      id: payoutIdSchema,
      type: z.literal('payout').describe('Always `payout`.'),
      amount: decimal('What the recipient gets, in the asset.'),
      tx_hash: text('The hash of its transaction, or null.').nullable(),
      to_address: text('The recipient.'),
      status: oneOf(shownStatuses, '`mined`: the recipient has it. `failed`: it will not be carried out.'),
      failed_reason: text('Why it failed; empty when it has not.'),
      approval: approval.nullable().describe('How it is approved, or null when it needs no approval.'),
      cancel_requested_at: time('When you asked that it is cancelled, or null.').nullable(),
      created_at: time('When it was created.'),
      completed_at: time('When it was mined, or null.').nullable(),
      failed_at: time('When it failed, or null.').nullable(),
      asset: reducedAsset,
      network_fee: decimal('What it costs beside its amount, in the asset.'),
      total: decimal('Amount and network fee: what was held.'),
      ...usd,
      external_id: text('Your own reference, or null.').nullable(),
      metadata,
      deposit_id: id('dep', 'The unresolved funds that it pays back, or null.').nullable(),
      batch_id: id('pba', 'The batch that it was requested in, or null.').nullable(),
      automatic: flag('Whether an automatic payout created it.'),
      refund_id: id('ref', 'The refund that it pays, or null.').nullable(),
      invoice_id: id('inv', 'The invoice that it refunds, or null.').nullable(),
    })
    .meta({ id: 'Payout', description: 'Money that is sent from the balance to an address.' }),
);

export const attempt = viewed<ReturnType<typeof attemptView>>()(
  z
    .strictObject({
      attempt: z.int().min(1).describe('1 is the first.'),
      status: oneOf(
        attemptStatuses,
        '`signed`: no node has accepted it yet. `sent`: it waits for a block, or for confirmations. `replaced`: another attempt has taken its place. `mined`: it has paid. `failed`: a block includes it, and its recipient has refused it. `dropped`: no block can ever include it.',
      ),
      tx_hash: text('The hash of the transaction.'),
      explorer_url: text('Its page in a block explorer, or null.').nullable(),
      fee_asset: assetSymbol.describe('The asset in which the network takes its fee.'),
      fee_max: decimal('What the transaction may cost at most.'),
      fee_paid: decimal('What the transaction has cost; null before it is mined.').nullable(),
      fee_rate: z
        .strictObject({
          value: decimal('The rate.'),
          unit: oneOf(
            feeRateUnits,
            'Of Bitcoin for a virtual byte, of EVM chains at most for a unit of gas.',
          ),
        })
        .nullable()
        .describe('What it offers the network; null where that is not known, as on Solana.'),
      block_height: z.int().nonnegative().nullable().describe('The block that includes it, or null.'),
      signed_at: time('When it was signed.'),
      sent_at: time('When it was first sent to a node, or null.').nullable(),
    })
    .meta({
      id: 'PayoutAttempt',
      description:
        'A transaction that was signed for a payout. On Bitcoin it may pay several payouts: its fee is that of all of them.',
    }),
);

export const haltedAsset = viewed<ReturnType<typeof haltView>>()(
  z
    .strictObject({
      asset: reducedAsset,
      halted_at: time('Since when nothing is paid out.'),
    })
    .meta({ id: 'HaltedAsset', description: 'An asset of which nothing is paid out at the moment.' }),
);

export const quote = viewed<ReturnType<typeof quoteView>>()(
  z
    .strictObject({
      amount: decimal('What the recipient would get, in the asset.'),
      network_fee: decimal('What it would cost beside its amount, in the asset.'),
      total: decimal('Amount and network fee.'),
      ...usd,
      promised_amount: decimal('What your open claim links of invoices promise in this asset.'),
      to_address: text('The recipient, or null when you gave none.').nullable(),
      asset: reducedAsset,
      valid: z
        .strictObject({
          as_of: time('When fee and rate were determined.'),
          guaranteed: z.literal(false).describe('The fee of a payout is that of its creation.'),
        })
        .describe('How long it holds.'),
    })
    .meta({ id: 'PayoutQuote', description: 'What a payout would cost now.' }),
);

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];

const line = z
  .strictObject({
    line: z.int().min(1).describe('Which payout of the list, or which line of the file.'),
    status: oneOf(lineStatuses, '`created`: the payout exists.'),
    payout_id: payoutId('The payout, when it was created.').optional(),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('What is wrong with it, by field, as in a 422.'),
    message: text('Why there is no payout.').optional(),
    code: oneOf(codes, 'The kind of error.').optional(),
    hint: text('What to do about it.').optional(),
  })
  .meta({ id: 'PayoutBatchLine', description: 'What became of a payout of a batch.' });

const head = {
  id: batchId,
  type: z.literal('payout_batch').describe('Always `payout_batch`.'),
  mode: oneOf(batchModes, '`each`: each line is paid or not by itself. `all_or_nothing`: all or none.'),
  created_at: time('When it was created.'),
  totals: z
    .strictObject({
      lines: count('All of its lines.'),
      created: count('Lines whose payout exists.'),
      refused: count('Lines that the balance did not cover.'),
      invalid: count('Lines that are wrong.'),
      unavailable: count('Lines for which nothing was done.'),
      undecided: count('Lines that are still being carried out.'),
    })
    .describe('How many lines have which status.'),
};

export const listedBatch = viewed<ReturnType<typeof listedBatchView>>()(
  z.strictObject(head).meta({ id: 'PayoutBatchListItem', description: 'A batch in a list.' }),
);

export const batch = viewed<ReturnType<typeof batchView>>()(
  z
    .strictObject({ ...head, lines: z.array(line).describe('Its lines, in their order.') })
    .meta({ id: 'PayoutBatch', description: 'Payouts that were requested together.' }),
);

export const automaticPayout = viewed<ReturnType<typeof automaticPayoutView>>()(
  z
    .strictObject({
      type: z.literal('automatic_payout').describe('Always `automatic_payout`.'),
      asset: reducedAsset,
      address: text('The recipient.'),
      schedule: oneOf(schedules, '`daily`, or whenever the balance covers the threshold.'),
      threshold: decimal('The least amount that is worth a payout, or null.').nullable(),
      enabled: flag('Whether it pays.'),
      next_run_at: time('When it runs next, at the earliest; null while it is disabled.').nullable(),
      last_run_at: time('When it ran last, or null.').nullable(),
      last_payout_id: payoutId('The last payout that it created, or null.').nullable(),
      last_error: oneOf(
        [...runErrors, CANCELLED, 'payout_failed'],
        'Why it pays nothing, or less often, now; or null.',
      ).nullable(),
      created_at: time('When it was created.'),
      updated_at: time('When it was last changed.'),
    })
    .meta({ id: 'AutomaticPayout', description: 'A rule that pays out all of the balance of an asset.' }),
);

export const assetParam = z.strictObject({ asset: assetSymbol.describe('The symbol of the asset.') });
