import {
  decimal,
  id,
  oneOf,
  pageOf,
  payoutId,
  reducedAsset,
  saidOf,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { unresolvedReasons } from '@quittance/shared/events';
import { errorsOfResource, noFields, type Operation, pagedQuery, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { suspenseStates } from '../domain/suspense.ts';
import { unresolvedFilters } from '../http/unresolved.ts';
import type { unresolvedView } from '../views.ts';

const depositId = id('dep', 'The id of the unresolved funds.');

export const unresolved = viewed<ReturnType<typeof unresolvedView>>()(
  z
    .strictObject({
      id: depositId,
      status: oneOf(suspenseStates, '`open`: you have not decided yet.'),
      reason: oneOf(unresolvedReasons, 'Why they are in no balance, or null.').nullable(),
      amount: decimal('What is left, or what the last decision was about, in the asset.'),
      returning_amount: decimal('What payouts of parts are paying back.'),
      returned_amount: decimal('What payouts of parts have paid back.'),
      asset: reducedAsset,
      invoice_id: id('inv', 'The invoice whose address received them, or null.').nullable(),
      tx_hash: text('The hash of the transaction, or null.').nullable(),
      payout_id: payoutId('The payout that takes all that was left, or null.').nullable(),
      created_at: time('When they were received.'),
      resolved_at: time('When you decided, or null.').nullable(),
    })
    .meta({ id: 'Unresolved', description: 'Received funds that are in no balance.' }),
);

const params = z.strictObject({ id: depositId });

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/unresolved',
    operationId: 'listUnresolved',
    tag: 'Unresolved funds',
    summary: 'List unresolved funds',
    description: 'Newest first.',
    query: pagedQuery(unresolvedFilters.schema.shape, {
      status: 'Only those with this status.',
      asset: 'Only those in this asset.',
      invoice_id: 'Only those of this invoice.',
      tx_hash: 'Only those of this transaction.',
      format: '`csv` answers a file of all that the filters match.',
    }),
    answers: {
      200: {
        description: 'A page of unresolved funds.',
        json: pageOf('UnresolvedPage', unresolved),
        others: { 'text/csv': 'All unresolved funds that the filters match, one row each.' },
      },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/unresolved/{id}',
    operationId: 'getUnresolved',
    tag: 'Unresolved funds',
    summary: 'Read unresolved funds',
    params,
    answers: { 200: { description: 'The funds, as the body itself.', json: unresolved } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/unresolved/{id}/accept',
    operationId: 'acceptUnresolved',
    tag: 'Unresolved funds',
    summary: 'Accept unresolved funds',
    description: 'Credits what is left of them to the balance.',
    params,
    body: noFields,
    answers: { 200: { description: 'The funds.', json: saidOf(unresolved) } },
    errors: [...errorsOfResource, 'already_resolved'],
  },
];
