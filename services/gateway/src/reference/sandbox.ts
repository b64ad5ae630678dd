import { assetSymbol, decimal, saidOf, text } from '@quittance/shared/answer-schemas';
import { documented, type Example, type Operation, viewed } from '@quittance/shared/reference';
import { RECIPIENT, TX_HASH } from '@quittance/shared/reference-examples';
import { readTestPayment, type testPaymentView } from '@quittance/shared/test-money';
import { z } from 'zod';

/* What only a sandbox answers: its process, and no service. */

const testPayment = viewed<ReturnType<typeof testPaymentView>>()(
  z
    .strictObject({
      asset: assetSymbol,
      address: text('Who got it.'),
      amount: decimal('How much, in the asset.'),
      tx_hash: text('The hash of the transaction.'),
    })
    .meta({ id: 'TestPayment', description: 'A payment with test money.' }),
);

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/sandbox/payments',
    operationId: 'payInSandbox',
    tag: 'Sandbox',
    summary: 'Pay an address with test money',
    description:
      'Pays as a customer would, on the test chains of a sandbox. Every other installation answers 404.',
    body: {
      fields: documented(readTestPayment.schema.shape, {
        asset: 'The symbol of the asset.',
        address: 'The address of an invoice, or any other.',
        amount: 'How much, in the asset.',
      }),
      required: true,
    },
    answers: { 201: { description: 'It is sent.', json: saidOf(testPayment) } },
    errors: ['route_not_found'],
  },
];

export const examples: Readonly<Record<string, Example>> = {
  payInSandbox: {
    body: { asset: 'ETH', address: RECIPIENT, amount: '0.004' },
    answer: {
      message: 'Test money was sent.',
      data: { asset: 'ETH', address: RECIPIENT, amount: '0.004', tx_hash: TX_HASH },
    },
  },
};
