/** What a NumberInput has: a count of days, minutes or invoices, never an amount. */
// eslint-disable-next-line no-restricted-syntax -- a count
export const wholeNumber = (given: number | string): number => Number.parseInt(String(given), 10);
