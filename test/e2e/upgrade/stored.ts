import type { AssetSymbol } from '@quittance/shared/assets';

/** An invoice of the stored installation, and how far it had come when that was stopped. */
export type StoredInvoice = {
  role:
    | 'open'
    | 'partly paid'
    | 'in no block'
    | 'seen'
    /** Its deposit is final and not booked. */
    | 'settled'
    /** Its deposit could not be booked. */
    | 'parked'
    | 'paid'
    /** Paid after its end. */
    | 'late';
  asset: AssetSymbol;
  id: string;
  address: string;
  amount: string;
};

export type StoredPayout = {
  role: 'mined' | 'under way' | 'requested';
  asset: AssetSymbol;
  id: string;
};

/** What is stored beside the database. */
export type StoredState = {
  stoppedAt: string;
  account: { id: string; token: string };
  endpoint: { id: string; secret: string };
  invoices: StoredInvoice[];
  payouts: StoredPayout[];
  /** What was in the database at the stop: so that it can be seen that nothing was left out. */
  counts: {
    payouts: Record<string, number>;
    invoices: Record<string, number>;
    transactions: Record<string, number>;
    parked: number;
    deliveriesWaiting: number;
    unsent: number;
  };
  /** The sandbox's own files, by path, in base64. */
  files: Record<string, string>;
};
