import type { Chain } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import { formatFiat } from '@quittance/shared/money';
import type { Invoice } from './domain/invoice.ts';

/** The price in its currency, with the currency's name: "12.50 euros". Formatted from its text, so every digit is exact. */
export const priceOf = ({ currency, amountFiat }: Pick<Invoice, 'currency' | 'amountFiat'>): string =>
  namedFormat(currency).format(formatFiat(amountFiat) as Intl.StringNumericLiteral);

/** The name of a currency for amounts of it: "euros". */
export const nameOfCurrency = (currency: Currency): string =>
  namedFormat(currency)
    .formatToParts(2)
    .flatMap(({ type, value }) => (type === 'currency' ? [value] : []))
    .join('');

const namedFormat = (currency: Currency) =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'name' });

/** A chain as customers read it. */
export const networkOf = (chain: Chain): string => chain.charAt(0).toUpperCase() + chain.slice(1);

/** Customers know the token by its currency; the network is shown beside it. */
export const symbolOf = (symbol: string): string => symbol.split('_')[0] ?? symbol;
