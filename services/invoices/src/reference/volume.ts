import { count, currency, fiatAmount } from '@quittance/shared/answer-schemas';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { DAYS_DEFAULT, DAYS_MAX } from '../domain/volume.ts';
import { readRange } from '../http/volume.ts';
import type { dayView } from '../views.ts';

const counts = {
  created: count('How many invoices were created.'),
  paid: count('How many of them are paid by now.'),
};

export const day = viewed<ReturnType<typeof dayView>>()(
  z
    .strictObject({
      date: z
        .string()
        .regex(/^\d{4}-\d\d-\d\d$/)
        .describe('The day in UTC.'),
      ...counts,
      currencies: z
        .array(
          z.strictObject({
            currency: currency.describe('The currency of the prices.'),
            ...counts,
            paid_amount: fiatAmount('The sum of the prices of those that are paid.'),
          }),
        )
        .describe(
          'The same for each currency in which invoices were created: none on a day without invoices.',
        ),
    })
    .meta({ id: 'VolumeDay', description: 'What was created on one day, and what of it is paid.' }),
);

const days = z
  .strictObject({ data: z.array(day).describe('Every day, the first one first.') })
  .meta({ id: 'VolumeDays' });

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/volume',
    operationId: 'listVolume',
    tag: 'Invoices',
    summary: 'Volume by day',
    description: `How many invoices were created on each day (UTC), how many of those are paid by now, and the sum of their prices in each currency. An invoice counts on the day on which it was created, whenever it is paid. Refunds are not subtracted. At most ${DAYS_MAX} days.`,
    query: documented(readRange.schema.shape, {
      from: `The first day. Default: ${DAYS_DEFAULT} days with the last one.`,
      to: 'The last day, which is included. Default: today.',
      currency: 'Only invoices with prices in this currency.',
    }),
    answers: { 200: { description: 'The days.', json: days } },
    errors: [],
  },
];
