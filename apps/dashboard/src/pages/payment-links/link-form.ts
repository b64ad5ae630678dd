import type { AssetSymbol, CreatePaymentLink } from '@quittance/client';
import { compare } from '../../parts/decimal.ts';
import { wholeNumber } from '../../parts/whole-number.ts';

/** What somebody chooses of a new payment link. The names of fields that the API has too are its own. */
export type LinkChoice = {
  description: string;
  price: 'fixed' | 'open';
  amount: string;
  amount_min: string;
  amount_max: string;
  currency: string;
  chooses: 'payer' | 'merchant';
  asset: string | null;
  assets: string[];
  valid_days: number | string;
  max_open: number | string;
};

export const emptyLink: LinkChoice = {
  description: '',
  price: 'fixed',
  amount: '',
  amount_min: '',
  amount_max: '',
  currency: '',
  chooses: 'payer',
  asset: null,
  assets: [],
  valid_days: '',
  max_open: '',
};

type Problems = Partial<Record<keyof LinkChoice, string>>;
const isAmount = (text: string): boolean => /^\d+(?:\.\d+)?$/.test(text.trim());
const SUCH_AS = 'Give an amount such as 25.00.';

/** What is wrong with a choice, by field. The API checks the rest. */
export function linkProblems(choice: LinkChoice): Problems {
  const { description, price, amount, amount_min: min, amount_max: max, chooses, asset } = choice;
  const limit = (text: string) => text.trim() === '' || isAmount(text);
  const isReversed = isAmount(min) && isAmount(max) && compare(min.trim(), max.trim()) > 0;
  return {
    ...(description.trim() === '' ? { description: 'Say what is paid.' } : {}),
    ...(price === 'fixed' && !isAmount(amount) ? { amount: SUCH_AS } : {}),
    ...(price === 'open' && !limit(min) ? { amount_min: SUCH_AS } : {}),
    ...(price === 'open' && !limit(max) ? { amount_max: SUCH_AS } : {}),
    ...(price === 'open' && isReversed ? { amount_max: 'The most is less than the least.' } : {}),
    ...(chooses === 'merchant' && asset === null
      ? { asset: 'Choose an asset, or let the payer choose.' }
      : {}),
  };
}

/** The request of a choice. What is left empty is not sent. */
export function linkOf(choice: LinkChoice): CreatePaymentLink {
  const { description, price, currency, chooses, asset, assets, valid_days, max_open } = choice;
  const [amount, min, max] = [choice.amount, choice.amount_min, choice.amount_max].map((text) => text.trim());
  return {
    description: description.trim(),
    ...(price === 'fixed' ? { amount } : {}),
    ...(price === 'open' && min !== '' ? { amount_min: min } : {}),
    ...(price === 'open' && max !== '' ? { amount_max: max } : {}),
    ...(currency === '' ? {} : { currency: currency as NonNullable<CreatePaymentLink['currency']> }),
    ...(chooses === 'merchant' ? { asset: asset as AssetSymbol } : {}),
    ...(chooses === 'payer' && assets.length > 0 ? { assets: assets as AssetSymbol[] } : {}),
    ...(valid_days === '' ? {} : { valid_days: wholeNumber(valid_days) }),
    ...(max_open === '' ? {} : { max_open: wholeNumber(max_open) }),
  };
}
