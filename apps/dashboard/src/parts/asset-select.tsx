import { Select, type SelectProps } from '@mantine/core';
import { assetName } from './amount.tsx';
import { useAssets } from './account-data.ts';

/** One of the assets that can be used now. */
export function AssetSelect({ label = 'Asset', ...props }: SelectProps) {
  const { data: assets = [] } = useAssets();
  return (
    <Select
      label={label}
      data={assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) }))}
      allowDeselect={false}
      {...props}
    />
  );
}
