import type { Currency } from '@quittance/shared/currencies';

/** What an account's new invoices have where a request says nothing. */
export type InvoiceSettings = {
  currency: Currency;
  /** Minutes; null: they never expire. */
  expiresIn: number | null;
  /** How much less than the amount due makes an invoice paid, in basis points. */
  toleranceBps: number;
  /** The hosts that customers may be sent to; empty: any. */
  redirectHosts: readonly string[];
};

/** As stored: `toleranceBps` is null until the account sets one. */
export type StoredSettings = Omit<InvoiceSettings, 'toleranceBps'> & { toleranceBps: number | null };

export const EXPIRES_IN_MIN = 1;
export const EXPIRES_IN_MAX = 120;

/** The settings of an account that has not set any. */
export const defaultSettings: StoredSettings = {
  currency: 'USD',
  expiresIn: 60,
  toleranceBps: null,
  redirectHosts: [],
};

/** The settings in force: the operator's tolerance unless the account has its own. */
export const settingsInForce = (stored: StoredSettings, operatorsToleranceBps: number): InvoiceSettings => ({
  ...stored,
  toleranceBps: stored.toleranceBps ?? operatorsToleranceBps,
});
