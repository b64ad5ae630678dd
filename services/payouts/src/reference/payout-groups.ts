import { message, pageOf, saidOf } from '@quittance/shared/answer-schemas';
import { pageForm } from '@quittance/shared/pages';
import {
  documented,
  errorsOfResource,
  idempotencyKey,
  type Operation,
  pagedQuery,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { readForm } from '../automatic-order.ts';
import { batchModes, LINES_MAX, readMode } from '../batch-order.ts';
import { assetParam, automaticPayout, batch, batchId, listedBatch } from './payout-schemas.ts';
import { lineFields } from './payouts.ts';

const payouts = z
  .array(lineFields)
  .min(1)
  .max(LINES_MAX)
  .describe('The payouts, each as for `createPayout`, with a number as `amount`.');

const batches: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/payout-batches',
    operationId: 'listPayoutBatches',
    tag: 'Payout batches',
    summary: 'List payout batches',
    description: 'Newest first, without their lines.',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: {
      200: { description: 'A page of batches.', json: pageOf('PayoutBatchPage', listedBatch) },
    },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/payout-batches',
    operationId: 'createPayoutBatch',
    tag: 'Payout batches',
    summary: 'Create many payouts',
    description: `Creates 1 to ${LINES_MAX} payouts. Of a file, \`mode\` is a query parameter.`,
    headers: idempotencyKey,
    query: z.strictObject({ mode: z.enum(batchModes).optional().describe('Of a file: as in the body.') }),
    body: {
      fields: documented(
        { ...readMode.schema.shape, payouts },
        {
          mode: '`each`: each line is paid or not by itself. `all_or_nothing`: all lines are paid, or none.',
          payouts: payouts.description ?? '',
        },
      ),
      required: true,
      others: {
        'text/csv':
          'A file whose first line names the columns: asset, amount, address, and if wanted external_id and metadata.',
      },
    },
    answers: {
      201: {
        description: 'What became of each line: read `totals`.',
        json: saidOf(batch),
        headers: ['Idempotent-Replayed'],
      },
    },
    errors: ['insufficient_balance', 'request_in_progress'],
  },
  {
    method: 'get',
    path: '/api/payout-batches/{id}',
    operationId: 'getPayoutBatch',
    tag: 'Payout batches',
    summary: 'Read a payout batch',
    params: z.strictObject({ id: batchId }),
    answers: { 200: { description: 'The batch, as the body itself.', json: batch } },
    errors: errorsOfResource,
  },
];

const automatic: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/automatic-payouts',
    operationId: 'listAutomaticPayouts',
    tag: 'Automatic payouts',
    summary: 'List automatic payouts',
    description: 'One for each asset at most.',
    answers: {
      200: {
        description: 'All automatic payouts of the account.',
        json: z.strictObject({ data: z.array(automaticPayout).describe('The rules.') }),
      },
    },
    errors: [],
  },
  {
    method: 'put',
    path: '/api/automatic-payouts/{asset}',
    operationId: 'putAutomaticPayout',
    tag: 'Automatic payouts',
    summary: 'Create or replace an automatic payout',
    params: assetParam,
    body: {
      fields: documented(readForm.schema.shape, {
        address: 'The recipient.',
        schedule:
          '`daily`: once a day, after midnight UTC. `threshold`: whenever the balance covers `threshold` and the network fee.',
        threshold:
          'The least amount that is worth a payout, without the network fee. Needed for `threshold`.',
        enabled: 'False keeps the rule and pays nothing.',
      }),
      required: true,
    },
    answers: { 200: { description: 'The rule.', json: saidOf(automaticPayout) } },
    errors: ['not_found', 'route_not_found'],
  },
  {
    method: 'delete',
    path: '/api/automatic-payouts/{asset}',
    operationId: 'deleteAutomaticPayout',
    tag: 'Automatic payouts',
    summary: 'Delete an automatic payout',
    description: 'Payouts that it created stay.',
    params: assetParam,
    answers: { 200: { description: 'It is deleted.', json: z.strictObject({ message }) } },
    errors: ['not_found', 'route_not_found'],
  },
];

export const operations: readonly Operation[] = [...batches, ...automatic];
