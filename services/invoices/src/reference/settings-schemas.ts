import { currency, decimal, saidOf } from '@quittance/shared/answer-schemas';
import { viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { EXPIRES_IN_MAX, EXPIRES_IN_MIN } from '../domain/invoice-settings.ts';
import type { settingsView } from '../views.ts';

export const settings = viewed<ReturnType<typeof settingsView>>()(
  z
    .strictObject({
      currency: currency.describe('The currency of new invoices.'),
      expires_in: z
        .int()
        .min(EXPIRES_IN_MIN)
        .max(EXPIRES_IN_MAX)
        .nullable()
        .describe('Minutes to pay; null: new invoices never expire.'),
      tolerance: decimal('Per cent: an invoice is paid when at most so much is missing.'),
    })
    .meta({ id: 'InvoiceSettings', description: 'What new invoices have where a request says nothing.' }),
);

export const settingsSaid = saidOf(settings);
