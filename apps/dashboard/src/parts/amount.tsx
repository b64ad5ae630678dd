import { Text, type TextProps } from '@mantine/core';
import { grouped } from './decimal.ts';
import { chainNames, chainOf } from './networks.ts';

/** `USDC_ERC20` is USDC on Ethereum. */
export function assetName(asset: string): string {
  const [symbol = asset, network] = asset.split('_');
  return network === undefined ? symbol : `${symbol} (${chainNames[chainOf(asset)] ?? network})`;
}

/** An amount of an asset, with all of its digits. */
export function Amount({ value, asset, ...text }: { value: string; asset: string } & TextProps) {
  return (
    <Text
      component="span"
      inherit
      // As wide as it is, but where there is little room: see Facts.
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'var(--amount-wraps, nowrap)' }}
      {...text}
    >
      {grouped(value)} {assetName(asset)}
    </Text>
  );
}

/** An amount of money as the reader writes it: `€1,234.50`. Its text has two decimals, which a number of this size keeps. */
export function fiat(value: string, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  // Since ES2023 texts are formatted exactly.
  return format.format(value as Intl.StringNumericLiteral);
}

export function Fiat({ value, currency, ...text }: { value: string; currency: string } & TextProps) {
  return (
    <Text
      component="span"
      inherit
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
      {...text}
    >
      {fiat(value, currency)}
    </Text>
  );
}
