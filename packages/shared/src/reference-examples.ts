import type { z } from 'zod';
import type { asset, pageOf, rates } from './answer-schemas.ts';
import { reducedAsset } from './assets.ts';

/** What the examples of the reference have in common: one sale, its refund and a payout. */

const made = '01kawxp2m9h9bkzv3xqnm40y2r6d8tfs57cg';
export const exampleIds = {
  invoice: `inv_${made}`,
  link: `plink_${made}`,
  refund: `ref_${made}`,
  deposit: `dep_${made}`,
  batch: `pba_${made}`,
  address: `adr_${made}`,
  endpoint: `whe_${made}`,
  event: `evt_${made}`,
  mailRecipient: `mrc_${made}`,
  token: `tok_${made}`,
  account: `acc_${made}`,
  person: `per_${made}`,
  session: `ses_${made}`,
  invitation: `ivt_${made}`,
  passkey: `pky_${made}`,
  delivery: `dlv_${made}${made}`,
  payout: 52_810_934_471_203,
} as const;

export const URL = 'https://pay.example';
export const AT = '2026-11-25T09:30:00.000Z';
export const LATER = '2026-11-25T10:30:00.000Z';
/** A recipient, for examples only. */
export const RECIPIENT = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';
export const TX_HASH = `0x${'5e1d3a76'.repeat(8)}`;

export const exampleReducedAsset: ReturnType<typeof reducedAsset> = reducedAsset('ETH');

export const exampleAsset: z.input<typeof asset> = {
  ...exampleReducedAsset,
  chain: 'ethereum',
  type: 'native',
  usd_rate: '2500',
  network_fee: '0.0005',
  min_confirmations: 12,
};

const sources = [
  { name: 'kraken', usd_rate: '2500.2', read_at: AT },
  { name: 'coinbase', usd_rate: '2499.8', read_at: AT },
];

export const exampleRates: z.input<typeof rates> = {
  currency: { code: 'USD', usd_rate: '1', as_of: null, sources: [] },
  asset: { symbol: 'ETH', usd_rate: '2500', as_of: AT, sources },
};

/** The only page of a list with one item. */
export const examplePage = <T>(
  path: string,
  item: T,
): z.input<ReturnType<typeof pageOf<z.ZodType<T, T>>>> => {
  const list = `${URL}${path}`;
  const only = `${list}?page=1`;
  return {
    data: [item],
    links: { first: only, last: only, prev: null, next: null },
    meta: {
      current_page: 1,
      from: 1,
      last_page: 1,
      links: [
        { url: null, label: '&laquo; Previous', active: false },
        { url: only, label: '1', active: true },
        { url: null, label: 'Next &raquo;', active: false },
      ],
      path: list,
      per_page: 10,
      to: 1,
      total: 1,
    },
  };
};
