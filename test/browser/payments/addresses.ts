import { type AssetSymbol, assets, type ChainKind, chainKinds } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';
import { getAddress } from 'viem';

/* What is not taken from Quittance: how wallets read links, and how addresses look. */

const FORMS = {
  bitcoin: /\b(?:bcrt1|bc1|tb1)[0-9a-z]{20,}\b/g,
  evm: /\b0x[0-9a-fA-F]{40}\b/g,
  solana: /\b[1-9A-HJ-NP-Za-km-z]{32,44}\b/g,
} as const satisfies Record<ChainKind, RegExp>;

const kindOf = (asset: AssetSymbol): ChainKind => chainKinds[assets[asset].chain];

/** As wallets and explorers show the address: on an EVM chain its capitals are a checksum. */
export const asShown = (asset: AssetSymbol, address: string): string =>
  kindOf(asset) === 'evm' ? getAddress(address) : address;

/** All that looks like an address of the asset's chain in the text of a page. */
export const addressesIn = (asset: AssetSymbol, text: string): string[] => [
  ...new Set(text.match(FORMS[kindOf(asset)]) ?? []),
];

/**
 * Whom a wallet pays with this link, and how much: BIP-21, ERC-681, Solana Pay.
 * @throws what is no such link
 */
export function paidBy(asset: AssetSymbol, link: string): { address: string; amount: string } {
  const { protocol, pathname, searchParams } = new URL(link);
  const parameter = (name: string): string => {
    const value = searchParams.get(name);
    if (value === null) throw new Error(`${link} has no ${name}`);
    return value;
  };
  const inUnits = (units: string) => formatUnits(BigInt(units) as Units, assets[asset].decimals);
  switch (protocol) {
    case 'bitcoin:':
      return { address: pathname, amount: parameter('amount') };
    case 'solana:':
      return { address: pathname, amount: parameter('amount') };
    case 'ethereum:':
      return pathname.endsWith('/transfer')
        ? { address: parameter('address'), amount: inUnits(parameter('uint256')) }
        : { address: /^0x[0-9a-fA-F]+/.exec(pathname)?.[0] ?? '', amount: inUnits(parameter('value')) };
    default:
      throw new Error(`${link} is no link for a wallet`);
  }
}
