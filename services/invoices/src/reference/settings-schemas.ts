import { currency, decimal, saidOf } from '@quittance/shared/answer-schemas';
import { languages } from '@quittance/shared/page-language';
import { viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { EXPIRES_IN_MAX, EXPIRES_IN_MIN } from '../domain/invoice-settings.ts';
import {
  FRAME_ANCESTORS_MAX,
  LOGO_CHARACTERS_MAX,
  REDIRECT_HOSTS_MAX,
  SHOP_NAME_CHARACTERS_MAX,
} from '../domain/shop.ts';
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
      shop_name: z
        .string()
        .max(SHOP_NAME_CHARACTERS_MAX)
        .nullable()
        .describe('The name that the pages of customers show.'),
      shop_logo: z
        .string()
        .max(LOGO_CHARACTERS_MAX)
        .nullable()
        .describe('The picture that they show: a data URI of a PNG, JPEG or WebP.'),
      language: z
        .enum(languages)
        .nullable()
        .describe("The language of these pages; null: as each customer's browser asks."),
      redirect_hosts: z
        .array(z.string())
        .max(REDIRECT_HOSTS_MAX)
        .describe('The hosts that new invoices and payment links may send customers to; empty: any.'),
      frame_ancestors: z
        .array(z.string())
        .max(FRAME_ANCESTORS_MAX)
        .describe('The origins that may show these pages in a frame; empty: none.'),
    })
    .meta({
      id: 'InvoiceSettings',
      description:
        'What new invoices have where a request says nothing, and what the pages of customers show.',
    }),
);

export const settingsSaid = saidOf(settings);
