import type { AssetSymbol, CreateInvoice } from '@quittance/client';
import { wholeNumber } from '../../parts/whole-number.ts';

/** What somebody chooses of a new invoice. The names of fields that the API has too are its own. */
export type InvoiceChoice = {
  amount: string;
  currency: string;
  chooses: 'payer' | 'merchant';
  asset: string | null;
  /** None: all that are active. */
  assets: string[];
  description: string;
  external_id: string;
  expires_in: number | string;
};

type Problems = Partial<Record<keyof InvoiceChoice, string>>;

/** What is wrong with a choice, by field. The API checks the rest, such as the smallest price. */
export function problemsOf({ amount, chooses, asset }: InvoiceChoice): Problems {
  return {
    ...(/^\d+(?:\.\d+)?$/.test(amount.trim()) ? {} : { amount: 'Give an amount such as 25.00.' }),
    ...(chooses === 'merchant' && asset === null
      ? { asset: 'Choose an asset, or let the payer choose.' }
      : {}),
  };
}

/** The request of a choice. What is left empty is not sent, so that the settings of the account count. */
export function invoiceOf(choice: InvoiceChoice): CreateInvoice {
  const { amount, currency, chooses, asset, assets, expires_in } = choice;
  const [description, reference] = [choice.description.trim(), choice.external_id.trim()];
  const chosen =
    chooses === 'merchant'
      ? { asset: asset as AssetSymbol }
      : { assets: assets.length === 0 ? ('all' as const) : (assets as AssetSymbol[]) };
  return {
    ...chosen,
    amount: amount.trim(),
    ...(currency === '' ? {} : { currency: currency as NonNullable<CreateInvoice['currency']> }),
    ...(description === '' ? {} : { description }),
    ...(reference === '' ? {} : { external_id: reference }),
    ...(expires_in === '' ? {} : { expires_in: wholeNumber(expires_in) }),
  };
}
