/** The currencies that an invoice may be priced in (ISO 4217), and how many decimals their amounts have. */
export const currencies = {
  USD: { decimals: 2 },
  EUR: { decimals: 2 },
  GBP: { decimals: 2 },
  CHF: { decimals: 2 },
  JPY: { decimals: 0 },
  CAD: { decimals: 2 },
  AUD: { decimals: 2 },
} as const satisfies Record<string, { decimals: 0 | 2 }>;

export type Currency = keyof typeof currencies;
export const currencyCodes = Object.keys(currencies) as [Currency, ...Currency[]];

/** Those with an exchange rate to the US dollar, in which all rates are. */
export type ForeignCurrency = Exclude<Currency, 'USD'>;
export const foreignCurrencies = currencyCodes.filter((code) => code !== 'USD') as [
  ForeignCurrency,
  ...ForeignCurrency[],
];

export const isForeignCurrency = (text: string): text is ForeignCurrency =>
  foreignCurrencies.some((code) => code === text);
