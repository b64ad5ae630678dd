/** What a text that somebody searches an invoice by is: the API has a filter for each. */
export type InvoiceSearch =
  | { id: string }
  | { tx_hash: string }
  | { address: string }
  | { external_id_prefix: string };

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
/** 32 bytes as hex, of Bitcoin and Ethereum; 64 bytes in base 58, of Solana. */
const hash = new RegExp(`^(?:(?:0x)?[0-9a-fA-F]{64}|${BASE58}{86,88})$`);
/** Of Ethereum; of Bitcoin; of Solana, and Bitcoin's former form. */
const address = new RegExp(`^(?:0x[0-9a-fA-F]{40}|(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{8,87}|${BASE58}{33,44})$`);

/** What is none of the others is the begin of the merchant's own reference. */
export function invoiceSearch(typed: string): InvoiceSearch {
  const text = typed.trim();
  if (/^inv_\w+$/.test(text)) return { id: text };
  if (hash.test(text)) return { tx_hash: text };
  if (address.test(text)) return { address: text };
  return { external_id_prefix: text };
}
